/* SPDX-License-Identifier: MIT */
/* test_mutex.c - sync/mutex: exclusion, order, hand-over, time-outs, its end */
#include "crowd.h"

#include "sched/ready.h"
#include "sync/mutex.h"
#include "sync/mutex_line.h"

#define THREADS	64

static struct member members[CROWD_MOST];

static void wrong_use_is_refused(void)
{
	struct weft_mutex mutex;

	CU_ASSERT_EQUAL(weft_mutex_init(&mutex, 2), -EINVAL);
	for (unsigned policy = 0; policy < 2; policy++) {
		CU_ASSERT_EQUAL(weft_mutex_init(&mutex, policy), 0);
		CU_ASSERT_EQUAL(weft_mutex_unlock(&mutex), -EPERM);
		CU_ASSERT_EQUAL(weft_mutex_lock(&mutex), 0);
		CU_ASSERT_EQUAL(weft_mutex_lock(&mutex), -EDEADLK);
		CU_ASSERT_EQUAL(weft_mutex_lock_until(&mutex, WEFT_NO_WAIT),
				-EDEADLK);
		CU_ASSERT_EQUAL(weft_mutex_try_lock(&mutex), -EBUSY);
		CU_ASSERT_EQUAL(weft_mutex_destroy(&mutex), -EBUSY);
		CU_ASSERT_EQUAL(weft_mutex_unlock(&mutex), 0);
		CU_ASSERT_EQUAL(weft_mutex_unlock(&mutex), -EPERM);
		CU_ASSERT_EQUAL(weft_mutex_try_lock(&mutex), 0);
		CU_ASSERT_EQUAL(weft_mutex_unlock(&mutex), 0);
		CU_ASSERT_EQUAL(weft_mutex_destroy(&mutex), 0);
	}
}

static void *try_as_another(void *arg)
{
	struct weft_mutex *mutex = arg;
	int64_t deadline = weft_clock() + 1000000;

	must(weft_mutex_unlock(mutex) == -EPERM);
	must(weft_mutex_try_lock(mutex) == -EBUSY);
	must(weft_mutex_lock_until(mutex, WEFT_NO_WAIT) == -EBUSY);
	must(weft_mutex_lock_until(mutex, deadline) == -ETIMEDOUT);
	must(weft_clock() >= deadline);
	must(weft_mutex_lock_until(mutex, 1) == -ETIMEDOUT);
	return NULL;
}

static void a_thread_that_does_not_own_it_is_refused(void)
{
	struct weft_mutex mutex = WEFT_MUTEX_INIT;

	runtime_begin();
	for (unsigned policy = 0; policy < 2; policy++) {
		must(weft_mutex_init(&mutex, policy) == 0);
		CU_ASSERT_EQUAL(weft_mutex_lock(&mutex), 0);
		join(spawn(try_as_another, &mutex));
		join(spawn_with(WEFT_LIGHT, try_as_another, &mutex));
		/* Not changed by any of it. */
		CU_ASSERT_EQUAL(weft_mutex_lock(&mutex), -EDEADLK);
		CU_ASSERT_EQUAL(weft_mutex_unlock(&mutex), 0);
		CU_ASSERT_EQUAL(weft_mutex_lock_until(&mutex, 1), 0);
		CU_ASSERT_EQUAL(weft_mutex_unlock(&mutex), 0);
		CU_ASSERT_EQUAL(weft_mutex_destroy(&mutex), 0);
	}
	runtime_end();
}

/*
 * In the order of arrival, and nobody overtakes. Strict always; adaptive when all
 * have waited for longer than a millisecond.
 */

struct line {
	struct weft_mutex mutex;
	uint32_t served;		/* under mutex */
	uint32_t place[CROWD_MOST];
};

static void lock_in_line(unsigned me, void *arg)
{
	struct line *l = arg;

	must(weft_mutex_lock(&l->mutex) == 0);
	l->place[me] = l->served++;
	must(weft_mutex_unlock(&l->mutex) == 0);
}

/* It is parked a moment before it is in the line. */
static void until_last_in_line(struct member *m, struct weft_mutex *mutex)
{
	until_waits_for(m, mutex);
	while (load_seq_cst(&wefti_mutex_of(mutex)->word) >>
	       WEFTI_MUTEX_TOP_SHIFT != load_seq_cst(&m->self)->slot)
		rest();
}

static void serve_in_order(unsigned policy, int64_t age_ns, size_t rounds)
{
	struct line l;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_mutex_init(&l.mutex, policy), 0);
	for (size_t round = 0; round < rounds; round++) {
		l.served = 0;
		CU_ASSERT_EQUAL(weft_mutex_lock(&l.mutex), 0);
		for (unsigned i = 0; i < 16; i++) {
			member_start(&members[i], i, lock_in_line, &l);
			until_last_in_line(&members[i], &l.mutex);
		}
		if (age_ns > 0)
			CU_ASSERT_EQUAL(weft_sleep(age_ns), 0);
		CU_ASSERT_EQUAL(weft_mutex_unlock(&l.mutex), 0);
		/* It is the first one's already: we are behind them all. */
		CU_ASSERT_EQUAL(weft_mutex_lock(&l.mutex), 0);
		CU_ASSERT_EQUAL(l.served, 16);
		CU_ASSERT_EQUAL(weft_mutex_unlock(&l.mutex), 0);
		for (unsigned i = 0; i < 16; i++) {
			member_join(&members[i]);
			CU_ASSERT_EQUAL(l.place[i], i);
		}
	}
	CU_ASSERT_EQUAL(weft_mutex_destroy(&l.mutex), 0);
	runtime_end();
}

static void strict_serves_in_the_order_of_arrival(void)
{
	serve_in_order(WEFT_MUTEX_STRICT, 0, test_scaled(4));
}

static void adaptive_serves_in_order_who_has_waited_long(void)
{
	serve_in_order(WEFT_MUTEX_ADAPTIVE, 5000000, test_scaled(4));
}

/*
 * Strict, with one VCPU, which no thread loses: it decided whether the heir or
 * the unlocker ran.
 */

static void *lock_as_last(void *arg)
{
	lock_in_line(0, arg);
	return NULL;
}

static void strict_gives_way_when_heirs_have_lain_about(void)
{
	static const struct weft_options alone = { .vcpus = 1, .slice_ns = -1 };
	struct line l = { .mutex = WEFT_MUTEX_STRICT_INIT };
	struct wefti_vcpu *v;
	uint64_t id;
	int turns = 0;

	setenv("WEFT_SPARE_MAX", "0", 1);
	CU_ASSERT_EQUAL_FATAL(weft_start(&alone), 0);
	v = wefti_self()->vcpu;
	CU_ASSERT_EQUAL(weft_mutex_lock(&l.mutex), 0);
	id = spawn(lock_as_last, &l);
	for (int i = 0; i < WEFTI_LAY_MANY / WEFTI_LAY_STEP; i++)
		wefti_next_lay(v);
	CU_ASSERT_EQUAL(weft_mutex_unlock(&l.mutex), 0);
	CU_ASSERT_EQUAL(l.served, 1);
	join(id);
	while (wefti_next_is_heir(v))
		turns++;
	CU_ASSERT_EQUAL(turns, WEFTI_LAY_TURNS - 1);
	wefti_next_lay(v);
	CU_ASSERT_EQUAL(wefti_next_is_heir(v), 0);
	runtime_end();
	unsetenv("WEFT_SPARE_MAX");
}

/*
 * Adaptive: a thread that takes it again and again must hand it off in the end.
 */

struct hog {
	struct weft_mutex mutex;
	_Atomic uint32_t got;
};

static void want_it_once(unsigned me, void *arg)
{
	struct hog *h = arg;

	(void)me;
	must(weft_mutex_lock(&h->mutex) == 0);
	fetch_add_seq_cst(&h->got, 1);
	must(weft_mutex_unlock(&h->mutex) == 0);
}

static void adaptive_hands_over_to_who_has_waited_long(void)
{
	struct hog h = { .mutex = WEFT_MUTEX_INIT };

	runtime_begin();
	for (unsigned i = 0; i < 8; i++)
		member_start(&members[i], i, want_it_once, &h);
	/*
	 * Never parks and never yields by itself: the others get it only if
	 * an unlock gives it to them, and this thread then waits.
	 */
	while (load_seq_cst(&h.got) < 8) {
		int64_t until = weft_clock() + 100000;

		must(weft_mutex_lock(&h.mutex) == 0);
		while (weft_clock() < until)
			;
		must(weft_mutex_unlock(&h.mutex) == 0);
	}
	for (unsigned i = 0; i < 8; i++)
		member_join(&members[i]);
	CU_ASSERT_EQUAL(weft_mutex_destroy(&h.mutex), 0);
	runtime_end();
}

/* One at a time. */

struct counter {
	struct weft_mutex mutex;
	uint64_t plain, copy;		/* under mutex */
	size_t rounds;
	int timed;
	_Atomic uint64_t entered;
	_Atomic uint32_t inside;
};

static int enter(struct counter *c, uint64_t *seed)
{
	int error;

	if (test_random_below(seed, 8) == 0) {
		error = weft_mutex_try_lock(&c->mutex);
		must(error == 0 || error == -EBUSY);
	} else if (c->timed) {
		error = weft_mutex_lock_until(&c->mutex, soon(seed));
		must(error == 0 || error == -ETIMEDOUT);
	} else {
		error = weft_mutex_lock(&c->mutex);
		must(error == 0);
	}
	return error == 0;
}

static void count(unsigned me, void *arg)
{
	struct counter *c = arg;
	uint64_t seed = test_seed(me), entered = 0;

	for (size_t i = 0; i < c->rounds; i++) {
		if (!enter(c, &seed)) {
			weft_yield();
			continue;
		}
		must(fetch_add_relaxed(&c->inside, 1) == 0);
		c->plain++;
		if (i % 16 == 0)
			dither(&seed);
		c->copy++;
		must(c->copy == c->plain);
		must(fetch_sub_relaxed(&c->inside, 1) == 1);
		must(weft_mutex_unlock(&c->mutex) == 0);
		entered++;
	}
	fetch_add_seq_cst(&c->entered, entered);
}

static void one_at_a_time(unsigned policy, int timed, size_t rounds)
{
	struct counter c = { .rounds = rounds, .timed = timed };

	runtime_begin();
	CU_ASSERT_EQUAL(weft_mutex_init(&c.mutex, policy), 0);
	crowd_run(THREADS, count, &c);
	CU_ASSERT_EQUAL(c.plain, load_seq_cst(&c.entered));
	CU_ASSERT_EQUAL(weft_mutex_destroy(&c.mutex), 0);
	runtime_end();
}

static void adaptive_lets_in_one_at_a_time(void)
{
	one_at_a_time(WEFT_MUTEX_ADAPTIVE, 0, test_scaled(1000));
}

static void strict_lets_in_one_at_a_time(void)
{
	one_at_a_time(WEFT_MUTEX_STRICT, 0, test_scaled(500));
}

static void adaptive_lets_in_one_at_a_time_in_a_storm_of_time_outs(void)
{
	one_at_a_time(WEFT_MUTEX_ADAPTIVE, 1, test_scaled(500));
}

static void strict_lets_in_one_at_a_time_in_a_storm_of_time_outs(void)
{
	one_at_a_time(WEFT_MUTEX_STRICT, 1, test_scaled(500));
}

/* The last to unlock it frees it. */

struct shared {
	struct weft_mutex mutex;
	unsigned users;			/* under mutex */
};

static void use_and_free(unsigned me, void *arg)
{
	struct shared *s = arg;
	unsigned left;

	(void)me;
	must(weft_mutex_lock(&s->mutex) == 0);
	left = --s->users;
	must(weft_mutex_unlock(&s->mutex) == 0);
	if (left)
		return;
	poison(s, sizeof(*s));
	weft_yield();
	must(is_poisoned(s, sizeof(*s)));
	free(s);
}

static void *use_and_free_spawned(void *arg)
{
	use_and_free(0, arg);
	return NULL;
}

/* Spawned threads alone are quicker to make: more rounds. */
static void freed_by_the_last(unsigned policy, size_t rounds, size_t crowds)
{
	for (size_t i = 0; i < rounds; i++) {
		struct shared *s = calloc(1, sizeof(*s));
		uint64_t id[6];

		must(s);
		must(weft_mutex_init(&s->mutex, policy) == 0);
		s->users = 6;
		if (i < crowds) {
			crowd_run(6, use_and_free, s);
			continue;
		}
		for (unsigned k = 0; k < 6; k++)
			id[k] = spawn_with(k % 2 ? WEFT_LIGHT : 0,
					   use_and_free_spawned, s);
		for (unsigned k = 0; k < 6; k++)
			join(id[k]);
	}
}

static void the_last_who_unlocks_it_may_free_it(void)
{
	runtime_begin();
	freed_by_the_last(WEFT_MUTEX_ADAPTIVE, test_scaled(2000), 50);
	freed_by_the_last(WEFT_MUTEX_STRICT, test_scaled(2000), 50);
	runtime_end();
}

/* The next unlock forgets the threads that timed out while it was held. */

static void time_out(unsigned me, void *arg)
{
	struct weft_mutex *mutex = arg;

	(void)me;
	for (size_t i = 0; i < test_scaled(1000); i++)
		must(weft_mutex_lock_until(mutex, 1) == -ETIMEDOUT);
}

/*
 * While the sweeper is stopped, a round can need a place for each of its
 * time-outs, and no round more than that: those of the round before are free
 * again.
 */
static void unlock_gives_back_the_places_of_those_who_timed_out(void)
{
	struct weft_mutex mutex = WEFT_MUTEX_INIT;
	size_t a_round = 4 * test_scaled(1000), spare = 8 * WEFTI_SLOT_BATCH;
	uint32_t slots;

	runtime_begin();
	slots = wefti_slot_limit();
	for (int round = 0; round < 4; round++) {
		CU_ASSERT_EQUAL(weft_mutex_lock(&mutex), 0);
		for (unsigned i = 0; i < 4; i++)
			member_start(&members[i], i, time_out, &mutex);
		for (unsigned i = 0; i < 4; i++)
			member_join(&members[i]);
		CU_ASSERT_EQUAL(weft_mutex_unlock(&mutex), 0);
		CU_ASSERT_EQUAL(weft_mutex_destroy(&mutex), 0);
	}
	CU_ASSERT(wefti_slot_limit() - slots <= a_round + spare);
	runtime_end();
}

/*
 * Nor does a mutex that is held for ever collect them. On one VCPU nobody can
 * be stopped while it sweeps, so that the number is certain.
 */

static void *time_out_often(void *arg)
{
	time_out(0, arg);
	return NULL;
}

static void *time_out_once(void *arg)
{
	must(weft_mutex_lock_until(arg, 1) == -ETIMEDOUT);
	return NULL;
}

static void *lock_once(void *arg)
{
	lock_in_line(0, arg);
	return NULL;
}

static void many_time_outs(unsigned policy)
{
	struct line l = { .served = 0 };
	uint64_t waits[8], often[8];
	uint32_t slots;

	must(weft_mutex_init(&l.mutex, policy) == 0);
	CU_ASSERT_EQUAL(weft_mutex_lock(&l.mutex), 0);
	/* The waiting threads stand between those that time out. */
	for (unsigned i = 0; i < 8; i++) {
		often[i] = spawn_with(WEFT_LIGHT, time_out_often, &l.mutex);
		waits[i] = spawn_with(WEFT_LIGHT, lock_once, &l);
	}
	slots = wefti_slot_limit();
	for (unsigned i = 0; i < 8; i++)
		join(often[i]);
	for (size_t i = 0; i < test_scaled(500); i++)
		join(spawn_with(WEFT_LIGHT, time_out_once, &l.mutex));
	CU_ASSERT(wefti_slot_limit() - slots <= 64);
	CU_ASSERT_EQUAL(weft_mutex_unlock(&l.mutex), 0);
	for (unsigned i = 0; i < 8; i++)
		join(waits[i]);
	CU_ASSERT_EQUAL(l.served, 8);
	CU_ASSERT_EQUAL(weft_mutex_destroy(&l.mutex), 0);
}

static void time_outs_of_a_held_mutex_take_no_memory(void)
{
	static const struct weft_options options = { .vcpus = 1 };

	CU_ASSERT_EQUAL_FATAL(weft_start(&options), 0);
	many_time_outs(WEFT_MUTEX_ADAPTIVE);
	many_time_outs(WEFT_MUTEX_STRICT);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(wrong_use_is_refused),
	TEST(a_thread_that_does_not_own_it_is_refused),
	TEST(strict_serves_in_the_order_of_arrival),
	TEST(strict_gives_way_when_heirs_have_lain_about),
	TEST(adaptive_serves_in_order_who_has_waited_long),
	TEST(adaptive_hands_over_to_who_has_waited_long),
	TEST(adaptive_lets_in_one_at_a_time),
	TEST(strict_lets_in_one_at_a_time),
	TEST(adaptive_lets_in_one_at_a_time_in_a_storm_of_time_outs),
	TEST(strict_lets_in_one_at_a_time_in_a_storm_of_time_outs),
	TEST(the_last_who_unlocks_it_may_free_it),
	TEST(unlock_gives_back_the_places_of_those_who_timed_out),
	TEST(time_outs_of_a_held_mutex_take_no_memory),
};

TEST_MAIN("sync/mutex", cases)
