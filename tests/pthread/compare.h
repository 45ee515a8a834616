/* SPDX-License-Identifier: MIT */
/*
 * compare.h - one source, run against libc's threads and against weft's
 *
 * A test program is a table of cases and a main. Each case is a program of its
 * own, which prints what it finds. It is run once as it is and once with
 * libweft-pthread.so in front. Both runs must print the same and end the same
 * way: by exit(0), unless the case declares another end. A case that dies on
 * both sides has compared nothing.
 *
 *	static const struct compare_case cases[] = {
 *		COMPARE(recursive_mutex_counts),
 *		ENDS_BY(SIGTERM, the_default_action_ends_the_process),
 *		ENDS_WITH(7, any_thread_may_end_the_process),
 *	};
 *
 *	COMPARE_MAIN(cases)
 *
 *	program CASE		runs one case, as it is; what a debugger wants
 *
 * WEFT_TEST_WATCHDOG (seconds), WEFT_TEST_ONLY, WEFT_TEST_WITHOUT and
 * WEFT_TEST_SCALE are as in support.h. WEFT_TEST_QEMU is the emulator to run the
 * cases with, both sides; the program itself is run with it by hand.
 */
#ifndef WEFT_TESTS_COMPARE_H
#define WEFT_TESTS_COMPARE_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../support/error_name.h"

struct compare_case {
	const char *name;
	void (*run)(void);
	const char *expected;	/* what it prints; NULL: what it does with libc */
	const char *beside;	/* an allocator to preload as well, on both sides */
	int ends;		/* how it ends, as waitpid() tells it; 0: by exit(0) */
};

#define COMPARE(function)	{ #function, function, NULL, NULL, 0 }

/* By a signal; by exit() with a status other than 0. */
#define ENDS_BY(signal, function)	{ #function, function, NULL, NULL, signal }
#define ENDS_WITH(status, function)	\
	{ #function, function, NULL, NULL, (status) << 8 }

/* What libc's threads cannot do; passed over where threads are libc's. */
#define WEFT_ONLY(function, expected)	{ #function, function, expected, NULL, 0 }

#ifdef __cplusplus
extern "C"
#endif
int compare_main(int argc, char **argv, const struct compare_case *cases,
		 size_t count);

#define COMPARE_MAIN(cases)						\
	int main(int argc, char **argv)					\
	{								\
		return compare_main(argc, argv, cases,			\
				    sizeof(cases) / sizeof((cases)[0]));\
	}

#define THREADS_STAY	"WEFT_TEST_THREADS_STAY"

/*
 * Are weft's threads libc's in this run? Then a WEFT_ONLY case is passed over, and so is
 * a program that looks at green threads only. That is so where it is asked for, and with
 * a libc that weft cannot give green threads: compare_main() notes that.
 */
static inline int threads_are_libcs(void)
{
	const char *tls = getenv("WEFT_TLS");

	return getenv(THREADS_STAY) || (tls && strcmp(tls, "shared") == 0);
}

/* A count times WEFT_TEST_SCALE. */
static inline long scaled(long n)
{
	const char *scale = getenv("WEFT_TEST_SCALE");
	double result = (double)n * (scale ? strtod(scale, NULL) : 1.0);

	return result < 1 ? 1 : (long)result;
}

/* Prints an error number that was returned once. */
static inline void show(const char *what, int error)
{
	printf("%s: %s\n", what, error_name(error));
}

/* The same for calls that return -1 and set errno. */
static inline void show_errno(const char *what, long result)
{
	show(what, result < 0 ? errno : 0);
}

static inline pthread_t start(void *(*fn)(void *arg), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fn, arg) != 0)
		abort();
	return thread;
}

static inline void *finish(pthread_t thread)
{
	void *result;

	if (pthread_join(thread, &result) != 0)
		abort();
	return result;
}

/* A time so many milliseconds from now. */
static inline struct timespec soon(clockid_t clock, long ms)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_nsec += ms % 1000 * 1000000;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

#endif
