/* SPDX-License-Identifier: MIT */
/*
 * locks/table.c - what does a hash table let through, by how it is locked?
 *
 * Kernel threads look up random keys; of ten accesses one changes what it
 * finds. 4,096 keys in 256 buckets, so that a look-up walks 8 entries on the
 * average. One lock for all (after 0, 10 or 100 tries a thread sleeps), one for
 * each bucket, or a lock for readers and writers.
 */
#include <stdlib.h>
#include <weft/lock.h>

#include "crew.h"
#include "locks/locks.h"

#define BUCKETS		256u
#define KEYS		4096u
#define WRITES		10u		/* one of so many accesses */
#define BATCH		64

struct entry {
	struct entry *next;
	uint64_t key;
	uint64_t value;
};

static struct {
	alignas(64) struct entry *first;
	pthread_mutex_t mutex;
	struct weft_lock lock;
} bucket[BUCKETS];

static alignas(128) struct weft_lock one_lock;
static alignas(128) pthread_mutex_t one_mutex = PTHREAD_MUTEX_INITIALIZER;
static alignas(128) pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static struct futex_mutex one_futex;

static void make_table(void)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		pthread_mutex_init(&bucket[i].mutex, NULL);
	for (uint64_t key = 0; key < KEYS; key++) {
		struct entry *e = malloc(sizeof(*e));

		if (!e)
			bench_fail("no memory");
		*e = (struct entry){ bucket[key % BUCKETS].first, key, 0 };
		bucket[key % BUCKETS].first = e;
	}
}

static inline uint64_t use(uint64_t key, int is_write)
{
	struct entry *e = bucket[key % BUCKETS].first;

	while (e->key != key)
		e = e->next;
	if (is_write)
		e->value++;
	return e->value;
}

/* LOCK and UNLOCK see key and is_write. */
#define VARIANT(id, text, LOCK, UNLOCK)					\
	static void id##_member(struct crew_member *me)			\
	{								\
		uint64_t random = me->index + 1, sum = 0;		\
									\
		while (!crew_is_over(me)) {				\
			for (int i = 0; i < BATCH; i++) {		\
				random = random *			\
					UINT64_C(6364136223846793005) +	\
					UINT64_C(1442695040888963407);	\
									\
				uint64_t key = (random >> 33) % KEYS;	\
				int is_write =				\
					(random >> 46) % WRITES == 0;	\
									\
				(void)is_write;				\
				LOCK;					\
				sum += use(key, is_write);		\
				UNLOCK;					\
			}						\
			me->turns += BATCH;				\
		}							\
		/* So that nobody leaves the look-ups out. */		\
		me->own = (void *)(uintptr_t)sum;			\
	}								\
									\
	static void id##_run(struct bench_ctx *ctx)			\
	{								\
		measure(ctx, id##_member);				\
	}								\
									\
	static const struct bench_body id##_bodies[] = {		\
		{ "table", id##_run }, { NULL, NULL },			\
	};								\
									\
	static const struct bench_variant id##_variant = {		\
		text, 16, enter, id##_bodies,				\
	}

static void measure(struct bench_ctx *ctx, void (*member)(struct crew_member *))
{
	static struct crew crew;

	make_table();
	crew_run(&crew, ctx, ctx->threads, ctx->target_ns / 8, member);
	crew_run(&crew, ctx, ctx->threads, ctx->target_ns, member);
	bench_emit(ctx, "", "M/s", (double)crew_turns(&crew) * 1e3 / crew.ns);
}

static void enter(struct bench_ctx *ctx, void (*run)(struct bench_ctx *))
{
	bench_pin(ctx->vcpus);
	run(ctx);
}

static void read_or_write(int is_write)
{
	if (is_write)
		pthread_rwlock_wrlock(&rwlock);
	else
		pthread_rwlock_rdlock(&rwlock);
}

VARIANT(one_mutex, "one-mutex", pthread_mutex_lock(&one_mutex),
      pthread_mutex_unlock(&one_mutex));
VARIANT(one_0, "one-0", futex_mutex_lock(&one_futex, 0),
      futex_mutex_unlock(&one_futex));
VARIANT(one_10, "one-10", futex_mutex_lock(&one_futex, 10),
      futex_mutex_unlock(&one_futex));
VARIANT(one_100, "one-100", futex_mutex_lock(&one_futex, 100),
      futex_mutex_unlock(&one_futex));
VARIANT(one_weft, "one-weft", weft_lock_lock(&one_lock),
      weft_lock_unlock(&one_lock));
VARIANT(each_mutex, "each-mutex",
      pthread_mutex_lock(&bucket[key % BUCKETS].mutex),
      pthread_mutex_unlock(&bucket[key % BUCKETS].mutex));
VARIANT(each_weft, "each-weft", weft_lock_lock(&bucket[key % BUCKETS].lock),
      weft_lock_unlock(&bucket[key % BUCKETS].lock));
VARIANT(rw, "rwlock", read_or_write(is_write), pthread_rwlock_unlock(&rwlock));

const struct bench_variant *const bench_locks_tables[] = {
	&one_mutex_variant, &one_0_variant, &one_10_variant, &one_100_variant,
	&one_weft_variant, &each_mutex_variant, &each_weft_variant,
	&rw_variant, NULL,
};
