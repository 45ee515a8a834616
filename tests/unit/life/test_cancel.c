/* SPDX-License-Identifier: MIT */
/* test_cancel.c - life/cancel: what a cancelled call returns and has done */
#include "threads.h"

#include "lockfree/atomic.h"

#define STORM	4000

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

typedef void *call_fn(void *arg);

static call_fn *const calls[] = { call_sleep, call_join, call_cond, call_sem };

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
	TEST(what_is_held_is_not_cancelled),
	TEST(a_cancel_does_not_end_a_park_that_is_held),
	TEST(the_next_thread_of_a_slot_is_not_cancelled),
	TEST(a_storm_of_cancels_loses_no_thread_and_hits_no_other),
};

TEST_MAIN("life/cancel", cases)
