/* SPDX-License-Identifier: MIT */
/* test_steal.c - sched/steal: no thread is lost or doubled among VCPUs */
#include "threads.h"

#include "cpu.h"
#include "lockfree/atomic.h"

#define DEPTH	(test_threads(10000) == 10000 ? 14 : 8)
					/* 2^(DEPTH + 1) - 1 threads */

static _Atomic size_t leaves, nodes;

/* What a thread returns says that it ran once: the sum of its subtree. */
static void *nest(void *arg)
{
	intptr_t depth = (intptr_t)arg;
	uint64_t id[2];
	intptr_t sum = 1;

	fetch_add_relaxed(&nodes, 1);
	if (depth == 0) {
		fetch_add_relaxed(&leaves, 1);
		return (void *)sum;
	}
	for (int i = 0; i < 2; i++)
		id[i] = spawn_with(depth % 2 ? WEFT_LIGHT : 0, nest,
				   (void *)(depth - 1));
	for (int i = 0; i < 2; i++)
		sum += (intptr_t)join(id[i]);
	return (void *)sum;
}

static void run_nest(void)
{
	intptr_t all = ((intptr_t)2 << DEPTH) - 1;
	size_t times = test_scaled(3);

	for (size_t i = 0; i < times; i++) {
		store_relaxed(&leaves, 0);
		store_relaxed(&nodes, 0);
		CU_ASSERT_EQUAL((intptr_t)join(spawn(nest,
					(void *)(intptr_t)DEPTH)), all);
		CU_ASSERT_EQUAL((intptr_t)load_relaxed(&nodes), all);
		CU_ASSERT_EQUAL(load_relaxed(&leaves), (size_t)1 << DEPTH);
	}
}

static void nests_of_spawns_run_every_thread_once(void)
{
	runtime_begin();
	run_nest();
	runtime_end();
}

static void the_shared_queue_runs_every_thread_once(void)
{
	setenv("WEFT_SCHED", "shared", 1);
	runtime_begin();
	run_nest();
	runtime_end();
	unsetenv("WEFT_SCHED");
}

struct wanderer {
	_Atomic size_t *left;
	uint64_t random;
};

/* Yields, sleeps and waits at random, so that all queues see it. */
static void *wander(void *arg)
{
	struct wanderer *w = arg;

	for (int i = 0; i < 100; i++)
		switch (test_random_below(&w->random, 8)) {
		case 0:
			must(weft_sleep((int64_t)test_random_below(&w->random,
							20000)) == 0);
			break;
		case 1:
			join(spawn_with(WEFT_LIGHT, nest, NULL));
			break;
		default:
			weft_yield();
		}
	fetch_sub_relaxed(w->left, 1);
	return w;
}

static void wanderers_all_come_home(void)
{
	size_t count = test_scaled(600);	/* more than a ring holds */
	struct wanderer *w = calloc(count, sizeof(*w));
	uint64_t *id = calloc(count, sizeof(*id));
	_Atomic size_t left = count;

	CU_ASSERT_FATAL(w && id);
	runtime_begin();
	for (size_t i = 0; i < count; i++) {
		w[i] = (struct wanderer){ &left, test_seed(i) };
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, wander, &w[i]);
	}
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_PTR_EQUAL(join(id[i]), &w[i]);
	CU_ASSERT_EQUAL(load_relaxed(&left), 0);
	runtime_end();
	free(id);
	free(w);
}

/* Two VCPUs, and nobody is stopped: what runs beside a thread was stolen. */
static const struct weft_options two = { .vcpus = 2, .slice_ns = -1 };

static void spawn_a_child_that_waits_for_us(unsigned flags)
{
	_Atomic int flag = 0;
	uint64_t id = spawn_with(flags, spin_until, &flag);

	store_relaxed(&flag, 1);
	join(id);
}

static void the_parent_of_a_thread_that_computes_goes_on(void)
{
	CU_ASSERT_EQUAL_FATAL(weft_start(&two), 0);
	for (unsigned flags = 0; flags <= WEFT_LIGHT; flags++) {
		for (int i = 0; i < 10; i++)
			spawn_a_child_that_waits_for_us(flags);
		/* Also when many spawns were not worth a search. */
		for (size_t i = 0; i < test_scaled(20000); i++)
			join(spawn_with(flags, nest, NULL));
		spawn_a_child_that_waits_for_us(flags);
	}
	runtime_end();
}

struct wish {
	struct weft_sem sem;
	_Atomic int flag;
};

static void *wait_and_say_so(void *arg)
{
	struct wish *w = arg;

	must(weft_sem_wait(&w->sem) == 0);
	store_relaxed(&w->flag, 1);
	return NULL;
}

static void a_thread_that_a_computing_one_woke_runs(void)
{
	CU_ASSERT_EQUAL_FATAL(weft_start(&two), 0);
	for (unsigned flags = 0; flags <= WEFT_LIGHT; flags++) {
		struct wish w = { .flag = 0 };
		uint64_t id = spawn_with(flags, wait_and_say_so, &w);

		must(weft_sem_post(&w.sem) == 0);
		spin_until(&w.flag);
		join(id);
	}
	runtime_end();
}

static void *yield_until(void *flag)
{
	while (!load_relaxed((_Atomic int *)flag))
		weft_yield();
	return NULL;
}

/*
 * No VCPU idles: the yielding thread is alone on one, and the awaited one on
 * the other.
 */
static void a_yield_takes_a_thread_from_behind_a_computing_one(void)
{
	_Atomic int stop = 0;
	uint64_t id;

	CU_ASSERT_EQUAL_FATAL(weft_start(&two), 0);
	id = spawn(yield_until, &stop);
	for (unsigned i = 0; i < test_scaled(200); i++) {
		spawn_a_child_that_waits_for_us(i % 2 ? WEFT_LIGHT : 0);
		if (i % 4 < 2)
			weft_yield();
	}
	store_relaxed(&stop, 1);
	join(id);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(nests_of_spawns_run_every_thread_once),
	TEST(the_shared_queue_runs_every_thread_once),
	TEST(wanderers_all_come_home),
	TEST(the_parent_of_a_thread_that_computes_goes_on),
	TEST(a_thread_that_a_computing_one_woke_runs),
	TEST(a_yield_takes_a_thread_from_behind_a_computing_one),
};

TEST_MAIN("sched/steal", cases)
