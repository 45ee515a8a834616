/* SPDX-License-Identifier: MIT */
/* test_ready_ring.c - lockfree/ready_ring: order, bounds, wrap, and thieves */
#include "lockfree/ready_ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#define CAP		WEFTI_RING_CAPACITY
#define THIEVES		2

/* Heads from which a lap crosses: nothing, a slot wrap, 2^32, 2^45. */
static const uint64_t start_heads[] = {
	0, 200, (UINT64_C(1) << 32) - 100, (UINT64_C(1) << 45) - 100,
};

#define START_HEADS	(sizeof(start_heads) / sizeof(start_heads[0]))

/* The ring never looks into a thread, so numbers do. */
static struct wefti_thread *item(uintptr_t n)
{
	return (struct wefti_thread *)n;
}

static uintptr_t number(struct wefti_thread *t)
{
	return (uintptr_t)t;
}

static void ring_begin(struct wefti_ring *r, uint64_t head)
{
	memset(r, 0, sizeof(*r));
	wefti_ring_init(r);
	store_relaxed(&r->word, WEFTI_RING_WORD(head, 0));
}

static void fill(struct wefti_ring *r, uintptr_t from, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		CU_ASSERT_EQUAL_FATAL(wefti_ring_push(r, item(from + i)), 0);
}

static void ring_is_empty_when_new(void)
{
	static struct wefti_ring r, mine;
	struct wefti_thread *first = item(7);

	wefti_ring_init(&r);
	wefti_ring_init(&mine);
	CU_ASSERT_EQUAL(wefti_ring_len_hint(&r), 0);
	CU_ASSERT_PTR_NULL(wefti_ring_pop(&r));
	CU_ASSERT_PTR_NULL(wefti_ring_steal_one(&r));
	CU_ASSERT_EQUAL(wefti_ring_steal(&r, &mine, &first), 0);
	CU_ASSERT_EQUAL(number(first), 7);
	CU_ASSERT_EQUAL(wefti_ring_pop_tail_if(&r, NULL), 0);
}

static void ring_is_fifo_and_bounded_when_head_wraps(void)
{
	static struct wefti_ring r;

	for (size_t s = 0; s < START_HEADS; s++) {
		ring_begin(&r, start_heads[s]);
		for (int lap = 0; lap < 3; lap++) {
			fill(&r, 1, CAP);
			CU_ASSERT_EQUAL(wefti_ring_len_hint(&r), CAP);
			CU_ASSERT_EQUAL(wefti_ring_push(&r, item(9)), -EAGAIN);
			for (uintptr_t i = 1; i <= CAP; i++)
				CU_ASSERT_EQUAL(number(wefti_ring_pop(&r)), i);
			CU_ASSERT_PTR_NULL(wefti_ring_pop(&r));
		}
	}
}

/* Arrays of 4 and 16 times CAP slots, for one ring. */
#define SIZES	2

static struct wefti_ring_array *array(unsigned k)
{
	static struct wefti_ring_array *made[SIZES];
	size_t slots = (size_t)CAP << 2 * (k + 1);

	if (!made[k]) {
		made[k] = malloc(sizeof(*made[k]) +
				 slots * sizeof(struct wefti_thread *));
		CU_ASSERT_PTR_NOT_NULL_FATAL(made[k]);
		made[k]->mask = (uint32_t)slots - 1;
	}
	return made[k];
}

/* Pushes, and lets the ring grow where it is full; *k is its next array. */
static void push_growing(struct wefti_ring *r, uintptr_t n, unsigned *k)
{
	if (wefti_ring_push(r, item(n)) == 0)
		return;
	CU_ASSERT_TRUE_FATAL(*k < SIZES);
	wefti_ring_grow(r, array((*k)++));
	CU_ASSERT_EQUAL_FATAL(wefti_ring_push(r, item(n)), 0);
}

static void ring_keeps_its_order_when_it_grows_and_shrinks(void)
{
	static struct wefti_ring r;
	const uintptr_t most = 10 * CAP;

	for (size_t s = 0; s < START_HEADS; s++) {
		uintptr_t out = 0;
		unsigned k = 0;

		ring_begin(&r, start_heads[s]);
		for (uintptr_t i = 1; i <= most; i++) {
			push_growing(&r, i, &k);
			if (i % 3 == 0)
				CU_ASSERT_EQUAL(number(wefti_ring_pop(&r)), ++out);
			if (i % 7 == 0)
				CU_ASSERT_EQUAL(number(wefti_ring_steal_one(&r)),
						++out);
		}
		CU_ASSERT_EQUAL(k, SIZES);
		CU_ASSERT_EQUAL(wefti_ring_len_hint(&r), most - out);
		while (wefti_ring_len_hint(&r) > CAP / 2) {
			wefti_ring_shrink(&r);
			CU_ASSERT_TRUE(wefti_ring_is_grown(&r));
			CU_ASSERT_EQUAL(number(wefti_ring_pop(&r)), ++out);
		}
		wefti_ring_shrink(&r);
		CU_ASSERT_FALSE(wefti_ring_is_grown(&r));
		CU_ASSERT_EQUAL(wefti_ring_pop_tail_if(&r, item(most)), 1);
		while (++out < most)
			CU_ASSERT_EQUAL(number(wefti_ring_pop(&r)), out);
		CU_ASSERT_PTR_NULL(wefti_ring_pop(&r));
	}
}

/* A thief's copy of 128 comes out of the array, and fits into the thief's array. */
static void ring_that_has_grown_is_stolen_from_by_half_of_a_small_one(void)
{
	static struct wefti_ring r, mine;
	struct wefti_thread *first;
	unsigned k = 0;

	ring_begin(&r, 3);
	ring_begin(&mine, 77);
	for (uintptr_t i = 1; i <= 3 * CAP; i++)
		push_growing(&r, i, &k);
	fill(&mine, 1000, CAP);
	wefti_ring_grow(&mine, array(k));
	fill(&mine, 1000 + CAP, 1);
	CU_ASSERT_EQUAL(wefti_ring_steal(&r, &mine, &first), CAP / 2);
	CU_ASSERT_EQUAL(number(first), 1);
	for (uintptr_t i = 0; i <= CAP; i++)
		CU_ASSERT_EQUAL(number(wefti_ring_pop(&mine)), 1000 + i);
	for (uintptr_t i = 2; i <= CAP / 2; i++)
		CU_ASSERT_EQUAL(number(wefti_ring_pop(&mine)), i);
	CU_ASSERT_PTR_NULL(wefti_ring_pop(&mine));
	CU_ASSERT_EQUAL(number(wefti_ring_pop(&r)), CAP / 2 + 1);
}

static void ring_gives_back_the_newest_only_if_asked_for_it(void)
{
	static struct wefti_ring r;

	for (size_t s = 0; s < START_HEADS; s++) {
		ring_begin(&r, start_heads[s]);
		fill(&r, 1, CAP);
		CU_ASSERT_EQUAL(wefti_ring_pop_tail_if(&r, item(1)), 0);
		for (uintptr_t i = CAP; i > 1; i--) {
			CU_ASSERT_EQUAL(wefti_ring_pop_tail_if(&r, item(i - 1)),
					0);
			CU_ASSERT_EQUAL(wefti_ring_pop_tail_if(&r, item(i)), 1);
		}
		CU_ASSERT_EQUAL(wefti_ring_len_hint(&r), 1);
		CU_ASSERT_EQUAL(number(wefti_ring_pop(&r)), 1);
		CU_ASSERT_EQUAL(wefti_ring_pop_tail_if(&r, item(1)), 0);
	}
}

static void ring_gives_the_newest_first_from_its_tail(void)
{
	static struct wefti_ring r;

	for (size_t s = 0; s < START_HEADS; s++) {
		ring_begin(&r, start_heads[s]);
		fill(&r, 1, CAP);
		for (uintptr_t i = CAP; i > CAP / 2; i--)
			CU_ASSERT_EQUAL(number(wefti_ring_pop_tail(&r)), i);
		CU_ASSERT_EQUAL(number(wefti_ring_pop(&r)), 1);
		fill(&r, CAP + 1, 1);
		CU_ASSERT_EQUAL(number(wefti_ring_pop_tail(&r)), CAP + 1);
		for (uintptr_t i = CAP / 2; i > 1; i--)
			CU_ASSERT_EQUAL(number(wefti_ring_pop_tail(&r)), i);
		CU_ASSERT_PTR_NULL(wefti_ring_pop_tail(&r));
	}
}

/*
 * The thief's view in ready_ring.h, ABA: it holds the word of a ring with A,
 * and A was taken back and B pushed. Its CAS has to fail.
 */
static void ring_word_is_new_after_a_pop_at_the_tail(void)
{
	static struct wefti_ring r;

	for (size_t s = 0; s < START_HEADS; s++) {
		ring_begin(&r, start_heads[s]);
		fill(&r, 1, 1);

		uint64_t seen = load_relaxed(&r.word);

		CU_ASSERT_EQUAL(wefti_ring_pop_tail_if(&r, item(1)), 1);
		fill(&r, 2, 1);
		CU_ASSERT_NOT_EQUAL(load_relaxed(&r.word), seen);
		CU_ASSERT_FALSE(cas_seq_cst(&r.word, &seen,
					    seen + WEFTI_RING_TAKE));
		CU_ASSERT_EQUAL(number(wefti_ring_steal_one(&r)), 2);
	}
}

static void ring_steal_takes_the_older_half_rounded_up(void)
{
	static struct wefti_ring r, mine;
	struct wefti_thread *first;

	for (size_t s = 0; s < START_HEADS; s++) {
		for (unsigned len = 1; len <= CAP; len++) {
			unsigned n = (len + 1) / 2;

			ring_begin(&r, start_heads[s]);
			ring_begin(&mine, start_heads[START_HEADS - 1 - s]);
			fill(&r, 1, len);
			CU_ASSERT_EQUAL(wefti_ring_steal(&r, &mine, &first), n);
			CU_ASSERT_EQUAL(number(first), 1);
			for (uintptr_t i = 2; i <= n; i++)
				CU_ASSERT_EQUAL(number(wefti_ring_pop(&mine)),
						i);
			CU_ASSERT_PTR_NULL(wefti_ring_pop(&mine));
			for (uintptr_t i = n + 1; i <= len; i++)
				CU_ASSERT_EQUAL(number(wefti_ring_pop(&r)), i);
			CU_ASSERT_PTR_NULL(wefti_ring_pop(&r));
		}
	}
}

static void ring_steal_takes_no_more_than_fits_behind_what_is_there(void)
{
	static struct wefti_ring r, mine;
	struct wefti_thread *first;

	for (unsigned room = 0; room < 5; room++) {
		ring_begin(&r, 3);
		ring_begin(&mine, 77);
		fill(&r, 1, 100);
		fill(&mine, 1000, CAP - room);
		CU_ASSERT_EQUAL(wefti_ring_steal(&r, &mine, &first), room + 1);
		CU_ASSERT_EQUAL(number(first), 1);
		CU_ASSERT_EQUAL(wefti_ring_len_hint(&mine), CAP);
		CU_ASSERT_EQUAL(wefti_ring_len_hint(&r), 99 - room);
		for (unsigned i = 0; i < CAP; i++)
			CU_ASSERT_EQUAL(number(wefti_ring_pop(&mine)),
				i < CAP - room ? 1000 + i :
				2 + i - (CAP - room));
	}
}

/* A plain deque, and every kind of operation drawn at random on both. */
static struct {
	struct wefti_ring r, mine;
	uintptr_t item[CAP * 4096];
	size_t head, tail, pushed, cap;
	unsigned arrays, ebb;	/* ebb: the ring empties, and shrinks */
} both;

static void push_to_both(uint64_t *rnd)
{
	const size_t len = both.tail - both.head;
	int err = wefti_ring_push(&both.r, item(++both.pushed));

	CU_ASSERT_EQUAL_FATAL(err, len == both.cap ? -EAGAIN : 0);
	if (err && both.arrays < SIZES && test_random_below(rnd, 4) == 0) {
		wefti_ring_grow(&both.r, array(both.arrays++));
		both.cap *= 4;
		err = wefti_ring_push(&both.r, item(both.pushed));
	}
	if (err == 0)
		both.item[both.tail++] = both.pushed;
	else if (test_random_below(rnd, 64) == 0)
		both.ebb = 1;
}

static void is_next(struct wefti_thread *t)
{
	CU_ASSERT_EQUAL_FATAL(number(t), both.tail - both.head ? both.item[both.head++] : 0);
}

static void do_one_of_both(uint64_t *rnd)
{
	const size_t len = both.tail - both.head;
	const size_t half = len < CAP ? (len + 1) / 2 : CAP / 2;
	unsigned op = (unsigned)test_random_below(rnd, 16);
	struct wefti_thread *t;

	if (both.ebb && op < 6)
		op += 10;
	if (both.cap > CAP && len <= CAP / 2) {
		wefti_ring_shrink(&both.r);
		both.cap = CAP;
		both.arrays = both.ebb = 0;
	}
	if (both.cap > CAP && op >= 12 && op < 15)
		op = 10;	/* not at its tail */
	if (op < 8) {
		push_to_both(rnd);
	} else if (op < 10 || len == 0) {
		is_next(wefti_ring_pop(&both.r));
	} else if (op < 12) {
		is_next(wefti_ring_steal_one(&both.r));
	} else if (op < 15) {
		t = item(both.item[--both.tail]);
		CU_ASSERT_EQUAL_FATAL(wefti_ring_pop_tail_if(&both.r, t), 1);
	} else {
		CU_ASSERT_EQUAL_FATAL(wefti_ring_steal(&both.r, &both.mine, &t), half);
		is_next(t);
		for (size_t i = 1; i < half; i++)
			is_next(wefti_ring_pop(&both.mine));
	}
}

static void ring_agrees_with_a_plain_deque_and_its_word_only_grows(void)
{
	const size_t most = CAP * 4096, pushes = test_scaled(most);
	uint64_t rnd = test_seed(1);

	both.head = both.tail = both.pushed = 0;
	both.cap = CAP;
	ring_begin(&both.r, (UINT64_C(1) << 45) - 10000);
	ring_begin(&both.mine, 0);
	while (both.pushed < pushes && both.tail < most - 1) {
		const uint64_t before = load_relaxed(&both.r.word);
		const size_t len = both.tail - both.head, cap = both.cap;

		do_one_of_both(&rnd);
		/* I3, when anything was done; across the wrap. */
		const int64_t grown = (int64_t)(load_relaxed(&both.r.word) - before);
		CU_ASSERT_FATAL(grown > 0 || (grown == 0 && (len == 0 || len == cap)));
		CU_ASSERT_EQUAL_FATAL(wefti_ring_len_hint(&both.r), both.tail - both.head);
	}
}

/*
 * Many threads. An item is a struct whose plain fields the pusher writes and
 * the taker reads and writes: ThreadSanitizer checks P1 by them.
 */
struct work {
	uintptr_t id;			/* in order of first push */
	unsigned taken;
};

static struct crew {
	struct wefti_ring ring;
	struct work *work;
	size_t count;
	_Atomic size_t left;		/* items that nobody has taken */
} crew;

struct taker {
	uintptr_t last;			/* id taken from the head before */
	size_t out_of_order, twice;
};

static void take(struct taker *k, struct wefti_thread *t)
{
	struct work *w = (struct work *)(void *)t;

	k->out_of_order += w->id <= k->last;
	k->last = w->id;
	k->twice += w->taken++ != 0;
	fetch_sub_relaxed(&crew.left, (size_t)1);
}

/* Drains what it stole before it steals again, so ids must rise. */
static void *thief(void *arg)
{
	struct taker *k = arg;
	struct wefti_ring mine;
	struct wefti_thread *t;
	unsigned turn = 0;

	ring_begin(&mine, 0);
	while (load_relaxed(&crew.left) > 0) {
		if (++turn % 4 == 0)
			t = wefti_ring_steal_one(&crew.ring);
		else if (wefti_ring_steal(&crew.ring, &mine, &t) == 0)
			t = NULL;
		if (t == NULL)
			sched_yield();
		for (; t != NULL; t = wefti_ring_pop(&mine))
			take(k, t);
	}
	return NULL;
}

/* The ring is full. The owner takes the oldest item, or lets the ring grow. */
static void make_room(struct taker *k, uint64_t *rnd, unsigned *next)
{
	struct wefti_thread *old;

	if (*next < SIZES && test_random_below(rnd, 2)) {
		if (wefti_ring_len_hint(&crew.ring) == CAP << 2 * *next)
			wefti_ring_grow(&crew.ring, array((*next)++));
		return;
	}
	old = wefti_ring_pop(&crew.ring);
	if (old != NULL)	/* thieves were faster */
		take(k, old);
}

static void shrink(unsigned *next)
{
	wefti_ring_shrink(&crew.ring);
	if (!wefti_ring_is_grown(&crew.ring))
		*next = 0;
}

/* As spawn and exit do: push, take back, push again; sometimes pop. */
static void own(struct taker *k)
{
	uint64_t rnd = test_seed(2);
	struct wefti_thread *t;
	unsigned next = 0;

	for (size_t i = 0; i < crew.count; i++) {
		struct work *w = &crew.work[i];

		w->id = i + 1;
		t = (struct wefti_thread *)(void *)w;
		if (next && i % 16 == 0)
			shrink(&next);
		while (wefti_ring_push(&crew.ring, t) != 0)
			make_room(k, &rnd, &next);
		while (!wefti_ring_is_grown(&crew.ring) &&
		       test_random_below(&rnd, 2) == 0 &&
		       wefti_ring_pop_tail_if(&crew.ring, t))
			while (wefti_ring_push(&crew.ring, t) != 0)
				sched_yield();
		if (test_random_below(&rnd, 3) == 0) {
			t = wefti_ring_pop(&crew.ring);
			if (t != NULL)
				take(k, t);
		}
	}
	while ((t = wefti_ring_pop(&crew.ring)) != NULL)
		take(k, t);
}

static void ring_gives_every_thread_once_and_in_order_among_thieves(void)
{
	struct taker k[THIEVES + 1] = { 0 };
	pthread_t tid[THIEVES];
	size_t missing = 0;

	ring_begin(&crew.ring, (UINT64_C(1) << 45) - 100000);
	crew.count = test_scaled(200000);
	crew.work = calloc(crew.count, sizeof(*crew.work));
	CU_ASSERT_PTR_NOT_NULL_FATAL(crew.work);
	store_relaxed(&crew.left, crew.count);
	for (int i = 0; i < THIEVES; i++)
		CU_ASSERT_EQUAL_FATAL(
			pthread_create(&tid[i], NULL, thief, &k[i + 1]), 0);
	own(&k[0]);
	for (int i = 0; i < THIEVES; i++)
		pthread_join(tid[i], NULL);
	for (int i = 0; i <= THIEVES; i++) {
		CU_ASSERT_EQUAL(k[i].out_of_order, 0);
		CU_ASSERT_EQUAL(k[i].twice, 0);
	}
	for (size_t i = 0; i < crew.count; i++)
		missing += crew.work[i].taken != 1;
	CU_ASSERT_EQUAL(missing, 0);
	free(crew.work);
}

static const struct test_case cases[] = {
	TEST(ring_is_empty_when_new),
	TEST(ring_is_fifo_and_bounded_when_head_wraps),
	TEST(ring_keeps_its_order_when_it_grows_and_shrinks),
	TEST(ring_that_has_grown_is_stolen_from_by_half_of_a_small_one),
	TEST(ring_gives_back_the_newest_only_if_asked_for_it),
	TEST(ring_gives_the_newest_first_from_its_tail),
	TEST(ring_word_is_new_after_a_pop_at_the_tail),
	TEST(ring_steal_takes_the_older_half_rounded_up),
	TEST(ring_steal_takes_no_more_than_fits_behind_what_is_there),
	TEST(ring_agrees_with_a_plain_deque_and_its_word_only_grows),
	TEST(ring_gives_every_thread_once_and_in_order_among_thieves),
};

TEST_MAIN("lockfree/ready_ring", cases)
