/* SPDX-License-Identifier: MIT */
/*
 * test_cycle.c - observe/cycle: cycles are found while others run, and none that is not
 *
 * First with structs that no VCPU runs, then with threads. A kernel thread of the test's
 * own looks at threads that take locks in one order, so that there is never a cycle.
 */
#include "observe/cycle.h"

#include <pthread.h>

#include "sync/mutex.h"
#include "thread/bare.h"
#include "thread/wait.h"
#include "threads.h"

#define MANY	5

static struct wefti_thread *ring[MANY];
static struct wefti_mutex mutex[MANY];
static struct wefti_cold cold[MANY];

/* Thread i waits for the mutex of thread i + 1, the last for that of the first. */
static void make_ring(int count)
{
	for (int i = 0; i < count; i++) {
		ring[i] = wefti_thread_bare(WEFTI_KIND_GREEN, &cold[i]);
		CU_ASSERT_PTR_NOT_NULL_FATAL(ring[i]);
		wefti_thread_begins(ring[i], WEFTI_JOIN_NONE);
		store_relaxed(&ring[i]->wait, WEFTI_WAIT_PARKED);
		ring[i]->why = WEFTI_WHY_MUTEX;
		store_relaxed(&ring[i]->waits_for, &mutex[(i + 1) % count]);
		store_relaxed(&mutex[i].owner, ring[i]);
	}
}

static void free_ring(int count)
{
	for (int i = 0; i < count; i++) {
		wefti_thread_turn(ring[i]);
		wefti_thread_bare_free(ring[i]);
	}
}

/* How many threads the walk over all finds a cycle from. */
static unsigned found(unsigned *edges)
{
	struct wefti_edge e[WEFTI_CYCLE_MOST];
	unsigned times = 0, steps = 0;

	for (uint32_t i = 1; i < wefti_slot_limit(); i++) {
		const unsigned n = wefti_slot_get(i) ?
				   wefti_cycle_from(wefti_slot_get(i), e, &steps) : 0;

		times += n > 0;
		*edges = n ? n : *edges;
	}
	return times;
}

static void each_thread_of_a_cycle_is_in_it_and_a_walk_finds_it_once(void)
{
	struct wefti_edge e[WEFTI_CYCLE_MOST];

	for (int n = 2; n <= MANY; n++) {
		unsigned edges = 0;

		make_ring(n);
		for (int i = 0; i < n; i++) {
			CU_ASSERT_EQUAL(wefti_cycle_of(ring[i], e), (unsigned)n);
			CU_ASSERT_PTR_EQUAL(e[0].from, ring[i]);
			CU_ASSERT_PTR_EQUAL(e[n - 1].to, ring[i]);
		}
		CU_ASSERT_EQUAL(found(&edges), 1);
		CU_ASSERT_EQUAL(edges, (unsigned)n);
		free_ring(n);
	}
}

static void one_wait_that_is_none_opens_it(void)
{
	struct wefti_edge e[WEFTI_CYCLE_MOST];
	unsigned edges;

	make_ring(3);
	store_relaxed(&ring[1]->wait, WEFTI_WAIT_PARKED | WEFTI_WAIT_CLAIMED);
	CU_ASSERT_EQUAL(found(&edges), 0);		/* it is about to be woken */
	store_relaxed(&ring[1]->wait, WEFTI_WAIT_ARMED);
	CU_ASSERT_EQUAL(found(&edges), 0);		/* it does not wait yet */
	store_relaxed(&ring[1]->wait, WEFTI_WAIT_PARKED);
	ring[1]->why = WEFTI_WHY_SEM;
	CU_ASSERT_EQUAL(found(&edges), 0);		/* which has no owner */
	ring[1]->why = WEFTI_WHY_MUTEX;
	store_relaxed(&mutex[2].owner, NULL);
	CU_ASSERT_EQUAL(found(&edges), 0);
	store_relaxed(&mutex[2].owner, ring[1]);
	CU_ASSERT_EQUAL(found(&edges), 0);		/* it has just been given that */
	store_relaxed(&mutex[2].owner, (struct wefti_thread *)(void *)mutex);
	CU_ASSERT_EQUAL(found(&edges), 0);		/* which is no thread */
	store_relaxed(&mutex[2].owner, ring[2]);
	CU_ASSERT_EQUAL(found(&edges), 1);
	CU_ASSERT_EQUAL(wefti_cycle_of(ring[0], e), 3);
	CU_ASSERT_FALSE(wefti_cycle_is_timed(e, 3));
	store_relaxed(&ring[1]->wait, WEFTI_WAIT_PARKED | WEFTI_WAIT_TIMED);
	CU_ASSERT_EQUAL(wefti_cycle_of(ring[0], e), 3);
	CU_ASSERT_TRUE(wefti_cycle_is_timed(e, 3));
	free_ring(3);
}

/* --- threads -------------------------------------------------------- */

#define WORKERS	6
#define LOCKS	4

static struct weft_mutex lock[LOCKS];
static struct weft_rwlock rwlock;
static _Atomic int ends;

/* In the order of their numbers, the rwlock last. */
static void take_some(uint64_t *random)
{
	const unsigned first = (unsigned)test_random_below(random, LOCKS);
	const unsigned second = (unsigned)test_random_below(random, LOCKS);

	must(weft_mutex_lock(&lock[first]) == 0);
	if (second > first)
		must(weft_mutex_lock(&lock[second]) == 0);
	(void)weft_yield();
	must((first & 1 ? weft_rwlock_read(&rwlock) : weft_rwlock_write(&rwlock)) == 0);
	(void)weft_yield();
	must(weft_rwlock_unlock(&rwlock) == 0);
	if (second > first)
		must(weft_mutex_unlock(&lock[second]) == 0);
	must(weft_mutex_unlock(&lock[first]) == 0);
}

static void *works(void *number)
{
	uint64_t random = test_seed((unsigned)(uintptr_t)number);

	while (!load_seq_cst(&ends))
		take_some(&random);
	return NULL;
}

struct watched {
	unsigned rounds, cycles, waits;
};

/* A kernel thread of the test's, beside the VCPUs. */
static void *watches(void *arg)
{
	struct watched *w = arg;
	struct wefti_edge e[WEFTI_CYCLE_MOST];

	for (unsigned round = 0; round < w->rounds; round++) {
		unsigned edges;

		w->cycles += found(&edges);
		for (uint32_t i = 1; i < wefti_slot_limit(); i++) {
			struct wefti_view view;

			wefti_view_slot(i, &view);
			w->waits += view.state != WEFTI_VIEW_NONE &&
				    wefti_edge_of(&view, e);
			w->cycles += wefti_cycle_of(wefti_slot_get(i), e) > 0;
		}
	}
	store_seq_cst(&ends, 1);
	return NULL;
}

static void locks_in_one_order_never_look_like_a_cycle(void)
{
	static const uint32_t policies[] = { 0, WEFT_MUTEX_STRICT };
	uint64_t id[WORKERS];

	CU_ASSERT_EQUAL_FATAL(weft_start(NULL), 0);
	for (unsigned p = 0; p < 2; p++) {
		struct watched w = { .rounds = (unsigned)test_scaled(3000) };
		pthread_t watcher;

		store_seq_cst(&ends, 0);
		for (unsigned i = 0; i < LOCKS; i++)
			must(weft_mutex_init(&lock[i], policies[p]) == 0);
		for (uintptr_t i = 0; i < WORKERS; i++)
			CU_ASSERT_EQUAL_FATAL(weft_spawn(&id[i], NULL, works, (void *)i), 0);
		CU_ASSERT_EQUAL_FATAL(pthread_create(&watcher, NULL, watches, &w), 0);
		for (unsigned i = 0; i < WORKERS; i++)
			CU_ASSERT_EQUAL(weft_join(id[i], NULL), 0);
		pthread_join(watcher, NULL);
		CU_ASSERT_EQUAL(w.cycles, 0);
		CU_ASSERT_TRUE(w.waits > 0);
	}
	CU_ASSERT_EQUAL(weft_stop(), 0);
}

static const struct test_case cases[] = {
	TEST(each_thread_of_a_cycle_is_in_it_and_a_walk_finds_it_once),
	TEST(one_wait_that_is_none_opens_it),
	TEST(locks_in_one_order_never_look_like_a_cycle),
};

TEST_MAIN("observe/cycle", cases)
