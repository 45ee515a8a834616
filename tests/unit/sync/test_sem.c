/* SPDX-License-Identifier: MIT */
/* test_sem.c - sync/sem: counts, order, time-outs, cancellation, its end */
#include "crowd.h"

#define THREADS	64

static void the_value_is_what_was_posted_and_not_taken(void)
{
	struct weft_sem sem;

	CU_ASSERT_EQUAL(weft_sem_init(&sem, 2), 0);
	CU_ASSERT_EQUAL(weft_sem_value(&sem), 2);
	CU_ASSERT_EQUAL(weft_sem_wait(&sem), 0);
	CU_ASSERT_EQUAL(weft_sem_try_wait(&sem), 0);
	CU_ASSERT_EQUAL(weft_sem_value(&sem), 0);
	CU_ASSERT_EQUAL(weft_sem_try_wait(&sem), -EAGAIN);
	CU_ASSERT_EQUAL(weft_sem_wait_until(&sem, WEFT_NO_WAIT), -EAGAIN);
	CU_ASSERT_EQUAL(weft_sem_post(&sem), 0);
	CU_ASSERT_EQUAL(weft_sem_wait_until(&sem, WEFT_FOREVER), 0);
	CU_ASSERT_EQUAL(weft_sem_destroy(&sem), 0);
}

static void a_value_over_the_maximum_is_refused(void)
{
	struct weft_sem sem;

	CU_ASSERT_EQUAL(weft_sem_init(&sem, WEFT_SEM_MAX + 1u), -EINVAL);
	CU_ASSERT_EQUAL(weft_sem_init(&sem, WEFT_SEM_MAX), 0);
	CU_ASSERT_EQUAL(weft_sem_post(&sem), -EOVERFLOW);
	CU_ASSERT_EQUAL(weft_sem_value(&sem), WEFT_SEM_MAX);
	CU_ASSERT_EQUAL(weft_sem_try_wait(&sem), 0);
	CU_ASSERT_EQUAL(weft_sem_post(&sem), 0);
}

static void zero_filled_is_valid(void)
{
	struct weft_sem sem = WEFT_SEM_INIT;

	CU_ASSERT_EQUAL(weft_sem_value(&sem), 0);
	CU_ASSERT_EQUAL(weft_sem_try_wait(&sem), -EAGAIN);
}

static void a_wait_ends_at_its_deadline_and_takes_nothing(void)
{
	struct weft_sem sem = WEFT_SEM_INIT;
	int64_t deadline = weft_clock() + 1000000;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_sem_wait_until(&sem, deadline), -ETIMEDOUT);
	CU_ASSERT(weft_clock() >= deadline);
	CU_ASSERT_EQUAL(weft_sem_wait_until(&sem, 1), -ETIMEDOUT);
	CU_ASSERT_EQUAL(weft_sem_destroy(&sem), 0);
	CU_ASSERT_EQUAL(weft_sem_post(&sem), 0);
	CU_ASSERT_EQUAL(weft_sem_value(&sem), 1);
	CU_ASSERT_EQUAL(weft_sem_wait_until(&sem, 1), 0);
	runtime_end();
}

/* Waiters are served in the order in which they came. */

struct line {
	struct weft_sem sem;
	_Atomic uint32_t served;
	uint32_t place[CROWD_MOST];
};

static void wait_in_line(unsigned me, void *arg)
{
	struct line *l = arg;

	must(weft_sem_wait(&l->sem) == 0);
	l->place[me] = load_seq_cst(&l->served);
	fetch_add_seq_cst(&l->served, 1);
}

static void waiters_are_served_first_come_first_served(void)
{
	static struct member members[8];
	struct line l = { .sem = WEFT_SEM_INIT };

	runtime_begin();
	for (unsigned i = 0; i < 8; i++) {
		member_start(&members[i], i, wait_in_line, &l);
		until_waits_for(&members[i], &l.sem);
	}
	CU_ASSERT_EQUAL(weft_sem_destroy(&l.sem), -EBUSY);
	CU_ASSERT_EQUAL(weft_sem_value(&l.sem), 0);
	CU_ASSERT_EQUAL(weft_sem_try_wait(&l.sem), -EAGAIN);
	for (unsigned i = 0; i < 8; i++) {
		CU_ASSERT_EQUAL(weft_sem_post(&l.sem), 0);
		/* The next post must not overtake this one's thread. */
		while (load_seq_cst(&l.served) <= i)
			rest();
		CU_ASSERT_EQUAL(l.place[i], i);
	}
	for (unsigned i = 0; i < 8; i++)
		member_join(&members[i]);
	CU_ASSERT_EQUAL(weft_sem_destroy(&l.sem), 0);
	runtime_end();
}

/* Cancellation. */

struct cancelled {
	struct weft_sem sem;
	_Atomic int result;
};

static void wait_cancelled(unsigned me, void *arg)
{
	struct cancelled *c = arg;

	(void)me;
	must(weft_sem_wait(&c->sem) == -ECANCELED);
	/* Also when there is something to take. */
	must(weft_sem_post(&c->sem) == 0);
	must(weft_sem_wait(&c->sem) == -ECANCELED);
	must(weft_sem_try_wait(&c->sem) == -ECANCELED);
	weft_cancel_hold();
	must(weft_sem_wait(&c->sem) == 0);
	must(weft_sem_wait_until(&c->sem, weft_clock() + 1000) == -ETIMEDOUT);
	weft_cancel_release();
}

static void a_cancelled_wait_takes_nothing(void)
{
	static struct member m;
	struct cancelled c = { .sem = WEFT_SEM_INIT };

	runtime_begin();
	for (unsigned kind = 0; kind < 2; kind++) {
		member_start(&m, kind, wait_cancelled, &c);
		until_waits_for(&m, &c.sem);
		CU_ASSERT_EQUAL(weft_cancel(m.id), 0);
		member_join(&m);
		CU_ASSERT_EQUAL(weft_sem_destroy(&c.sem), 0);
	}
	runtime_end();
}

/* What is posted is taken, once. */

struct traffic {
	struct weft_sem sem;
	size_t rounds;
	int timed;
	_Atomic uint64_t posted, taken;
};

static void post_and_take(unsigned me, void *arg)
{
	struct traffic *t = arg;
	uint64_t seed = test_seed(me), posted = 0, taken = 0;

	for (size_t i = 0; i < t->rounds; i++) {
		/* As many posts as waits, so that no wait is left alone. */
		must(weft_sem_post(&t->sem) == 0);
		posted++;
		dither(&seed);
		if (!t->timed) {
			must(weft_sem_wait(&t->sem) == 0);
			taken++;
		} else {
			int error = weft_sem_wait_until(&t->sem, soon(&seed));

			must(error == 0 || error == -ETIMEDOUT);
			taken += error == 0;
			if (error == 0 && test_random_below(&seed, 2))
				taken += weft_sem_try_wait(&t->sem) == 0;
		}
	}
	fetch_add_seq_cst(&t->posted, posted);
	fetch_add_seq_cst(&t->taken, taken);
}

static void tokens_are_neither_lost_nor_doubled(void)
{
	struct traffic t = { .rounds = test_scaled(2000) };

	runtime_begin();
	crowd_run(THREADS, post_and_take, &t);
	CU_ASSERT_EQUAL(load_seq_cst(&t.posted), load_seq_cst(&t.taken));
	CU_ASSERT_EQUAL(weft_sem_value(&t.sem), 0);
	CU_ASSERT_EQUAL(weft_sem_destroy(&t.sem), 0);
	runtime_end();
}

static void tokens_survive_a_storm_of_time_outs(void)
{
	struct traffic t = { .rounds = test_scaled(1000), .timed = 1 };

	runtime_begin();
	crowd_run(32, post_and_take, &t);
	CU_ASSERT_EQUAL(load_seq_cst(&t.posted),
			load_seq_cst(&t.taken) + weft_sem_value(&t.sem));
	CU_ASSERT_EQUAL(weft_sem_destroy(&t.sem), 0);
	runtime_end();
}

/* Waits that a post, a time-out and a cancellation race for: few tokens. */

struct race {
	struct weft_sem sem;
	_Atomic uint32_t taken;
	_Atomic uint32_t stop;
};

static void *take_or_end(void *arg)
{
	struct race *r = arg;
	uint64_t seed = test_seed((uint64_t)(uintptr_t)&seed);
	int error;

	do {
		error = weft_sem_wait_until(&r->sem, soon(&seed));
		if (error == 0)
			fetch_add_seq_cst(&r->taken, 1);
	} while (error != -ECANCELED);
	return NULL;
}

static void cancellation_races_with_posts_and_deadlines(void)
{
	struct race r = { .sem = WEFT_SEM_INIT };
	uint64_t seed = test_seed(7), id[16];
	uint32_t posted = 0;

	runtime_begin();
	for (size_t round = 0; round < test_scaled(200); round++) {
		for (int i = 0; i < 16; i++)
			id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, take_or_end,
					   &r);
		for (int i = 0; i < 16; i++) {
			must(weft_sem_post(&r.sem) == 0);
			posted++;
			dither(&seed);
			must(weft_cancel(id[i]) == 0);
		}
		for (int i = 0; i < 16; i++)
			join(id[i]);
	}
	CU_ASSERT_EQUAL(posted, load_seq_cst(&r.taken) +
			weft_sem_value(&r.sem));
	CU_ASSERT_EQUAL(weft_sem_destroy(&r.sem), 0);
	runtime_end();
}

/* The waiter ends the semaphore as soon as its wait has returned. */

struct brief {
	_Atomic(struct weft_sem *) sem;
	_Atomic uint32_t stop;
};

static void *post_once_each(void *arg)
{
	struct brief *b = arg;
	struct weft_sem *sem;

	while (!load_seq_cst(&b->stop)) {
		sem = xchg_seq_cst(&b->sem, NULL);
		if (sem)
			must(weft_sem_post(sem) == 0);
		else
			weft_yield();
	}
	return NULL;
}

static void brief_life(unsigned foreign)
{
	struct brief b = { .stop = 0 };
	uint64_t id = 0;
	pthread_t kthread;

	if (foreign)
		must(pthread_create(&kthread, NULL, post_once_each, &b) == 0);
	else
		id = spawn(post_once_each, &b);
	for (size_t i = 0; i < test_scaled(foreign ? 200 : 5000); i++) {
		struct weft_sem *sem = calloc(1, sizeof(*sem));

		must(sem);
		store_seq_cst(&b.sem, sem);
		must(weft_sem_wait(sem) == 0);
		poison(sem, sizeof(*sem));
		if (i % 8 == 0)
			weft_yield();
		must(is_poisoned(sem, sizeof(*sem)));
		free(sem);
	}
	store_seq_cst(&b.stop, 1);
	if (foreign)
		must(pthread_join(kthread, NULL) == 0);
	else
		join(id);
}

static void the_waiter_may_free_it_when_its_wait_has_returned(void)
{
	runtime_begin();
	brief_life(0);
	brief_life(1);
	runtime_end();
}

/* What times out leaves nothing behind. */

static void time_out_often(unsigned me, void *arg)
{
	struct weft_sem *sem = arg;

	(void)me;
	for (size_t i = 0; i < test_scaled(100000) / 32; i++)
		must(weft_sem_wait_until(sem, 1) == -ETIMEDOUT);
}

static void many_time_outs_leave_memory_bounded(void)
{
	static struct member stay[3];
	struct line l = { .sem = WEFT_SEM_INIT };
	uint32_t slots;

	runtime_begin();
	for (unsigned i = 0; i < 3; i++) {
		member_start(&stay[i], i, wait_in_line, &l);
		until_waits_for(&stay[i], &l.sem);
	}
	slots = wefti_slot_limit();
	crowd_run(32, time_out_often, &l.sem);
	/* The crowd's own, and as many stale ones as threads that wait. */
	CU_ASSERT(wefti_slot_limit() - slots <= 4 * 64);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(weft_sem_post(&l.sem), 0);
	for (unsigned i = 0; i < 3; i++)
		member_join(&stay[i]);
	CU_ASSERT_EQUAL(weft_sem_value(&l.sem), 0);
	CU_ASSERT_EQUAL(weft_sem_destroy(&l.sem), 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(the_value_is_what_was_posted_and_not_taken),
	TEST(a_value_over_the_maximum_is_refused),
	TEST(zero_filled_is_valid),
	TEST(a_wait_ends_at_its_deadline_and_takes_nothing),
	TEST(waiters_are_served_first_come_first_served),
	TEST(a_cancelled_wait_takes_nothing),
	TEST(tokens_are_neither_lost_nor_doubled),
	TEST(tokens_survive_a_storm_of_time_outs),
	TEST(cancellation_races_with_posts_and_deadlines),
	TEST(the_waiter_may_free_it_when_its_wait_has_returned),
	TEST(many_time_outs_leave_memory_bounded),
};

TEST_MAIN("sync/sem", cases)
