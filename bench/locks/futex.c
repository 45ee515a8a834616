/* SPDX-License-Identifier: MIT */
/* locks/futex.c - the futex by itself, and the mutex that papers have */
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu.h"
#include "locks/locks.h"
#include "lockfree/atomic.h"

static void futex_wait(_Atomic unsigned *word, unsigned value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic unsigned *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void futex_mutex_lock(struct futex_mutex *m, unsigned tries)
{
	unsigned is_free = 0;

	if (cas_acquire(&m->word, &is_free, 1u))
		return;
	while (tries-- > 0) {
		wefti_arch_pause();
		is_free = load_relaxed(&m->word);
		if (is_free == 0 && cas_acquire(&m->word, &is_free, 1u))
			return;
	}
	while (xchg_acquire(&m->word, 2u) != 0)
		futex_wait(&m->word, 2);
}

void futex_mutex_unlock(struct futex_mutex *m)
{
	if (xchg_release(&m->word, 0u) == 2)
		futex_wake(&m->word);
}

static double lock_rounds(struct bench_ctx *ctx, uint64_t n)
{
	static struct futex_mutex mutex;
	int64_t begin = bench_now(ctx);

	for (uint64_t i = 0; i < n; i++) {
		futex_mutex_lock(&mutex, 0);
		futex_mutex_unlock(&mutex);
	}
	return (double)(bench_now(ctx) - begin);
}

static void lock(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ns", bench_measure(ctx, 1000, lock_rounds));
}

/* The number of the thread that has the turn: 0 or 1. */
static _Alignas(128) _Atomic unsigned turn;

static void play(unsigned me, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		while (load_seq_cst(&turn) != me)
			futex_wait(&turn, !me);
		store_seq_cst(&turn, !me);
		futex_wake(&turn);
	}
}

static void *other(void *n)
{
	play(1, *(uint64_t *)n);
	return NULL;
}

static double round_trips(struct bench_ctx *ctx, uint64_t n)
{
	int64_t begin = bench_now(ctx);
	pthread_t thread;

	store_seq_cst(&turn, 0u);
	if (pthread_create(&thread, NULL, other, &n))
		bench_fail("pthread_create");
	play(0, n);
	pthread_join(thread, NULL);
	return (double)(bench_now(ctx) - begin);
}

static void round_trip(struct bench_ctx *ctx)
{
	bench_emit(ctx, "", "ns", bench_measure(ctx, 1000, round_trips));
}

static void enter(struct bench_ctx *ctx, void (*run)(struct bench_ctx *))
{
	bench_pin(ctx->vcpus);
	run(ctx);
}

static const struct bench_body bodies[] = {
	{ "lock", lock },
	{ "round-trip", round_trip },
	{ NULL, NULL },
};

const struct bench_variant bench_locks_futex = {
	.name = "futex", .bit = 8, .enter = enter, .bodies = bodies,
};
