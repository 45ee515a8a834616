/* SPDX-License-Identifier: MIT */
/*
 * preload-teams - what does a parallel region of OpenMP's cost?
 *
 * preload-teams N THREADS runs N regions by a team of THREADS. Each region is
 * some work, a barrier, as much work again, and a critical section. N / 10
 * regions run before, to warm up. It prints the nanoseconds of one region, or
 * "none" where there is no libgomp. OMP_WAIT_POLICY says whether a waiting
 * thread sleeps (PASSIVE) or spins. The functions are those that compilers
 * call, so the compiler need not have OpenMP.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORK	100	/* dependent additions and multiplications: 0.8 ns each */

static struct {
	void (*parallel)(void (*fn)(void *arg), void *arg, unsigned threads,
			 unsigned flags);
	void (*barrier)(void);
	void (*critical_start)(void);
	void (*critical_end)(void);
} gomp;

static double sum;
static unsigned threads;

static int load(void)
{
	void *library = dlopen("libgomp.so.1", RTLD_NOW);

	if (!library)
		return 0;
	*(void **)&gomp.parallel = dlsym(library, "GOMP_parallel");
	*(void **)&gomp.barrier = dlsym(library, "GOMP_barrier");
	*(void **)&gomp.critical_start = dlsym(library, "GOMP_critical_start");
	*(void **)&gomp.critical_end = dlsym(library, "GOMP_critical_end");
	return gomp.parallel && gomp.barrier && gomp.critical_start &&
	       gomp.critical_end;
}

static double work(double x)
{
	for (int i = 0; i < WORK; i++)
		x = x * 1.0000001 + 0.5;
	return x;
}

static void region(void *unused)
{
	double x = work(1);

	(void)unused;
	gomp.barrier();
	x = work(x);
	gomp.critical_start();
	sum += x;
	gomp.critical_end();
}

static void run(long count)
{
	for (long i = 0; i < count; i++)
		gomp.parallel(region, NULL, threads, 0);
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int main(int argc, char **argv)
{
	long count = argc == 3 ? atol(argv[1]) : 0;
	int64_t began;

	threads = argc == 3 ? (unsigned)atoi(argv[2]) : 0;
	if (count < 1 || threads < 1)
		return 2;
	if (!load()) {
		printf("none\n");
		return 0;
	}
	run(count / 10);
	began = now();
	run(count);
	printf("%.1f\n", (double)(now() - began) / (double)count);
	return sum <= 0;
}
