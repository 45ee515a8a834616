/* SPDX-License-Identifier: MIT */
/*
 * support.h - what each test program shares: the runner, seeds, scale
 *
 * A test program is a table of cases and a main:
 *
 *	static const struct test_case cases[] = {
 *		TEST(ring_is_fifo_when_tickets_wrap),
 *		TEST(ring_refuses_a_push_when_full),
 *	};
 *
 *	TEST_MAIN("lockfree/ring", cases)
 *
 * Environment:
 *	WEFT_TEST_SEED      where random numbers start; printed at each start
 *	WEFT_TEST_SCALE     multiplies iteration counts, 0.1 or 20 for example
 *	WEFT_TEST_WATCHDOG  seconds that one case may take; 0: no watchdog
 *	WEFT_TEST_ONLY      words; run only cases with one of them in their name,
 *	                    or with that name, after a =
 *	WEFT_TEST_ALONE     set: each case is run as a program of its own
 *	WEFT_TEST_WITHOUT   words; no cases with one of them in their name
 */
#ifndef WEFT_TESTS_SUPPORT_H
#define WEFT_TESTS_SUPPORT_H

#include <CUnit/CUnit.h>
#include <stddef.h>
#include <stdint.h>

struct test_case {
	const char *name;
	void (*run)(void);
};

#define TEST(function)	{ #function, function }

/* Runs the cases in order; returns what main returns. */
int test_main(const char *suite, const struct test_case *cases, size_t count);

#define TEST_MAIN(suite, cases)						\
	int main(void)							\
	{								\
		return test_main((suite), (cases),			\
				 sizeof(cases) / sizeof((cases)[0]));	\
	}

/* To stderr: name, times, state and system call of each kernel thread. */
void test_say_kernel_threads(void);

/* count times WEFT_TEST_SCALE, at least 1. */
size_t test_scaled(size_t count);

/* Memory is a sanitizer's: malloc is not libc's, and grows by its own rules. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_IS_SANITIZED	1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_IS_SANITIZED	1
#endif
#endif

/*
 * count, but no more threads than can be alive at once here: ThreadSanitizer
 * has room for some 8,000 in all, and is slow with them.
 */
#if defined(__SANITIZE_THREAD__)
#define TEST_THREADS_MOST	1000
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEST_THREADS_MOST	1000
#endif
#endif

static inline size_t test_threads(size_t count)
{
#ifdef TEST_THREADS_MOST
	return count < TEST_THREADS_MOST ? count : TEST_THREADS_MOST;
#else
	return count;
#endif
}

/*
 * The start of a random sequence, different for each `who`, the same in each
 * run with the same WEFT_TEST_SEED. Never 0.
 */
uint64_t test_seed(uint64_t who);

/* The next number of a sequence that began with test_seed(). */
uint64_t test_random(uint64_t *state);

/* The same, from 0 to limit - 1. */
uint64_t test_random_below(uint64_t *state, uint64_t limit);

#endif
