/* SPDX-License-Identifier: MIT */
/*
 * test_cond_turns.c - sync/cond: threads that wake each other in turn, one at a
 * condition variable, and a signal and a cancellation that come together
 */
#include "crowd.h"

#define PLAYERS_MOST	5

/* Each player waits alone at its own condition variable. */
struct table {
	struct weft_mutex mutex;
	struct weft_cond turned[PLAYERS_MOST];
	unsigned players, turn;		/* under mutex */
	size_t rounds, played;		/* the same */
	int timed;
};

static void play(struct table *t, unsigned me, uint64_t *seed)
{
	must(weft_mutex_lock(&t->mutex) == 0);
	while (t->turn != me) {
		int64_t deadline = t->timed && test_random_below(seed, 4) == 0 ?
				   soon(seed) : WEFT_FOREVER;
		int error = weft_cond_wait_until(&t->turned[me], &t->mutex,
						 deadline);

		must(error == 0 || (error == -ETIMEDOUT &&
				    deadline != WEFT_FOREVER));
		must(weft_mutex_lock(&t->mutex) == -EDEADLK);
	}
	t->played++;
	t->turn = (me + 1) % t->players;
	if (test_random_below(seed, 8)) {
		must(weft_cond_signal(&t->turned[t->turn]) == 0);
		must(weft_mutex_unlock(&t->mutex) == 0);
	} else {
		struct weft_cond *next = &t->turned[t->turn];

		must(weft_mutex_unlock(&t->mutex) == 0);
		must(weft_cond_signal(next) == 0);
	}
}

static void player(unsigned me, void *arg)
{
	struct table *t = arg;
	uint64_t seed = test_seed(me);

	for (size_t i = 0; i < t->rounds; i++)
		play(t, me, &seed);
}

/* The others want the mutex now and then, and find it in order. */
static void player_or_bystander(unsigned me, void *arg)
{
	struct table *t = arg;
	uint64_t seed = test_seed(me);
	size_t last = 0;

	if (me < t->players) {
		player(me, arg);
		return;
	}
	for (size_t i = 0; i < t->rounds; i++) {
		must(weft_mutex_lock(&t->mutex) == 0);
		must(t->played >= last);
		last = t->played;
		dither(&seed);
		must(weft_mutex_unlock(&t->mutex) == 0);
		dither(&seed);
	}
}

static void turns(struct table *t, unsigned threads, unsigned policy)
{
	runtime_begin();
	CU_ASSERT_EQUAL(weft_mutex_init(&t->mutex, policy), 0);
	crowd_run(threads, player_or_bystander, t);
	CU_ASSERT_EQUAL(t->played, t->rounds * t->players);
	for (unsigned i = 0; i < t->players; i++)
		CU_ASSERT_EQUAL(weft_cond_destroy(&t->turned[i]), 0);
	CU_ASSERT_EQUAL(weft_mutex_destroy(&t->mutex), 0);
	runtime_end();
}

static void two_take_turns(void)
{
	struct table t = { .players = 2, .rounds = test_scaled(10000) };

	turns(&t, 2, WEFT_MUTEX_ADAPTIVE);
}

/* Kernel threads too. */
static void five_take_turns(void)
{
	struct table t = { .players = 5, .rounds = test_scaled(150) };

	turns(&t, 5, WEFT_MUTEX_STRICT);
}

static void turns_are_taken_while_others_want_the_mutex(void)
{
	struct table t = { .players = 3, .rounds = test_scaled(300) };

	turns(&t, 7, WEFT_MUTEX_ADAPTIVE);
}

static void turns_are_taken_while_others_want_the_strict_mutex(void)
{
	struct table t = { .players = 3, .rounds = test_scaled(300) };

	turns(&t, 7, WEFT_MUTEX_STRICT);
}

static void turns_are_taken_in_spite_of_time_outs(void)
{
	struct table t = {
		.players = 3, .rounds = test_scaled(300), .timed = 1,
	};

	turns(&t, 5, WEFT_MUTEX_ADAPTIVE);
}

/* One waits, a kernel thread signals, main cancels. */

struct race {
	struct weft_mutex mutex;
	struct weft_cond cond;
	_Atomic uint32_t begun, go, done;	/* the round, from 1 */
	size_t rounds;
};

static void *wait_once(void *arg)
{
	struct race *r = arg;
	intptr_t error, again;

	must(weft_mutex_lock(&r->mutex) == 0);
	fetch_add_seq_cst(&r->begun, 1);
	error = weft_cond_wait(&r->cond, &r->mutex);
	must(error == 0 || error == -ECANCELED);
	/* It was woken once: nothing of that ends the next wait. */
	weft_cancel_hold();
	again = weft_cond_wait_until(&r->cond, &r->mutex, weft_clock() + 1);
	must(again == -ETIMEDOUT || (again == 0 && error != 0));
	must(weft_mutex_unlock(&r->mutex) == 0);
	return NULL;
}

static void *signal_each(void *arg)
{
	struct race *r = arg;

	for (uint32_t i = 1; i <= r->rounds; i++) {
		while (load_seq_cst(&r->go) < i)
			rest();
		must(weft_cond_signal(&r->cond) == 0);
		store_seq_cst(&r->done, i);
	}
	return NULL;
}

static void a_signal_or_a_cancellation_ends_a_wait_once(void)
{
	struct race r = { .rounds = test_scaled(200) };
	pthread_t signaller;

	runtime_begin();
	must(pthread_create(&signaller, NULL, signal_each, &r) == 0);
	for (uint32_t i = 1; i <= r.rounds; i++) {
		uint64_t id = spawn_with(i % 2 ? WEFT_LIGHT : 0, wait_once, &r);

		while (load_seq_cst(&r.begun) < i)
			rest();
		must(weft_mutex_lock(&r.mutex) == 0);	/* it is in the list */
		must(weft_mutex_unlock(&r.mutex) == 0);
		store_seq_cst(&r.go, i);
		must(weft_cancel(id) == 0);
		join(id);
		while (load_seq_cst(&r.done) < i)
			rest();
	}
	must(pthread_join(signaller, NULL) == 0);
	CU_ASSERT_EQUAL(weft_cond_destroy(&r.cond), 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(two_take_turns),
	TEST(five_take_turns),
	TEST(turns_are_taken_while_others_want_the_mutex),
	TEST(turns_are_taken_while_others_want_the_strict_mutex),
	TEST(turns_are_taken_in_spite_of_time_outs),
	TEST(a_signal_or_a_cancellation_ends_a_wait_once),
};

TEST_MAIN("sync/cond_turns", cases)
