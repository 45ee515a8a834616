/* SPDX-License-Identifier: MIT */
/* test_cancel.c - life/cancel: what a cancelled call returns and has done */
#include "threads.h"

#include "lockfree/atomic.h"
#include "thread/bare.h"
#include "thread/wait.h"

#define STORM	4000
#define LATER_NS	INT64_C(3600000000000)

/* A thread that says what its call returned, and when it was about to call. */
struct call {
	_Atomic uint32_t begun, go;
	uint64_t id;
	struct weft_mutex mutex;
	struct weft_cond cond;
	struct weft_sem sem;
};

static void *gated(void *arg)
{
	struct call *c = arg;

	while (!load_acquire(&c->go))
		rest();
	return NULL;
}

static void *call_sleep(void *arg)
{
	struct call *c = arg;

	store_release(&c->begun, 1);
	return (void *)(intptr_t)weft_sleep_until(WEFT_FOREVER);
}

static void *call_join(void *arg)
{
	struct call *c = arg;

	store_release(&c->begun, 1);
	return (void *)(intptr_t)weft_join(c->id, NULL);
}

static void *call_cond(void *arg)
{
	struct call *c = arg;
	intptr_t error;

	must(weft_mutex_lock(&c->mutex) == 0);
	store_release(&c->begun, 1);
	error = weft_cond_wait(&c->cond, &c->mutex);
	must(weft_mutex_unlock(&c->mutex) == 0);	/* it is ours again */
	return (void *)error;
}

static void *call_sem(void *arg)
{
	struct call *c = arg;

	store_release(&c->begun, 1);
	return (void *)(intptr_t)weft_sem_wait(&c->sem);
}

/* With deadlines that do not come. */

static void *call_join_until(void *arg)
{
	struct call *c = arg;

	store_release(&c->begun, 1);
	return (void *)(intptr_t)weft_join_until(c->id, NULL,
						 weft_clock() + LATER_NS);
}

static void *call_cond_until(void *arg)
{
	struct call *c = arg;
	intptr_t error;

	must(weft_mutex_lock(&c->mutex) == 0);
	store_release(&c->begun, 1);
	error = weft_cond_wait_until(&c->cond, &c->mutex,
				     weft_clock() + LATER_NS);
	must(weft_mutex_unlock(&c->mutex) == 0);
	return (void *)error;
}

static void *call_sem_until(void *arg)
{
	struct call *c = arg;

	store_release(&c->begun, 1);
	return (void *)(intptr_t)weft_sem_wait_until(&c->sem,
						     weft_clock() + LATER_NS);
}

typedef void *call_fn(void *arg);

static call_fn *const calls[] = {
	call_sleep, call_join, call_cond, call_sem,
	call_join_until, call_cond_until, call_sem_until,
};

#define CALLS	(sizeof(calls) / sizeof(calls[0]))

/* Every cancelled call has left its object as it was. */
static void check_effect(struct call *c)
{
	CU_ASSERT_EQUAL(weft_mutex_try_lock(&c->mutex), 0);
	CU_ASSERT_EQUAL(weft_mutex_unlock(&c->mutex), 0);
	CU_ASSERT_EQUAL(weft_cond_destroy(&c->cond), 0);
	CU_ASSERT_EQUAL(weft_sem_value(&c->sem), 0);
	CU_ASSERT_EQUAL(weft_sem_post(&c->sem), 0);
	CU_ASSERT_EQUAL(weft_sem_value(&c->sem), 1);	/* nobody waits */
	CU_ASSERT_EQUAL(weft_sem_destroy(&c->sem), 0);
	store_release(&c->go, 1);
	join(c->id);	/* it was not joined */
}

static void run_call(size_t which, unsigned flags, int pause)
{
	struct call c = { .begun = 0 };
	uint64_t id;

	c.id = spawn_with(flags, gated, &c);
	id = spawn_with(flags, calls[which], &c);
	while (!load_acquire(&c.begun))
		rest();
	for (int i = 0; i < pause; i++)
		weft_yield();
	CU_ASSERT_EQUAL(weft_cancel(id), 0);
	CU_ASSERT_EQUAL(weft_cancel(id), 0);	/* twice is once */
	CU_ASSERT_EQUAL((intptr_t)join(id), -ECANCELED);
	check_effect(&c);
}

static void a_parked_call_returns_cancelled_and_has_done_nothing(void)
{
	runtime_begin();
	for (size_t i = 0; i < CALLS; i++)
		for (unsigned flags = 0; flags <= WEFT_LIGHT; flags++)
			run_call(i, flags, 20);
	runtime_end();
}

static void a_cancel_at_any_moment_around_the_park_is_seen(void)
{
	size_t rounds = test_scaled(STORM / CALLS / 4);
	uint64_t random = test_seed(2);

	runtime_begin();
	for (size_t n = 0; n < rounds; n++)
		for (size_t i = 0; i < CALLS; i++)
			run_call(i, (unsigned)n & WEFT_LIGHT,
				 (int)test_random_below(&random, 4));
	runtime_end();
}

static void *call_after_request(void *arg)
{
	struct call *c = arg;

	store_release(&c->begun, 1);
	while (!weft_is_cancelled())
		rest();
	must(weft_sleep(1) == -ECANCELED);
	must(weft_sleep_until(1) == -ECANCELED);
	must(weft_join(c->id, NULL) == -ECANCELED);
	must(weft_mutex_lock(&c->mutex) == 0);	/* locking is not cancelled */
	must(weft_cond_wait(&c->cond, &c->mutex) == -ECANCELED);
	must(weft_mutex_unlock(&c->mutex) == 0);
	must(weft_sem_wait(&c->sem) == -ECANCELED);
	return NULL;
}

static void from_a_request_on_each_call_is_cancelled_at_once(void)
{
	struct call c = { .begun = 0 };
	uint64_t id;

	runtime_begin();
	c.id = spawn(gated, &c);
	id = spawn(call_after_request, &c);
	while (!load_acquire(&c.begun))
		rest();
	CU_ASSERT_EQUAL(weft_is_cancelled(), 0);
	CU_ASSERT_EQUAL(weft_cancel(id), 0);
	join(id);
	check_effect(&c);

	/* A thread that has ended is joined by nobody who is cancelled. */
	c = (struct call){ .begun = 0, .go = 1 };
	c.id = spawn(gated, &c);
	weft_sleep(1000000);
	id = spawn(call_after_request, &c);
	while (!load_acquire(&c.begun))
		rest();
	CU_ASSERT_EQUAL(weft_cancel(id), 0);
	join(id);
	check_effect(&c);
	runtime_end();
}

/* What says that it is not cancelled. */
struct locks {
	struct weft_mutex mutex;
	struct weft_rwlock written, read;
	struct weft_barrier barrier;
	struct weft_once once;
	struct weft_sem run;	/* posted: the once's function may end */
};

static void *lock_mutex(void *arg)
{
	struct locks *l = arg;

	must(weft_mutex_lock(&l->mutex) == 0);
	must(weft_is_cancelled());
	must(weft_mutex_unlock(&l->mutex) == 0);
	return arg;
}

static void *lock_mutex_until(void *arg)
{
	struct locks *l = arg;

	must(weft_mutex_lock_until(&l->mutex, weft_clock() + LATER_NS) == 0);
	must(weft_is_cancelled());
	must(weft_mutex_unlock(&l->mutex) == 0);
	return arg;
}

static void *lock_to_read(void *arg)
{
	struct locks *l = arg;

	must(weft_rwlock_read(&l->written) == 0);
	must(weft_is_cancelled());
	must(weft_rwlock_unlock(&l->written) == 0);
	return arg;
}

static void *lock_to_write(void *arg)
{
	struct locks *l = arg;

	must(weft_rwlock_write(&l->read) == 0);
	must(weft_is_cancelled());
	must(weft_rwlock_unlock(&l->read) == 0);
	return arg;
}

static void *wait_at_barrier(void *arg)
{
	struct locks *l = arg;

	must(weft_barrier_wait(&l->barrier) >= 0);
	must(weft_is_cancelled());
	return arg;
}

static int run_slowly(void *arg)
{
	struct locks *l = arg;

	must(weft_sem_wait(&l->run) == 0);
	return 0;
}

static void *run_once(void *arg)
{
	struct locks *l = arg;

	must(weft_once(&l->once, run_slowly, l) == 0);
	return arg;
}

static void *wait_for_once(void *arg)
{
	must(run_once(arg) == arg);
	must(weft_is_cancelled());
	return arg;
}

static void until_parked(uint64_t id)
{
	while (!is_parked(id))
		rest();
}

static call_fn *const locking[] = {
	lock_mutex, lock_mutex_until, lock_to_read, lock_to_write,
	wait_at_barrier, wait_for_once,
};

#define LOCKING	(sizeof(locking) / sizeof(locking[0]))

static void locks_barriers_and_onces_are_not_cancelled(void)
{
	struct locks l = { .mutex = WEFT_MUTEX_INIT };
	uint64_t id[LOCKING], runs;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_barrier_init(&l.barrier, 2), 0);
	CU_ASSERT_EQUAL(weft_mutex_lock(&l.mutex), 0);
	CU_ASSERT_EQUAL(weft_rwlock_write(&l.written), 0);
	CU_ASSERT_EQUAL(weft_rwlock_read(&l.read), 0);
	runs = spawn(run_once, &l);
	until_parked(runs);
	for (size_t i = 0; i < LOCKING; i++) {
		id[i] = spawn_with((unsigned)i & WEFT_LIGHT, locking[i], &l);
		until_parked(id[i]);
		CU_ASSERT_EQUAL(weft_cancel(id[i]), 0);
		CU_ASSERT_TRUE(is_parked(id[i]));
	}
	CU_ASSERT_EQUAL(weft_mutex_unlock(&l.mutex), 0);
	CU_ASSERT_EQUAL(weft_rwlock_unlock(&l.written), 0);
	CU_ASSERT_EQUAL(weft_rwlock_unlock(&l.read), 0);
	CU_ASSERT_TRUE(weft_barrier_wait(&l.barrier) >= 0);
	CU_ASSERT_EQUAL(weft_sem_post(&l.run), 0);
	join(runs);
	for (size_t i = 0; i < LOCKING; i++)
		CU_ASSERT_PTR_EQUAL(join(id[i]), &l);
	runtime_end();
}

static void *hold(void *arg)
{
	struct call *c = arg;

	weft_cancel_hold();
	weft_cancel_hold();
	store_release(&c->begun, 1);
	while (!weft_is_cancelled())
		rest();
	must(weft_sleep(1000) == 0);
	weft_cancel_release();
	must(weft_sleep(1000) == 0);
	must(weft_join(c->id, NULL) == 0);
	weft_cancel_release();
	must(weft_sleep(1000) == -ECANCELED);
	weft_cancel_hold();
	must(weft_sleep(1000) == 0);
	weft_cancel_release();
	must(weft_sleep(1000) == -ECANCELED);
	weft_cancel_release();	/* without a hold: nothing */
	must(weft_sleep(1000) == -ECANCELED);
	return NULL;
}

static void what_is_held_is_not_cancelled(void)
{
	struct call c = { .begun = 0, .go = 0 };
	uint64_t id;

	runtime_begin();
	c.id = spawn(gated, &c);
	id = spawn(hold, &c);
	while (!load_acquire(&c.begun))
		rest();
	CU_ASSERT_EQUAL(weft_cancel(id), 0);
	store_release(&c.go, 1);
	join(id);
	runtime_end();
}

static void *sleep_held(void *arg)
{
	struct call *c = arg;

	weft_cancel_hold();
	store_release(&c->begun, 1);
	return (void *)(intptr_t)weft_sleep(3000000);
}

static void a_cancel_does_not_end_a_park_that_is_held(void)
{
	struct call c = { .begun = 0 };
	int64_t began;
	uint64_t id;

	runtime_begin();
	began = weft_clock();
	id = spawn(sleep_held, &c);
	while (!load_acquire(&c.begun))
		rest();
	CU_ASSERT_EQUAL(weft_cancel(id), 0);
	CU_ASSERT_EQUAL((intptr_t)join(id), 0);
	CU_ASSERT_TRUE(weft_clock() - began >= 3000000);
	runtime_end();
}

static void *never_asked(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)weft_is_cancelled();
}

/* The request belongs to the thread, not to the slot it used. */
static void the_next_thread_of_a_slot_is_not_cancelled(void)
{
	runtime_begin();
	for (int i = 0; i < 100; i++) {
		uint64_t id = spawn(never_asked, NULL);

		(void)!weft_cancel(id);
		CU_ASSERT_EQUAL((intptr_t)join(id) & ~1, 0);
		CU_ASSERT_EQUAL(weft_cancel(id), -ESRCH);
		CU_ASSERT_EQUAL((intptr_t)join(spawn(never_asked, NULL)), 0);
	}
	runtime_end();
}

struct storm {
	_Atomic uint64_t id;
	_Atomic uint32_t done;
};

static void *cancel_all(void *arg)
{
	struct storm *s = arg;

	while (!load_acquire(&s->done)) {
		uint64_t id = load_acquire(&s->id);

		if (id)
			(void)!weft_cancel(id);
		rest();
	}
	return NULL;
}

static void *sleep_or_end(void *arg)
{
	return (void *)(intptr_t)weft_sleep((intptr_t)arg);
}

/* Cancels fly at threads that begin, sleep, end and are joined. */
static void a_storm_of_cancels_loses_no_thread_and_hits_no_other(void)
{
	size_t rounds = test_scaled(STORM);
	struct storm s = { 0, 0 };
	uint64_t canceller[2], random = test_seed(3);

	runtime_begin();
	for (int i = 0; i < 2; i++)
		canceller[i] = spawn(cancel_all, &s);
	for (size_t i = 0; i < rounds; i++) {
		intptr_t ns = (intptr_t)test_random_below(&random, 30000);
		uint64_t id = spawn_with((unsigned)i & WEFT_LIGHT,
					 sleep_or_end, (void *)ns);
		uint64_t other;
		intptr_t result;

		store_release(&s.id, id);
		other = spawn(sleep_or_end, (void *)(intptr_t)1000);
		result = (intptr_t)join(id);
		CU_ASSERT_TRUE_FATAL(result == 0 || result == -ECANCELED);
		CU_ASSERT_EQUAL_FATAL((intptr_t)join(other), 0);
	}
	store_release(&s.done, 1);
	for (int i = 0; i < 2; i++)
		join(canceller[i]);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(a_parked_call_returns_cancelled_and_has_done_nothing),
	TEST(a_cancel_at_any_moment_around_the_park_is_seen),
	TEST(from_a_request_on_each_call_is_cancelled_at_once),
	TEST(locks_barriers_and_onces_are_not_cancelled),
	TEST(what_is_held_is_not_cancelled),
	TEST(a_cancel_does_not_end_a_park_that_is_held),
	TEST(the_next_thread_of_a_slot_is_not_cancelled),
	TEST(a_storm_of_cancels_loses_no_thread_and_hits_no_other),
};

TEST_MAIN("life/cancel", cases)
