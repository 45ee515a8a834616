/* SPDX-License-Identifier: MIT */
/*
 * test_nomem.c - sync: calls that have to wait, without memory to wait with
 *
 * A thread whose node is in another queue still needs a spare struct for its
 * next wait. Here there is none: the linker puts a function of ours in front of
 * the one that gives them (--wrap).
 */
#include "crowd.h"

#include "sync/node.h"
#include "thread/bare.h"

struct wefti_thread *__real_wefti_thread_bare(enum wefti_kind kind,
					      struct wefti_cold *cold);
struct wefti_thread *__wrap_wefti_thread_bare(enum wefti_kind kind,
					      struct wefti_cold *cold);

static _Atomic int refuses, refused;

struct wefti_thread *__wrap_wefti_thread_bare(enum wefti_kind kind,
					      struct wefti_cold *cold)
{
	if (!load_seq_cst(&refuses))
		return __real_wefti_thread_bare(kind, cold);
	fetch_add_seq_cst(&refused, 1);
	return NULL;
}

/* As after a time-out whose node nobody has taken out yet. */
static void begin(void)
{
	store_seq_cst(&wefti_self()->node_lent, (uint8_t)WEFTI_NODE_GONE);
	store_seq_cst(&refuses, 1);
}

static void end(void)
{
	store_seq_cst(&refuses, 0);
	store_seq_cst(&wefti_self()->node_lent, (uint8_t)WEFTI_NODE_FREE);
}

#define SAYS_ENOMEM(call)						\
	do {								\
		int before_ = load_seq_cst(&refused), said_;		\
		begin();						\
		said_ = (call);						\
		end();							\
		CU_ASSERT_EQUAL(said_, -ENOMEM);			\
		CU_ASSERT_EQUAL(load_seq_cst(&refused), before_ + 1);	\
	} while (0)

static struct {
	struct weft_mutex mutex;
	struct weft_cond cond;
	struct weft_sem sem;
	struct weft_rwlock rwlock;
	struct weft_barrier barrier;
	struct weft_once once;
	struct weft_sem go, held;
} s;

static int stay(void *arg)
{
	(void)arg;
	must(weft_sem_post(&s.held) == 0);
	must(weft_sem_wait(&s.go) == 0);
	return 0;
}

/* Another has all that can be had. */
static void *hold(void *arg)
{
	must(weft_mutex_lock(&s.mutex) == 0);
	must(weft_rwlock_write(&s.rwlock) == 0);
	must(weft_once(&s.once, stay, NULL) == 0);
	must(weft_rwlock_unlock(&s.rwlock) == 0);
	must(weft_mutex_unlock(&s.mutex) == 0);
	return arg;
}

static void all_say_enomem(void)
{
	int64_t later = weft_clock() + INT64_C(1000000000000);

	SAYS_ENOMEM(weft_mutex_lock(&s.mutex));
	SAYS_ENOMEM(weft_mutex_lock_until(&s.mutex, later));
	SAYS_ENOMEM(weft_rwlock_read(&s.rwlock));
	SAYS_ENOMEM(weft_rwlock_read_until(&s.rwlock, later));
	SAYS_ENOMEM(weft_rwlock_write(&s.rwlock));
	SAYS_ENOMEM(weft_rwlock_write_until(&s.rwlock, later));
	SAYS_ENOMEM(weft_once(&s.once, stay, NULL));
	SAYS_ENOMEM(weft_once_until(&s.once, stay, NULL, later));
	SAYS_ENOMEM(weft_sem_wait(&s.sem));
	SAYS_ENOMEM(weft_sem_wait_until(&s.sem, later));
	SAYS_ENOMEM(weft_barrier_wait(&s.barrier));
	SAYS_ENOMEM(weft_barrier_wait_until(&s.barrier, later));
}

/* What need not wait needs no memory. */
static void the_rest_goes_on(void)
{
	begin();
	CU_ASSERT_EQUAL(weft_mutex_try_lock(&s.mutex), -EBUSY);
	CU_ASSERT_EQUAL(weft_rwlock_try_read(&s.rwlock), -EBUSY);
	CU_ASSERT_EQUAL(weft_once_until(&s.once, stay, NULL, WEFT_NO_WAIT),
			-EAGAIN);
	CU_ASSERT_EQUAL(weft_sem_post(&s.sem), 0);
	CU_ASSERT_EQUAL(weft_sem_wait(&s.sem), 0);
	CU_ASSERT_EQUAL(weft_barrier_wait_until(&s.barrier, WEFT_NO_WAIT),
			-EAGAIN);
	CU_ASSERT_EQUAL(weft_cond_broadcast(&s.cond), 0);
	end();
}

static void each_call_that_waits_says_enomem_and_has_done_nothing(void)
{
	uint64_t id;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_barrier_init(&s.barrier, 2), 0);
	id = spawn(hold, NULL);
	CU_ASSERT_EQUAL(weft_sem_wait(&s.held), 0);
	all_say_enomem();
	the_rest_goes_on();
	CU_ASSERT_EQUAL(weft_sem_post(&s.go), 0);
	join(id);
	CU_ASSERT_EQUAL(weft_mutex_destroy(&s.mutex), 0);
	CU_ASSERT_EQUAL(weft_rwlock_destroy(&s.rwlock), 0);
	CU_ASSERT_EQUAL(weft_sem_value(&s.sem), 0);
	CU_ASSERT_EQUAL(weft_sem_destroy(&s.sem), 0);
	CU_ASSERT_EQUAL(weft_barrier_destroy(&s.barrier), 0);
	runtime_end();
}

/* The mutex is still the caller's, and was not given up meanwhile. */
static void a_cond_wait_without_memory_keeps_the_mutex(void)
{
	runtime_begin();
	CU_ASSERT_EQUAL(weft_mutex_lock(&s.mutex), 0);
	SAYS_ENOMEM(weft_cond_wait(&s.cond, &s.mutex));
	SAYS_ENOMEM(weft_cond_wait_until(&s.cond, &s.mutex,
					 weft_clock() + 1000000));
	CU_ASSERT_EQUAL(weft_cond_destroy(&s.cond), 0);
	CU_ASSERT_EQUAL(weft_mutex_unlock(&s.mutex), 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(each_call_that_waits_says_enomem_and_has_done_nothing),
	TEST(a_cond_wait_without_memory_keeps_the_mutex),
};

TEST_MAIN("sync/nomem", cases)
