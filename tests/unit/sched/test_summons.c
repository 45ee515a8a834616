/* SPDX-License-Identifier: MIT */
/*
 * test_summons.c - sched/summons: however many summon a thread, it comes once
 *
 * A thread that is stopped between two steps of a summons:
 * tests/stall/test_stall_chan.c (the calls that close) and
 * test_stall_rendezvous.c.
 */
#include "sched/summons.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sched/park.h"
#include "thread/bare.h"
#include "threads.h"

#define WAITERS		20
#define FOREIGN		2		/* of them */
#define EPISODES	2000
#define SUMMONERS	3

static int no_memory;

struct wefti_thread *__real_wefti_thread_bare(enum wefti_kind kind,
					      struct wefti_cold *cold);
struct wefti_thread *__wrap_wefti_thread_bare(enum wefti_kind kind,
					      struct wefti_cold *cold);

struct wefti_thread *__wrap_wefti_thread_bare(enum wefti_kind kind,
					      struct wefti_cold *cold)
{
	return no_memory ? NULL : __real_wefti_thread_bare(kind, cold);
}

/* One that waits again and again, until `left` is 0. */
struct waiter {
	uint64_t id;
	unsigned left;
	_Atomic uint64_t ticket;	/* of its wait; 0: not yet */
	_Atomic unsigned woken;
};

static struct waiter waiter[WAITERS];
static _Atomic unsigned waiting;	/* how many go on */

static enum wefti_cause wait_once(struct waiter *w, uint64_t flags,
				  int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	enum wefti_cause cause;

	if (self->kind == WEFTI_KIND_FOREIGN)
		flags |= WEFTI_WAIT_FOREIGN;
	store_seq_cst(&w->ticket,
		      wefti_ticket(self, wefti_park_begin(self, flags,
						WEFTI_WHY_SLEEP, NULL)));
	cause = wefti_park(self, deadline);
	wefti_leave(self);
	return cause;
}

static void *waits(void *arg)
{
	struct waiter *w = arg;

	for (; w->left > 0; w->left--) {
		must(wait_once(w, 0, WEFT_FOREVER) == WEFTI_CAUSE_WOKEN);
		fetch_add_seq_cst(&w->woken, 1);
	}
	fetch_sub_seq_cst(&waiting, 1);
	return NULL;
}

static void summon(uint64_t ticket)
{
	struct wefti_thread *self = wefti_enter();

	wefti_summon(ticket);
	wefti_leave(self);
}

/* Each ticket that it sees, also such as others have summoned, or are over. */
static void *summons_all(void *arg)
{
	while (load_seq_cst(&waiting) > 0) {
		for (unsigned i = 0; i < WAITERS; i++) {
			uint64_t ticket = load_seq_cst(&waiter[i].ticket);

			if (ticket)
				summon(ticket);
		}
		weft_yield();
	}
	return arg;
}

/* One VCPU, which no thread loses: nobody answers before the caller lets them. */
static void alone_begin(void)
{
	const struct weft_options options = { .vcpus = 1, .slice_ns = -1 };

	setenv("WEFT_SPARE_MAX", "0", 1);
	CU_ASSERT_EQUAL_FATAL(weft_start(&options), 0);
}

static void alone_end(void)
{
	runtime_end();
	unsetenv("WEFT_SPARE_MAX");
}

static void begin(unsigned i, unsigned episodes)
{
	waiter[i].left = episodes;
	store_seq_cst(&waiter[i].ticket, (uint64_t)0);
	store_seq_cst(&waiter[i].woken, 0);
}

static void each_wait_ends_once_whoever_comes(void)
{
	unsigned episodes = (unsigned)test_scaled(EPISODES);
	uint64_t summoner[SUMMONERS];
	pthread_t kernel_thread[FOREIGN];

	runtime_begin();
	store_seq_cst(&waiting, WAITERS);
	for (unsigned i = 0; i < WAITERS; i++) {
		begin(i, episodes);
		if (i >= FOREIGN)
			waiter[i].id = spawn_with(i % 2 ? WEFT_LIGHT : 0,
						  waits, &waiter[i]);
	}
	for (unsigned i = 0; i < FOREIGN; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&kernel_thread[i], NULL,
						     waits, &waiter[i]), 0);
	for (unsigned i = 0; i < SUMMONERS; i++)
		summoner[i] = spawn(summons_all, NULL);
	for (unsigned i = 0; i < SUMMONERS; i++)
		join(summoner[i]);
	for (unsigned i = 0; i < WAITERS; i++) {
		if (i < FOREIGN)
			pthread_join(kernel_thread[i], NULL);
		else
			join(waiter[i].id);
		CU_ASSERT_EQUAL(load_seq_cst(&waiter[i].woken), episodes);
	}
	runtime_end();
}

/* A thread of this runtime parks: the only VCPU is main's. */
static struct wefti_thread *park_one(uint64_t flags_of_life)
{
	begin(0, 1);
	store_seq_cst(&waiting, 1);
	waiter[0].id = spawn_with((unsigned)flags_of_life, waits, &waiter[0]);
	while (!load_seq_cst(&waiter[0].ticket))
		weft_yield();
	return wefti_ticket_thread(load_seq_cst(&waiter[0].ticket));
}

static void a_summoned_thread_is_nobody_elses(void)
{
	struct wefti_thread *t, *self;
	uint64_t ticket;

	alone_begin();
	t = park_one(0);
	self = wefti_enter();
	ticket = load_seq_cst(&waiter[0].ticket);
	CU_ASSERT_TRUE(wefti_wait_is_open(t, ticket));
	wefti_summon(ticket);
	CU_ASSERT_EQUAL(load_seq_cst(&waiter[0].woken), 0);
	CU_ASSERT_FALSE(wefti_wait_is_open(t, ticket));
	CU_ASSERT_FALSE(wefti_wait_claim(t, ticket));
	CU_ASSERT_FALSE(wefti_wait_summon(t, ticket));
	CU_ASSERT_EQUAL(wefti_wait_resolve(t, ticket, WEFTI_CAUSE_TIMEDOUT),
			WEFTI_LOST);
	CU_ASSERT_EQUAL(wefti_wait_resolve(t, ticket, WEFTI_CAUSE_CANCELLED),
			WEFTI_LOST);
	wefti_leave(self);
	join(waiter[0].id);
	CU_ASSERT_EQUAL(load_seq_cst(&waiter[0].woken), 1);
	summon(ticket);		/* of nobody any more */
	weft_yield();
	alone_end();
}

static void a_thread_that_is_claimed_first_is_not_summoned(void)
{
	struct wefti_thread *t, *self;
	uint64_t ticket;

	alone_begin();
	t = park_one(WEFT_LIGHT);
	self = wefti_enter();
	ticket = load_seq_cst(&waiter[0].ticket);
	CU_ASSERT_TRUE(wefti_wait_claim(t, ticket));
	wefti_summon(ticket);
	CU_ASSERT_TRUE(load_seq_cst(&t->wait) & WEFTI_WAIT_CLAIMED);
	CU_ASSERT_FALSE(load_seq_cst(&t->wait) & WEFTI_WAIT_SUMMONED);
	wefti_leave(self);
	for (int i = 0; i < 3; i++)	/* the summons is answered: by nobody */
		weft_yield();
	CU_ASSERT_EQUAL(load_seq_cst(&waiter[0].woken), 0);
	self = wefti_enter();
	CU_ASSERT_TRUE(wefti_wait_finish(t, WEFTI_CAUSE_WOKEN));
	wefti_ready(t);
	wefti_leave(self);
	join(waiter[0].id);
	alone_end();
}

static void a_thread_that_is_still_on_its_stack_does_not_park(void)
{
	struct wefti_thread *self;
	uint64_t ticket;

	alone_begin();
	self = wefti_enter();
	ticket = wefti_ticket(self, wefti_park_begin(self, 0, WEFTI_WHY_SLEEP,
						     NULL));
	wefti_summon(ticket);
	CU_ASSERT_TRUE(wefti_fifo_is_empty(&wefti_rt.inject));
	CU_ASSERT_EQUAL(wefti_park(self, INT64_MAX), WEFTI_CAUSE_WOKEN);
	wefti_leave(self);
	alone_end();
}

static void without_memory_it_comes_all_the_same(void)
{
	alone_begin();
	(void)park_one(0);
	no_memory = 1;
	summon(load_seq_cst(&waiter[0].ticket));
	no_memory = 0;
	CU_ASSERT_TRUE(wefti_fifo_is_empty(&wefti_rt.inject));
	join(waiter[0].id);
	CU_ASSERT_EQUAL(load_seq_cst(&waiter[0].woken), 1);
	alone_end();
}

/* Foreign threads need no VCPU. The first summoner has only set the mark. */
static void a_foreign_thread_is_woken_by_the_next_that_comes(void)
{
	pthread_t thread;
	uint64_t ticket;
	struct wefti_thread *t;

	begin(0, 1);
	store_seq_cst(&waiting, 1);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, waits, &waiter[0]),
			      0);
	while (!(ticket = load_seq_cst(&waiter[0].ticket)))
		sched_yield();
	t = wefti_ticket_thread(ticket);
	while (!wefti_wait_is_parked(t))
		sched_yield();
	CU_ASSERT_TRUE(wefti_wait_summon(t, ticket));
	summon(ticket);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(load_seq_cst(&waiter[0].woken), 1);
}

static void the_child_of_a_fork_drops_what_nobody_answers(void)
{
	int status;
	pid_t pid;

	alone_begin();
	(void)park_one(0);
	summon(load_seq_cst(&waiter[0].ticket));
	CU_ASSERT_FALSE(wefti_fifo_is_empty(&wefti_rt.inject));
	pid = fork();
	CU_ASSERT_FATAL(pid >= 0);
	if (pid == 0) {
		must(wefti_fifo_is_empty(&wefti_rt.inject));
		_exit(0);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
	join(waiter[0].id);
	alone_end();
}

static const struct test_case cases[] = {
	TEST(each_wait_ends_once_whoever_comes),
	TEST(a_summoned_thread_is_nobody_elses),
	TEST(a_thread_that_is_claimed_first_is_not_summoned),
	TEST(a_thread_that_is_still_on_its_stack_does_not_park),
	TEST(without_memory_it_comes_all_the_same),
	TEST(a_foreign_thread_is_woken_by_the_next_that_comes),
	TEST(the_child_of_a_fork_drops_what_nobody_answers),
};

TEST_MAIN("sched/summons", cases)
