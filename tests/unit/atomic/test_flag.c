/* SPDX-License-Identifier: MIT */
/* test_flag.c - atomic/flag: flags, fences, and the exceptions of arithmetic */
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "support.h"

/* By the names in the library, which macros hide. */
_Bool flag_test_and_set(volatile void *flag) __asm__("atomic_flag_test_and_set");
void flag_clear(volatile void *flag) __asm__("atomic_flag_clear");
_Bool flag_test_and_set_explicit(volatile void *flag, int order)
	__asm__("atomic_flag_test_and_set_explicit");
void flag_clear_explicit(volatile void *flag, int order)
	__asm__("atomic_flag_clear_explicit");
void thread_fence(int order) __asm__("atomic_thread_fence");
void signal_fence(int order) __asm__("atomic_signal_fence");
void raise_exceptions(int which) __asm__("__atomic_feraiseexcept");

#define ORDERS	6		/* __ATOMIC_RELAXED .. __ATOMIC_SEQ_CST */

static void flags_are_set_once_in_every_order(void)
{
	volatile unsigned char flag = 0;

	CU_ASSERT_FALSE(flag_test_and_set(&flag));
	CU_ASSERT_TRUE(flag_test_and_set(&flag));
	flag_clear(&flag);
	for (int order = 0; order < ORDERS; order++) {
		CU_ASSERT_FALSE(flag_test_and_set_explicit(&flag, order));
		CU_ASSERT_TRUE(flag_test_and_set_explicit(&flag, order));
		CU_ASSERT_EQUAL(flag, 1);
		flag_clear_explicit(&flag, order);
		CU_ASSERT_EQUAL(flag, 0);
		thread_fence(order);
		signal_fence(order);
	}
}

/* A flag is set by any value but 0, and what is beside it is another's. */
static void a_flag_is_one_byte(void)
{
	unsigned char bytes[8], others[8];

	for (unsigned value = 1; value < 256; value += value < 4 ? 1 : 7) {
		memset(bytes, (int)value, sizeof(bytes));
		memcpy(others, bytes, sizeof(others));
		CU_ASSERT_EQUAL(flag_test_and_set(&bytes[3]), 1);
		CU_ASSERT_EQUAL(flag_test_and_set_explicit(&bytes[3], 0), 1);
		CU_ASSERT_EQUAL(bytes[3], 1);
		flag_clear(&bytes[3]);
		CU_ASSERT_EQUAL(bytes[3], 0);
		CU_ASSERT_FALSE(flag_test_and_set(&bytes[3]));
		bytes[3] = others[3];
		CU_ASSERT_EQUAL(memcmp(bytes, others, sizeof(bytes)), 0);
	}
}

static volatile unsigned char lock;
static size_t counter;

static void *count_locked(void *arg)
{
	size_t n = *(size_t *)arg;

	for (size_t i = 0; i < n; i++) {
		while (flag_test_and_set_explicit(&lock, __ATOMIC_ACQUIRE))
			sched_yield();
		counter++;
		flag_clear_explicit(&lock, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void run_two(void *(*fn)(void *), void *first, void *second)
{
	pthread_t tid;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&tid, NULL, fn, second), 0);
	fn(first);
	pthread_join(tid, NULL);
}

static void a_flag_is_a_lock(void)
{
	size_t n = test_scaled(20000);

	run_two(count_locked, &n, &n);
	CU_ASSERT_EQUAL(counter, 2 * n);
}

#define TURNS	200000

/* Each counts its own word up, and behind a fence looks at the other's. */
static struct side {
	_Alignas(256) _Atomic unsigned mine;
	unsigned saw[TURNS + 2];
} sides[2];
static atomic_int begun;

static void *count_and_look(void *arg)
{
	struct side *my = arg, *other = &sides[my == &sides[0]];

	atomic_fetch_add(&begun, 1);
	while (atomic_load(&begun) < 2)
		sched_yield();
	for (unsigned i = 1; i <= TURNS; i++) {
		atomic_store_explicit(&my->mine, i, memory_order_relaxed);
		thread_fence(__ATOMIC_SEQ_CST);
		my->saw[i] = atomic_load_explicit(&other->mine,
						  memory_order_relaxed);
	}
	my->saw[TURNS + 1] = TURNS;
	return NULL;
}

/*
 * If the other thread did not see this one's i behind its n, this one has seen
 * that n.
 */
static void behind_a_fence_one_of_two_sees_the_other(void)
{
	size_t wrong = 0;

	for (size_t round = test_scaled(10); round > 0; round--) {
		memset(sides, 0, sizeof(sides));
		atomic_store(&begun, 0);
		run_two(count_and_look, &sides[0], &sides[1]);
		for (unsigned i = 1; i <= TURNS; i++)
			wrong += sides[1].saw[sides[0].saw[i] + 1] < i;
	}
	CU_ASSERT_EQUAL(wrong, 0);
}

/* And no other, but that what overflows or underflows is inexact too. */
static void exceptions_are_raised_as_asked(void)
{
	static const int each[] = { FE_INVALID, FE_DIVBYZERO, FE_OVERFLOW,
				    FE_UNDERFLOW, FE_INEXACT };
	fenv_t before;

	CU_ASSERT_EQUAL_FATAL(fegetenv(&before), 0);
	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		int may = each[i] & (FE_OVERFLOW | FE_UNDERFLOW) ?
			  each[i] | FE_INEXACT : each[i];

		feclearexcept(FE_ALL_EXCEPT);
		raise_exceptions(each[i]);
		CU_ASSERT_EQUAL(fetestexcept(each[i]), each[i]);
		CU_ASSERT_EQUAL(fetestexcept(FE_ALL_EXCEPT) & ~may, 0);
	}
	feclearexcept(FE_ALL_EXCEPT);
	raise_exceptions(0);
	CU_ASSERT_EQUAL(fetestexcept(FE_ALL_EXCEPT), 0);
	raise_exceptions(FE_INVALID | FE_DIVBYZERO);
	CU_ASSERT_EQUAL(fetestexcept(FE_ALL_EXCEPT), FE_INVALID | FE_DIVBYZERO);
	/* What was raised before stays. */
	raise_exceptions(FE_INEXACT);
	CU_ASSERT_EQUAL(fetestexcept(FE_ALL_EXCEPT),
			FE_INVALID | FE_DIVBYZERO | FE_INEXACT);
	fesetenv(&before);
}

static const struct test_case cases[] = {
	TEST(flags_are_set_once_in_every_order),
	TEST(a_flag_is_one_byte),
	TEST(a_flag_is_a_lock),
	TEST(behind_a_fence_one_of_two_sees_the_other),
	TEST(exceptions_are_raised_as_asked),
};

TEST_MAIN("atomic/flag", cases)
