/* SPDX-License-Identifier: MIT */
/*
 * test_soak.c - everything at once, driven by a seed, for as long as is wanted
 *
 * Threads of all kinds spawn trees, lock mutexes of both policies, and run into
 * deadlines. They are cancelled, sleep, spin until they are preempted, block in
 * the kernel, and are joined by others. Beside them foreign threads do the
 * same. Each part counts what it did, and after each round of a thousand
 * actions of everybody the counts have to agree. It all runs in one runtime,
 * and what that holds after many rounds is what it held after one, and what its
 * pools may have.
 */
#include "threads.h"

#include <pthread.h>
#include <unistd.h>

#include "cpu.h"
#include "holdings.h"
#include "life/pool.h"
#include "lockfree/atomic.h"
#include "lockfree/fifo.h"
#include "observe/dump.h"
#include "sched/sanitizer.h"

#define MUTEXES		4
#define GREEN		24
#define FOREIGN		2
#define ACTIONS		1000	/* of each, in a round; WEFT_TEST_SCALE rounds */

struct soak;

struct twig {
	struct soak *soak;
	unsigned depth;
};

struct soak {
	struct weft_mutex mutex[MUTEXES];
	uint64_t guarded[MUTEXES];	/* by the mutex */
	_Atomic uint64_t counted[MUTEXES];
	_Atomic uint64_t nodes, expected_nodes;
	_Atomic uint64_t cancelled, slept;
	int pipe[2];
	struct twig leaf;		/* of detached threads */
};

struct actor {
	struct soak *soak;
	uint64_t random;
};

static uint64_t below(struct actor *a, uint64_t limit)
{
	return test_random_below(&a->random, limit);
}

static void *grow(void *arg)
{
	const struct twig *t = arg;
	struct twig next = { t->soak, t->depth - 1 };
	uint64_t id[2];

	fetch_add_relaxed(&t->soak->nodes, 1);
	if (t->depth == 0)
		return NULL;
	for (unsigned i = 0; i < 2; i++)
		id[i] = spawn_with(i, grow, &next);
	for (int i = 0; i < 2; i++)
		join(id[i]);
	return NULL;
}

static void act_tree(struct actor *a)
{
	struct twig root = { a->soak, (unsigned)below(a, 6) };

	fetch_add_relaxed(&a->soak->expected_nodes,
			  (UINT64_C(2) << root.depth) - 1);
	join(spawn(grow, &root));
}

static void act_mutex(struct actor *a)
{
	struct soak *s = a->soak;
	size_t n = below(a, MUTEXES);
	struct weft_mutex *m = &s->mutex[n];

	switch (below(a, 3)) {
	case 0:
		must(weft_mutex_lock(m) == 0);
		break;
	case 1:
		if (weft_mutex_try_lock(m) != 0)
			return;
		break;
	default:
		if (weft_mutex_lock_until(m, weft_clock() +
				(int64_t)below(a, 200000)) != 0)
			return;
	}
	s->guarded[n]++;
	if (below(a, 4) == 0)
		weft_yield();
	must(weft_mutex_unlock(m) == 0);
	fetch_add_relaxed(&s->counted[n], 1);
}

static void *sleep_long(void *arg)
{
	struct soak *s = arg;
	int error = weft_sleep(20000000);

	if (error) {
		must(error == -ECANCELED && weft_is_cancelled());
		must(weft_sleep(1) == -ECANCELED);
		fetch_add_relaxed(&s->cancelled, 1);
	} else {
		fetch_add_relaxed(&s->slept, 1);
	}
	return arg;
}

static void act_cancel(struct actor *a)
{
	uint64_t id = spawn_with(below(a, 2) ? WEFT_LIGHT : 0, sleep_long,
				 a->soak);
	void *result = NULL;

	if (below(a, 4) != 0)
		must(weft_cancel(id) == 0);
	if (weft_join_until(id, &result, weft_clock() +
			    (int64_t)below(a, 3000000)) != 0) {
		(void)!weft_cancel(id);
		result = join(id);
	}
	must(result == a->soak);
}

/* By the clock, not by a count: a slice is a time. */
static void act_spin(struct actor *a)
{
	int64_t until = weft_clock() + (int64_t)below(a, 3000000);

	if (below(a, 8) != 0)
		return;
	while (weft_clock() < until)
		wefti_arch_pause();
}

static void *read_one(void *arg)
{
	struct soak *s = arg;
	char c;

	must(read(s->pipe[0], &c, 1) == 1);
	return arg;
}

static void act_block(struct actor *a)
{
	uint64_t id;

	if (below(a, 8) != 0)
		return;
	id = spawn_with(below(a, 2) ? WEFT_LIGHT : 0, read_one, a->soak);
	must(write(a->soak->pipe[1], "s", 1) == 1);
	must(join(id) == a->soak);
}

static void act_sleep(struct actor *a)
{
	must(weft_sleep((int64_t)below(a, 500000)) == 0);
}

static void act_detached(struct actor *a)
{
	struct weft_attr attr = { .flags = WEFT_DETACHED };

	fetch_add_relaxed(&a->soak->expected_nodes, 1);
	must(weft_spawn(NULL, &attr, grow, &a->soak->leaf) == 0);
}

static void (*const acts[])(struct actor *a) = {
	act_tree, act_mutex, act_mutex, act_mutex, act_cancel, act_spin,
	act_block, act_sleep, act_detached,
};

static void *act(void *arg)
{
	struct actor *a = arg;
	size_t scaled = test_scaled(ACTIONS);

	for (size_t i = 0; i < scaled && i < ACTIONS; i++)
		acts[below(a, sizeof(acts) / sizeof(acts[0]))](a);
	return arg;
}

static void play(struct soak *s, uint64_t round)
{
	struct actor actor[GREEN + FOREIGN];
	pthread_t foreign[FOREIGN];
	uint64_t id[GREEN];

	for (unsigned i = 0; i < GREEN + FOREIGN; i++)
		actor[i] = (struct actor){ s, test_seed(round << 32 | i) };
	for (unsigned i = 0; i < FOREIGN; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&foreign[i], NULL, act,
						&actor[GREEN + i]), 0);
	for (unsigned i = 0; i < GREEN; i++)
		id[i] = spawn_with(i & WEFT_LIGHT, act, &actor[i]);
	for (unsigned i = 0; i < GREEN; i++)
		CU_ASSERT_PTR_EQUAL(join(id[i]), &actor[i]);
	weft_block_begin();
	for (unsigned i = 0; i < FOREIGN; i++)
		pthread_join(foreign[i], NULL);
	weft_block_end();
}

/* All that was begun has ended, and was counted. */
static void settle(struct soak *s)
{
	while (load_relaxed(&s->nodes) < load_relaxed(&s->expected_nodes))
		rest();		/* detached ones */
	CU_ASSERT_EQUAL(load_relaxed(&s->nodes),
			load_relaxed(&s->expected_nodes));
	for (int i = 0; i < MUTEXES; i++)
		CU_ASSERT_EQUAL(s->guarded[i], load_relaxed(&s->counted[i]));
}

/*
 * What each VCPU and all together may have put by for threads to come, and what
 * libc's caches vary by. It does not depend on how long all this goes on.
 */
#define HEAP_PER_VCPU	(WEFTI_LOCAL_SLOTS * sizeof(struct wefti_fifo_node))
#define HEAP_SLACK	(1u << 20)
#define PAGES_PER_VCPU	5000
#define PAGES_SLACK	16000

static void check_growth(const struct holdings *before,
			 const struct holdings *after)
{
	printf("    heap %zu -> %zu KiB, resident %ld -> %ld pages, mappings "
	       "%zu -> %zu\n", before->heap >> 10, after->heap >> 10,
	       before->resident, after->resident, before->maps, after->maps);
	CU_ASSERT_EQUAL(after->descriptors, before->descriptors);
	if (wefti_is_sanitized)
		return;		/* they keep what was freed */
	CU_ASSERT_TRUE(after->heap <= before->heap + HEAP_SLACK +
		       weft_vcpus() * HEAP_PER_VCPU);
	CU_ASSERT_TRUE(after->resident <= before->resident + PAGES_SLACK +
		       (long)weft_vcpus() * PAGES_PER_VCPU);
}

static void play_rounds(struct soak *s)
{
	size_t rounds = test_scaled(1);
	struct holdings first = { .heap = 0 }, last;

	for (size_t i = 0; i < rounds; i++) {
		play(s, i);
		settle(s);
		if (i > 0 || rounds == 1)
			continue;
		first = holdings();
	}
	if (rounds == 1)
		return;		/* nothing to compare */
	last = holdings();
	check_growth(&first, &last);
}

static void everything_at_once_and_all_counts_agree(void)
{
	static const struct weft_options slices = { .slice_ns = 2000000 };
	struct soak s = { .nodes = 0 };

	s.leaf = (struct twig){ &s, 0 };

	CU_ASSERT_EQUAL_FATAL(pipe(s.pipe), 0);
	for (unsigned i = 0; i < MUTEXES; i++)
		CU_ASSERT_EQUAL_FATAL(weft_mutex_init(&s.mutex[i], i % 2), 0);
	CU_ASSERT_EQUAL_FATAL(weft_start(&slices), 0);
	play_rounds(&s);
	for (int i = 0; i < MUTEXES; i++)
		CU_ASSERT_EQUAL(weft_mutex_destroy(&s.mutex[i]), 0);
	while (weft_stop() == -EBUSY)
		rest();
	close(s.pipe[0]);
	close(s.pipe[1]);
}

static const struct test_case cases[] = {
	TEST(everything_at_once_and_all_counts_agree),
};

TEST_MAIN("soak", cases)
