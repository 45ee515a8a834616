/* SPDX-License-Identifier: MIT */
/* test_timer.c - sched/timer: never early, all of them, and nothing left over */
#include "threads.h"

#include "heap.h"
#include "lockfree/atomic.h"
#include "sched/stuck.h"
#include "sched/timer.h"

#define SLEEPERS	3000
#define EARLY_ENDS	100000
#define AT_ONCE		10000		/* a million at scale 100 */
#define MOST		1000000
#define HOUR		INT64_C(3600000000000)

struct sleeper {
	int64_t deadline;
	_Atomic size_t *up;
};

static void *sleep_until(void *arg)
{
	struct sleeper *s = arg;

	must(weft_sleep_until(s->deadline) == 0);
	must(weft_clock() >= s->deadline);
	fetch_add_relaxed(s->up, 1);
	return arg;
}

/* Deadlines from some milliseconds ago to some hundred ahead, in any order. */
static void sleepers_wake_all_and_none_early(void)
{
	size_t count = test_scaled(SLEEPERS);
	struct sleeper *s = calloc(count, sizeof(*s));
	uint64_t *id = calloc(count, sizeof(*id)), random = test_seed(0);
	_Atomic size_t up = 0;

	CU_ASSERT_FATAL(s && id);
	runtime_begin();
	for (size_t i = 0; i < count; i++) {
		s[i] = (struct sleeper){
			.up = &up, .deadline = weft_clock() - 5000000 +
			(int64_t)test_random_below(&random, 300000000),
		};
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, sleep_until, &s[i]);
	}
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_PTR_EQUAL(join(id[i]), &s[i]);
	CU_ASSERT_EQUAL(load_relaxed(&up), count);
	runtime_end();
	free(id);
	free(s);
}

/* The runtime's clock, which a case may set forward. */
static _Atomic int64_t ahead;

int64_t __real_wefti_os_now_ns(void);
int64_t __wrap_wefti_os_now_ns(void);

int64_t __wrap_wefti_os_now_ns(void)
{
	return __real_wefti_os_now_ns() + load_seq_cst(&ahead);
}

/* The monitor stands in for no server of timers that has lost its CPU. */
static _Atomic int server_alone;

unsigned __real_wefti_stuck_find(int64_t now);
unsigned __wrap_wefti_stuck_find(int64_t now);

unsigned __wrap_wefti_stuck_find(int64_t now)
{
	return load_seq_cst(&server_alone) ? 0 : __real_wefti_stuck_find(now);
}

struct order {
	size_t woken;
	int64_t deadline[100];
};

struct member {
	struct order *order;
	int64_t deadline;
};

static void *sign(void *arg)
{
	struct member *m = arg;

	must(weft_sleep_until(m->deadline) == 0);
	m->order->deadline[m->order->woken++] = m->deadline;
	return NULL;
}

/* All timers are in the heap when the thread is parked and no server is at work. */
static void await_armed(const uint64_t *id, size_t count)
{
	for (size_t i = 0; i < count; i++)
		while (!is_parked(id[i]))
			rest();
	while (wefti_timers_session(wefti_vcpu_at(0)))
		rest();
}

/*
 * One VCPU, which no thread loses, and a clock that stands before all deadlines until
 * they are in the heap. The threads are woken by deadline, not in the order in which they
 * went to sleep. The stand-in for a server that has lost its CPU is left out: it goes by
 * the threads' slots.
 */
static void wake_in_order(const char *sched)
{
	static const struct weft_options alone = { .vcpus = 1, .slice_ns = -1 };
	struct order order = { .woken = 0 };
	struct member m[100];
	uint64_t id[100], random = test_seed(1);
	int64_t from;

	setenv("WEFT_SCHED", sched, 1);
	setenv("WEFT_SPARE_MAX", "0", 1);
	store_seq_cst(&server_alone, 1);
	CU_ASSERT_EQUAL_FATAL(weft_start(&alone), 0);
	from = weft_clock() + HOUR;
	for (size_t i = 0; i < 100; i++) {
		m[i] = (struct member){ &order, from + (int64_t)
			test_random_below(&random, 1000000) };
		id[i] = spawn(sign, &m[i]);
	}
	await_armed(id, 100);
	CU_ASSERT_EQUAL(order.woken, 0);
	store_seq_cst(&ahead, 2 * HOUR);
	for (size_t i = 0; i < 100; i++)
		join(id[i]);
	CU_ASSERT_EQUAL(order.woken, 100);
	for (size_t i = 1; i < order.woken; i++)
		CU_ASSERT_TRUE(order.deadline[i - 1] <= order.deadline[i]);
	runtime_end();
	store_seq_cst(&ahead, 0);
	store_seq_cst(&server_alone, 0);
	unsetenv("WEFT_SPARE_MAX");
	unsetenv("WEFT_SCHED");
}

static void those_due_together_wake_in_order_of_their_deadlines(void)
{
	wake_in_order("steal");
	wake_in_order("shared");
}

static void *yield_once(void *arg)
{
	weft_yield();
	return arg;
}

/*
 * Waits with a far deadline that end long before it, again and again. For light
 * threads only: the TLS of others has a table by malloc, and as many of them as
 * a VCPU's pool holds may go from one VCPU to another at any time.
 */
static void timed_waits_that_end_early_leave_nothing(void)
{
	size_t count = test_scaled(EARLY_ENDS), heap = 0;
	int64_t far;

	runtime_begin();
	far = weft_clock() + HOUR;
	for (size_t i = 0; i < count; i++) {
		uint64_t id = spawn_with(WEFT_LIGHT, yield_once, NULL);

		CU_ASSERT_EQUAL_FATAL(weft_join_until(id, NULL, far + (int64_t)i),
				      0);
		if (i == count / 10)
			heap = heap_in_use();
	}
	CU_ASSERT_TRUE(heap_in_use() <= heap + 65536);
	runtime_end();
}

static void *hold_timer(void *arg)
{
	return (void *)(intptr_t)weft_sleep((int64_t)(intptr_t)arg);
}

/* Armed on one VCPU, ended by a cancel from another, armed again elsewhere. */
static void timers_that_are_cancelled_and_armed_again_stay_right(void)
{
	size_t rounds = test_scaled(50);
	uint64_t id[100];

	runtime_begin();
	for (size_t r = 0; r < rounds; r++) {
		for (uintptr_t i = 0; i < 100; i++)
			id[i] = spawn_with((unsigned)i & WEFT_LIGHT, hold_timer,
				(void *)(i % 3 ? HOUR : INT64_C(100000)));
		for (size_t i = 0; i < 100; i++)
			if (i % 3)
				CU_ASSERT_EQUAL(weft_cancel(id[i]), 0);
		for (size_t i = 0; i < 100; i++)
			CU_ASSERT_EQUAL((intptr_t)join(id[i]),
					i % 3 ? -ECANCELED : 0);
	}
	runtime_end();
}

/* A quarter comes up while the others are cancelled, far apart in the heap. */
static void as_many_timers_as_threads_come_up_or_are_cancelled(void)
{
	size_t count = test_threads(test_scaled(AT_ONCE));
	const struct weft_attr attr = {
		.stack_bytes = 16384, .flags = WEFT_LIGHT,
	};
	uint64_t *id, random = test_seed(1);

	if (count > MOST)
		count = MOST;
	id = calloc(count, sizeof(*id));
	CU_ASSERT_PTR_NOT_NULL_FATAL(id);
	runtime_begin();
	for (size_t i = 0; i < count; i++) {
		int64_t ns = (int64_t)test_random_below(&random, 300000000);

		if (i % 4)
			ns += HOUR;
		CU_ASSERT_EQUAL_FATAL(weft_spawn(&id[i], &attr, hold_timer,
						 (void *)(intptr_t)ns), 0);
	}
	for (size_t part = 0; part < 16; part++)
		for (size_t i = part; i < count; i += 16)
			if (i % 4)
				CU_ASSERT_EQUAL_FATAL(weft_cancel(id[i]), 0);
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_EQUAL_FATAL((intptr_t)join(id[i]),
				      i % 4 ? -ECANCELED : 0);
	runtime_end();
	free(id);
}

static const struct test_case cases[] = {
	TEST(sleepers_wake_all_and_none_early),
	TEST(those_due_together_wake_in_order_of_their_deadlines),
	TEST(timed_waits_that_end_early_leave_nothing),
	TEST(timers_that_are_cancelled_and_armed_again_stay_right),
	TEST(as_many_timers_as_threads_come_up_or_are_cancelled),
};

TEST_MAIN("sched/timer", cases)
