/* SPDX-License-Identifier: MIT */
/*
 * test_cond.c - sync/cond: which threads are woken, what a time-out does, and
 * the end
 */
#include "crowd.h"

#define THREADS	64

static void a_wait_without_the_mutex_is_refused(void)
{
	struct weft_mutex mutex = WEFT_MUTEX_INIT;
	struct weft_cond cond = WEFT_COND_INIT;

	CU_ASSERT_EQUAL(weft_cond_wait(&cond, &mutex), -EPERM);
	CU_ASSERT_EQUAL(weft_cond_wait_until(&cond, &mutex, 1), -EPERM);
	CU_ASSERT_EQUAL(weft_cond_destroy(&cond), 0);
}

static void a_signal_without_waiters_is_lost(void)
{
	struct weft_mutex mutex = WEFT_MUTEX_INIT;
	struct weft_cond cond = WEFT_COND_INIT;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_cond_signal(&cond), 0);
	CU_ASSERT_EQUAL(weft_cond_broadcast(&cond), 0);
	CU_ASSERT_EQUAL(weft_mutex_lock(&mutex), 0);
	CU_ASSERT_EQUAL(weft_cond_wait_until(&cond, &mutex,
			weft_clock() + 100000), -ETIMEDOUT);
	CU_ASSERT_EQUAL(weft_mutex_unlock(&mutex), 0);
	runtime_end();
}

static void a_time_out_owns_the_mutex(void)
{
	struct weft_mutex mutex = WEFT_MUTEX_INIT;
	struct weft_cond cond = WEFT_COND_INIT;
	int64_t deadline = weft_clock() + 1000000;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_mutex_lock(&mutex), 0);
	CU_ASSERT_EQUAL(weft_cond_wait_until(&cond, &mutex, deadline),
			-ETIMEDOUT);
	CU_ASSERT(weft_clock() >= deadline);
	CU_ASSERT_EQUAL(weft_mutex_lock(&mutex), -EDEADLK);
	CU_ASSERT_EQUAL(weft_cond_wait_until(&cond, &mutex, WEFT_NO_WAIT),
			-ETIMEDOUT);
	CU_ASSERT_EQUAL(weft_mutex_unlock(&mutex), 0);
	CU_ASSERT_EQUAL(weft_cond_destroy(&cond), 0);
	runtime_end();
}

/* One after another they come to wait; then they are woken. */

struct line {
	struct weft_mutex mutex;
	struct weft_cond cond;
	uint32_t woken;
	uint32_t place[CROWD_MOST];
	_Atomic int seen;	/* all that time out have waited */
};

static void wait_in_line(unsigned me, void *arg)
{
	struct line *l = arg;

	must(weft_mutex_lock(&l->mutex) == 0);
	must(weft_cond_wait(&l->cond, &l->mutex) == 0);
	must(weft_mutex_lock(&l->mutex) == -EDEADLK);
	l->place[me] = l->woken++;
	must(weft_mutex_unlock(&l->mutex) == 0);
}

static uint32_t woken(struct line *l)
{
	uint32_t n;

	must(weft_mutex_lock(&l->mutex) == 0);
	n = l->woken;
	must(weft_mutex_unlock(&l->mutex) == 0);
	return n;
}

/* A waiter queues first and gives up the mutex then. */
static void until_in_line(struct member *m, struct line *l)
{
	until_waits_for(m, &l->cond);
	must(weft_mutex_lock(&l->mutex) == 0);
	must(weft_mutex_unlock(&l->mutex) == 0);
}

static struct member members[CROWD_MOST];

static void line_up(struct line *l, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		member_start(&members[i], i, wait_in_line, l);
		until_in_line(&members[i], l);
	}
	CU_ASSERT_EQUAL(weft_cond_destroy(&l->cond), -EBUSY);
}

static void line_ends(struct line *l, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		member_join(&members[i]);
	CU_ASSERT_EQUAL(l->woken, count);
	CU_ASSERT_EQUAL(weft_cond_destroy(&l->cond), 0);
}

static void a_signal_wakes_the_oldest_and_only_it(void)
{
	struct line l = { .woken = 0 };

	runtime_begin();
	line_up(&l, 8);
	for (unsigned i = 0; i < 8; i++) {
		CU_ASSERT_EQUAL(woken(&l), i);
		CU_ASSERT_EQUAL(weft_cond_signal(&l.cond), 0);
		while (woken(&l) <= i)
			rest();
		CU_ASSERT_EQUAL(l.place[i], i);
	}
	line_ends(&l, 8);
	runtime_end();
}

static void a_broadcast_wakes_all_in_order_through_the_mutex(void)
{
	struct line l = { .mutex = WEFT_MUTEX_STRICT_INIT };

	runtime_begin();
	line_up(&l, 16);
	CU_ASSERT_EQUAL(weft_mutex_lock(&l.mutex), 0);
	CU_ASSERT_EQUAL(weft_cond_broadcast(&l.cond), 0);
	/* They are the mutex's now, and it is ours. */
	CU_ASSERT_EQUAL(weft_cond_destroy(&l.cond), 0);
	CU_ASSERT_EQUAL(l.woken, 0);
	CU_ASSERT_EQUAL(weft_mutex_unlock(&l.mutex), 0);
	line_ends(&l, 16);
	for (unsigned i = 0; i < 16; i++)
		CU_ASSERT_EQUAL(l.place[i], i);
	runtime_end();
}

static void a_broadcast_wakes_all_without_the_mutex(void)
{
	struct line l = { .mutex = WEFT_MUTEX_INIT };

	runtime_begin();
	line_up(&l, 16);
	CU_ASSERT_EQUAL(weft_cond_broadcast(&l.cond), 0);
	line_ends(&l, 16);
	runtime_end();
}

static void wait_a_moment(unsigned me, void *arg)
{
	struct line *l = arg;

	(void)me;
	/* Seen waiting by then, but for a machine that is busy elsewhere. */
	do {
		must(weft_mutex_lock(&l->mutex) == 0);
		must(weft_cond_wait_until(&l->cond, &l->mutex, weft_clock() +
					  500000000) == -ETIMEDOUT);
		must(weft_mutex_unlock(&l->mutex) == 0);
	} while (!load_seq_cst(&l->seen));
}

static void a_time_out_consumes_no_signal(void)
{
	static struct member early[4];
	struct line l = { .woken = 0 };

	runtime_begin();
	for (unsigned i = 0; i < 4; i++) {
		member_start(&early[i], i, wait_a_moment, &l);
		until_in_line(&early[i], &l);
	}
	store_seq_cst(&l.seen, 1);
	line_up(&l, 1);
	for (unsigned i = 0; i < 4; i++)
		member_join(&early[i]);
	CU_ASSERT_EQUAL(weft_cond_signal(&l.cond), 0);
	line_ends(&l, 1);
	runtime_end();
}

/* Cancellation. */

static void wait_cancelled(unsigned me, void *arg)
{
	struct line *l = arg;

	(void)me;
	must(weft_mutex_lock(&l->mutex) == 0);
	must(weft_cond_wait(&l->cond, &l->mutex) == -ECANCELED);
	must(weft_mutex_lock(&l->mutex) == -EDEADLK);
	must(weft_cond_wait_until(&l->cond, &l->mutex, WEFT_FOREVER) ==
	     -ECANCELED);
	weft_cancel_hold();
	must(weft_cond_wait_until(&l->cond, &l->mutex, weft_clock() + 1000) ==
	     -ETIMEDOUT);
	weft_cancel_release();
	must(weft_mutex_unlock(&l->mutex) == 0);
}

static void a_cancelled_wait_owns_the_mutex_and_consumes_no_signal(void)
{
	static struct member m[2];
	struct line l = { .woken = 0 };

	runtime_begin();
	for (unsigned i = 0; i < 2; i++) {
		member_start(&m[i], i, wait_cancelled, &l);
		until_in_line(&m[i], &l);
	}
	line_up(&l, 1);
	for (unsigned i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(weft_cancel(m[i].id), 0);
	for (unsigned i = 0; i < 2; i++)
		member_join(&m[i]);
	CU_ASSERT_EQUAL(weft_cond_signal(&l.cond), 0);
	line_ends(&l, 1);
	runtime_end();
}

static void *wait_till_cancelled(void *arg)
{
	struct line *l = arg;

	must(weft_mutex_lock(&l->mutex) == 0);
	must(weft_cond_wait(&l->cond, &l->mutex) == -ECANCELED);
	must(l->woken++ == 0);
	weft_yield();
	must(--l->woken == 0);
	must(weft_mutex_unlock(&l->mutex) == 0);
	return NULL;
}

/* Also between the wait's beginning and the moment when it is in the list. */
static void a_wait_cancelled_as_it_begins_owns_the_mutex(void)
{
	struct line l = { .woken = 0 };
	uint64_t id[4];

	runtime_begin();
	for (size_t i = 0; i < test_scaled(1000); i++) {
		for (unsigned k = 0; k < 4; k++)
			id[k] = spawn_with(k % 2 ? WEFT_LIGHT : 0,
					   wait_till_cancelled, &l);
		for (unsigned k = 0; k < 4; k++)
			must(weft_cancel(id[k]) == 0);
		for (unsigned k = 0; k < 4; k++)
			join(id[k]);
	}
	CU_ASSERT_EQUAL(weft_cond_destroy(&l.cond), 0);
	runtime_end();
}

/* A bounded buffer: what is put in comes out, once. */

#define ROOM	4

struct buffer {
	struct weft_mutex mutex;
	struct weft_cond not_empty, not_full;
	uint64_t item[ROOM], in, out;	/* under mutex */
	size_t rounds;
	unsigned policy;
	int timed, broadcast;
	_Atomic uint64_t put, got, woken, signals;
};

static void tell(struct buffer *b, struct weft_cond *cond)
{
	if (b->broadcast)
		must(weft_cond_broadcast(cond) == 0);
	else
		must(weft_cond_signal(cond) == 0);
	fetch_add_relaxed(&b->signals, 1);
}

static void wait_for(struct buffer *b, struct weft_cond *cond, uint64_t *seed)
{
	int error = weft_cond_wait_until(cond, &b->mutex,
					 b->timed ? soon(seed) : WEFT_FOREVER);

	must(error == 0 || (b->timed && error == -ETIMEDOUT));
	if (error == 0)
		fetch_add_relaxed(&b->woken, 1);
}

static void put(struct buffer *b, uint64_t value, uint64_t *seed)
{
	must(weft_mutex_lock(&b->mutex) == 0);
	while (b->in - b->out == ROOM)
		wait_for(b, &b->not_full, seed);
	b->item[b->in++ % ROOM] = value;
	/* Under the mutex, and without it. */
	if (test_random_below(seed, 2)) {
		tell(b, &b->not_empty);
		must(weft_mutex_unlock(&b->mutex) == 0);
	} else {
		must(weft_mutex_unlock(&b->mutex) == 0);
		tell(b, &b->not_empty);
	}
}

static uint64_t get(struct buffer *b, uint64_t *seed)
{
	uint64_t value;

	must(weft_mutex_lock(&b->mutex) == 0);
	while (b->in == b->out)
		wait_for(b, &b->not_empty, seed);
	value = b->item[b->out++ % ROOM];
	tell(b, &b->not_full);
	must(weft_mutex_unlock(&b->mutex) == 0);
	return value;
}

static void put_or_get(unsigned me, void *arg)
{
	struct buffer *b = arg;
	uint64_t seed = test_seed(me), sum = 0;

	for (size_t i = 0; i < b->rounds; i++) {
		/* Kinds of threads change every four: so do the roles. */
		if (me / 4 % 2) {
			uint64_t value = test_random_below(&seed, 1000);

			put(b, value, &seed);
			sum += value;
		} else {
			sum += get(b, &seed);
		}
		dither(&seed);
	}
	fetch_add_seq_cst(me / 4 % 2 ? &b->put : &b->got, sum);
}

static void exchange(struct buffer *b, unsigned threads)
{
	runtime_begin();
	CU_ASSERT_EQUAL(weft_mutex_init(&b->mutex, b->policy), 0);
	crowd_run(threads, put_or_get, b);
	CU_ASSERT_EQUAL(load_seq_cst(&b->put), load_seq_cst(&b->got));
	CU_ASSERT_EQUAL(b->in, b->out);
	/* Nobody is woken without a signal. */
	if (!b->broadcast)
		CU_ASSERT(load_seq_cst(&b->woken) <= load_seq_cst(&b->signals));
	CU_ASSERT_EQUAL(weft_cond_destroy(&b->not_empty), 0);
	CU_ASSERT_EQUAL(weft_cond_destroy(&b->not_full), 0);
	runtime_end();
}

static void what_is_put_in_comes_out(void)
{
	struct buffer b = { .rounds = test_scaled(500) };

	exchange(&b, THREADS);
}

static void what_is_put_in_comes_out_under_a_strict_mutex(void)
{
	struct buffer b = {
		.rounds = test_scaled(500), .policy = WEFT_MUTEX_STRICT,
	};

	exchange(&b, THREADS);
}

static void what_is_put_in_comes_out_through_broadcasts(void)
{
	struct buffer b = { .rounds = test_scaled(100), .broadcast = 1 };

	exchange(&b, 32);
}

static void what_is_put_in_comes_out_in_a_storm_of_time_outs(void)
{
	struct buffer b = { .rounds = test_scaled(400), .timed = 1 };

	exchange(&b, 32);
}

/* Its memory is used for something else as soon as all have been woken. */

struct brief {
	struct weft_mutex mutex;
	struct weft_cond *cond;
	int done;
	_Atomic uint32_t waiting;
};

static void wait_briefly(unsigned me, void *arg)
{
	struct brief *b = arg;
	uint64_t seed = test_seed(me + load_relaxed(&b->waiting));
	struct weft_cond *cond;

	must(weft_mutex_lock(&b->mutex) == 0);
	cond = b->cond;
	fetch_add_seq_cst(&b->waiting, 1);
	/* With deadlines that pass about when the broadcast comes. */
	while (!b->done) {
		int64_t deadline = me % 2 ? WEFT_FOREVER : soon(&seed);
		int error = weft_cond_wait_until(cond, &b->mutex, deadline);

		must(error == 0 || error == -ETIMEDOUT);
	}
	must(weft_mutex_unlock(&b->mutex) == 0);
}

static void brief_life(struct weft_cond *cond)
{
	struct brief b = { .cond = cond };

	memset(cond, 0, sizeof(*cond));
	for (unsigned i = 0; i < 6; i++)
		member_start(&members[i], i, wait_briefly, &b);
	while (load_seq_cst(&b.waiting) < 6)
		rest();
	must(weft_mutex_lock(&b.mutex) == 0);
	b.done = 1;
	must(weft_cond_broadcast(cond) == 0);
	poison(cond, sizeof(*cond));
	must(weft_mutex_unlock(&b.mutex) == 0);
	for (unsigned i = 0; i < 6; i++)
		member_join(&members[i]);
	must(is_poisoned(cond, sizeof(*cond)));
}

static void it_may_be_freed_when_a_broadcast_has_returned(void)
{
	runtime_begin();
	for (size_t i = 0; i < test_scaled(300); i++) {
		struct weft_cond *cond = malloc(sizeof(*cond));

		must(cond);
		brief_life(cond);
		free(cond);
	}
	runtime_end();
}

/* What times out leaves nothing behind. */

static void time_out_often(unsigned me, void *arg)
{
	struct line *l = arg;

	(void)me;
	must(weft_mutex_lock(&l->mutex) == 0);
	for (size_t i = 0; i < test_scaled(100000) / 16; i++)
		must(weft_cond_wait_until(&l->cond, &l->mutex, 1) ==
		     -ETIMEDOUT);
	must(weft_mutex_unlock(&l->mutex) == 0);
}

static void many_time_outs_leave_memory_bounded(void)
{
	struct line l = { .woken = 0 };
	uint32_t slots;

	runtime_begin();
	line_up(&l, 3);
	slots = wefti_slot_limit();
	crowd_run(16, time_out_often, &l);
	CU_ASSERT(wefti_slot_limit() - slots <= 4 * 64);
	CU_ASSERT_EQUAL(weft_cond_broadcast(&l.cond), 0);
	line_ends(&l, 3);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(a_wait_without_the_mutex_is_refused),
	TEST(a_signal_without_waiters_is_lost),
	TEST(a_time_out_owns_the_mutex),
	TEST(a_signal_wakes_the_oldest_and_only_it),
	TEST(a_broadcast_wakes_all_in_order_through_the_mutex),
	TEST(a_broadcast_wakes_all_without_the_mutex),
	TEST(a_time_out_consumes_no_signal),
	TEST(a_cancelled_wait_owns_the_mutex_and_consumes_no_signal),
	TEST(a_wait_cancelled_as_it_begins_owns_the_mutex),
	TEST(what_is_put_in_comes_out),
	TEST(what_is_put_in_comes_out_under_a_strict_mutex),
	TEST(what_is_put_in_comes_out_through_broadcasts),
	TEST(what_is_put_in_comes_out_in_a_storm_of_time_outs),
	TEST(it_may_be_freed_when_a_broadcast_has_returned),
	TEST(many_time_outs_leave_memory_bounded),
};

TEST_MAIN("sync/cond", cases)
