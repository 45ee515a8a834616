/* SPDX-License-Identifier: MIT */
/* test_green.c - the public structures, used by green threads of both kinds */
#include "threads.h"

#include <stdlib.h>
#include <string.h>

#include "lockfree/atomic.h"

#define PAIRS	32		/* a thread with TLS and a light one */
#define CREW	(2 * PAIRS)
#define HELD	5
#define WORDS	8

/* Short slices: some are preempted in the middle of what they do. */
static const struct weft_options slices = { .slice_ns = 1000000 };

static void run_crew(void *(*fn)(void *))
{
	uint64_t id[CREW];

	CU_ASSERT_EQUAL_FATAL(weft_start(&slices), 0);
	for (uintptr_t i = 0; i < CREW; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, fn, (void *)(i + 1));
	for (int i = 0; i < CREW; i++)
		join(id[i]);
	runtime_end();
}

/* --- slab ---------------------------------------------------------- */

static struct weft_slab *slab;

static void mark(uint64_t *object, uint64_t owner)
{
	for (int i = 0; i < WORDS; i++)
		object[i] = owner;
}

static void look(const uint64_t *object, uint64_t owner)
{
	for (int i = 0; i < WORDS; i++)
		must(object[i] == owner);
}

static void *take_and_give(void *arg)
{
	uint64_t me = (uintptr_t)arg, *object[HELD];
	uint64_t random = test_seed(me);
	int error = 0;

	for (size_t n = test_scaled(1000); n > 0; n--) {
		for (int i = 0; i < HELD; i++) {
			object[i] = weft_slab_alloc(slab, &error);
			must(object[i] != NULL);
			mark(object[i], me);
			if (test_random_below(&random, 8) == 0)
				weft_yield();
		}
		for (int i = 0; i < HELD; i++) {
			look(object[i], me);
			must(weft_slab_free(slab, object[i]) == 0);
		}
	}
	return NULL;
}

/*
 * Threads with TLS have magazines of their own, and give them back when they
 * end; light ones use those of the kernel threads.
 */
static void objects_of_a_slab_have_one_owner(void)
{
	struct weft_slab_attr attr = {
		.limit = CREW * HELD, .object_bytes = 8 * WORDS, .threads = 4 * CREW,
	};
	struct weft_slab_info info;

	CU_ASSERT_EQUAL_FATAL(weft_slab_create(&slab, &attr), 0);
	run_crew(take_and_give);
	weft_slab_info(slab, &info);
	CU_ASSERT_EQUAL(info.live, 0);
	if (own_tls_at_start())
		CU_ASSERT_TRUE(info.threads < PAIRS);
	weft_slab_close(slab);
}

/* --- ring and one-to-one ring -------------------------------------- */

#define PLACES	16

static struct weft_ring *ring;
static struct weft_spsc *spsc;
static _Atomic uint64_t sent, received;

/* Half of the crew send; each receiver gets a share of all that comes. */
static void *through_the_ring(void *arg)
{
	uintptr_t me = (uintptr_t)arg;
	size_t n = test_scaled(1000);
	int sends = me % 4 < 2;

	while (n > 0) {
		uint64_t e = me * 1000000 + n;

		if ((sends ? weft_ring_push(ring, e) :
			     weft_ring_pop(ring, &e)) != 0) {
			rest();
			continue;
		}
		(void)fetch_add_relaxed(sends ? &sent : &received, e);
		n--;
	}
	return NULL;
}

static void what_goes_into_a_ring_comes_out(void)
{
	size_t bytes = weft_ring_bytes(PLACES);
	void *memory = aligned_alloc(WEFT_RING_ALIGN, bytes);
	uint64_t e;

	CU_ASSERT_EQUAL_FATAL(weft_ring_init(&ring, memory, bytes, PLACES), 0);
	store_relaxed(&sent, (uint64_t)0);
	store_relaxed(&received, (uint64_t)0);
	run_crew(through_the_ring);
	CU_ASSERT_EQUAL(load_relaxed(&sent), load_relaxed(&received));
	CU_ASSERT_EQUAL(weft_ring_pop(ring, &e), -EAGAIN);
	free(memory);
}

static void *through_the_spsc(void *arg)
{
	uint64_t n = test_scaled(5000);
	int sends = (uintptr_t)arg == 0;

	for (uint64_t i = 1; i <= n; i++) {
		uint64_t e = i;

		while ((sends ? weft_spsc_push(spsc, &e) :
				weft_spsc_pop(spsc, &e)) != 0)
			rest();
		must(e == i);
	}
	return NULL;
}

static void a_one_to_one_ring_keeps_the_order(void)
{
	size_t bytes = weft_spsc_bytes(PLACES, sizeof(uint64_t));
	void *memory = aligned_alloc(WEFT_SPSC_ALIGN, bytes);
	uint64_t id[2];

	CU_ASSERT_EQUAL_FATAL(weft_spsc_init(&spsc, memory, bytes, PLACES,
					     sizeof(uint64_t)), 0);
	CU_ASSERT_EQUAL_FATAL(weft_start(&slices), 0);
	for (uintptr_t i = 0; i < 2; i++)
		id[i] = spawn_with(i ? WEFT_LIGHT : 0, through_the_spsc,
				   (void *)i);
	join(id[0]);
	join(id[1]);
	runtime_end();
	free(memory);
}

/* --- stacks -------------------------------------------------------- */

#define NODES	(CREW / 2)

static struct weft_stack stack = WEFT_STACK_INIT;
static struct {
	struct weft_stack_node link;
	_Atomic uintptr_t owner;
} node[NODES];

static void *borrow(void *arg)
{
	uintptr_t me = (uintptr_t)arg;

	for (size_t n = test_scaled(1000); n > 0;) {
		struct weft_stack_node *got = weft_stack_pop(&stack);
		size_t i = (size_t)((char *)got - (char *)node) /
			   sizeof(node[0]);

		if (!got) {
			rest();
			continue;
		}
		must(load_relaxed(&node[i].owner) == 0);
		store_relaxed(&node[i].owner, me);
		if (n % 8 == 0)
			weft_yield();
		must(load_relaxed(&node[i].owner) == me);
		store_relaxed(&node[i].owner, (uintptr_t)0);
		weft_stack_push(&stack, got);
		n--;
	}
	return NULL;
}

static void a_node_of_a_stack_has_one_owner(void)
{
	size_t count = 0;

	for (int i = 0; i < NODES; i++)
		weft_stack_push(&stack, &node[i].link);
	run_crew(borrow);
	while (weft_stack_pop(&stack))
		count++;
	CU_ASSERT_EQUAL(count, NODES);
}

/* --- lock ---------------------------------------------------------- */

static struct weft_lock lock = WEFT_LOCK_INIT;
static uint64_t counted;

static void *count_locked(void *arg)
{
	for (size_t n = test_scaled(5000); n > 0; n--) {
		void *held = weft_preempt_off();

		weft_lock_lock(&lock);
		counted++;
		weft_lock_unlock(&lock);
		weft_preempt_on(held);
		if (n % 64 == 0)
			weft_yield();
	}
	return arg;
}

static void a_locked_section_is_one_threads(void)
{
	counted = 0;
	run_crew(count_locked);
	CU_ASSERT_EQUAL(counted, CREW * test_scaled(5000));
}

static const struct test_case cases[] = {
	TEST(objects_of_a_slab_have_one_owner),
	TEST(what_goes_into_a_ring_comes_out),
	TEST(a_one_to_one_ring_keeps_the_order),
	TEST(a_node_of_a_stack_has_one_owner),
	TEST(a_locked_section_is_one_threads),
};

TEST_MAIN("lockfree/green", cases)
