/* SPDX-License-Identifier: MIT */
/*
 * lockfree/perturb.c - delays before atomic operations, for tests
 *
 * Always built; called only by programs that are compiled with WEFT_PERTURB. It must
 * not use lockfree/atomic.h, because the operations there call it; hence the plain C11
 * below.
 *
 * With WEFT_TEST_NAP=N one operation in about N takes up to 12 ms, like that of a
 * kernel thread that has lost its CPU. The kernel thread stays runnable: if it slept in
 * the kernel, its VCPU would be given to a spare.
 */
#include "lockfree/perturb.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "cpu.h"
#include "syscall.h"

/* One in so many operations; the longest spin is some microseconds. */
#define SPIN_ONE_IN	32
#define YIELD_ONE_IN	256
#define SPIN_MAX	256
#define NAP_MAX_NS	12000000

/*
 * The random stream of this kernel thread; 0 before its first use. A signal handler
 * that comes in between repeats or skips a number, which is harmless.
 */
static _Thread_local uint64_t stream;

static atomic_uint streams_begun;

static atomic_uint nap_one_in;	/* 0: no naps; all threads store the same value */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t stream_begin(void)
{
	const char *s = getenv("WEFT_TEST_SEED"), *nap = getenv("WEFT_TEST_NAP");
	uint64_t seed = s != NULL ? strtoull(s, NULL, 0) : 1;
	unsigned n = atomic_fetch_add_explicit(&streams_begun, 1,
					       memory_order_relaxed);

	if (nap)
		atomic_store_explicit(&nap_one_in,
				      (unsigned)strtoul(nap, NULL, 0),
				      memory_order_relaxed);
	return mix(seed) + ((uint64_t)n << 40) + 1;
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Not libc's sched_yield(): under the preload library that is the green thread's. */
static void give_way(void)
{
	(void)wefti_arch_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

static void nap(int64_t ns)
{
	int64_t end = now() + ns;

	while (now() < end)
		give_way();
}

/* Not inlined anywhere: no caller may keep the address of `stream`. */
__attribute__((noinline)) void wefti_perturb(void)
{
	wefti_perturb_hook_fn *hook = atomic_load_explicit(&wefti_perturb_hook,
							   memory_order_relaxed);
	uint64_t x = stream;
	unsigned one_in;

	if (hook) {
		hook();
		return;
	}
	if (x == 0)
		x = stream_begin();
	x += UINT64_C(0x9e3779b97f4a7c15);
	stream = x;
	x = mix(x);

	one_in = atomic_load_explicit(&nap_one_in, memory_order_relaxed);
	if (one_in && (x >> 12) % one_in == 0) {
		nap((int64_t)((x >> 40) % NAP_MAX_NS));
	} else if (x % YIELD_ONE_IN == 0) {
		give_way();
	} else if (x % SPIN_ONE_IN == 1) {
		for (unsigned n = (unsigned)(x >> 32) % SPIN_MAX; n > 0; n--)
			wefti_arch_pause();
	}
}
