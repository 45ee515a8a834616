/* SPDX-License-Identifier: MIT */
/*
 * test_rwlock.c - sync/rwlock: which threads are let in, in which order; wrong
 * use
 */
#include "crowd.h"

#include "weft/rwlock.h"

#define THREADS	64

static struct member members[CROWD_MOST];

static void readers_share_and_writers_do_not(void)
{
	struct weft_rwlock lock = WEFT_RWLOCK_INIT;

	CU_ASSERT_EQUAL(weft_rwlock_read(&lock), 0);
	CU_ASSERT_EQUAL(weft_rwlock_try_read(&lock), 0);
	CU_ASSERT_EQUAL(weft_rwlock_try_write(&lock), -EBUSY);
	CU_ASSERT_EQUAL(weft_rwlock_write_until(&lock, WEFT_NO_WAIT), -EBUSY);
	CU_ASSERT_EQUAL(weft_rwlock_destroy(&lock), -EBUSY);
	CU_ASSERT_EQUAL(weft_rwlock_unlock(&lock), 0);
	CU_ASSERT_EQUAL(weft_rwlock_unlock(&lock), 0);
	CU_ASSERT_EQUAL(weft_rwlock_write(&lock), 0);
	CU_ASSERT_EQUAL(weft_rwlock_destroy(&lock), -EBUSY);
	CU_ASSERT_EQUAL(weft_rwlock_unlock(&lock), 0);
	CU_ASSERT_EQUAL(weft_rwlock_try_write(&lock), 0);
	CU_ASSERT_EQUAL(weft_rwlock_unlock(&lock), 0);
	CU_ASSERT_EQUAL(weft_rwlock_destroy(&lock), 0);
}

static void *try_as_another(void *arg)
{
	struct weft_rwlock *lock = arg;

	must(weft_rwlock_unlock(lock) == -EPERM);
	must(weft_rwlock_try_read(lock) == -EBUSY);
	must(weft_rwlock_try_write(lock) == -EBUSY);
	must(weft_rwlock_read_until(lock, weft_clock() + 1000) == -ETIMEDOUT);
	must(weft_rwlock_write_until(lock, 1) == -ETIMEDOUT);
	return NULL;
}

static void wrong_use_is_refused(void)
{
	struct weft_rwlock lock = WEFT_RWLOCK_INIT;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_rwlock_unlock(&lock), -EPERM);
	CU_ASSERT_EQUAL(weft_rwlock_write(&lock), 0);
	CU_ASSERT_EQUAL(weft_rwlock_read(&lock), -EDEADLK);
	CU_ASSERT_EQUAL(weft_rwlock_write(&lock), -EDEADLK);
	CU_ASSERT_EQUAL(weft_rwlock_try_read(&lock), -EDEADLK);
	CU_ASSERT_EQUAL(weft_rwlock_try_write(&lock), -EDEADLK);
	join(spawn(try_as_another, &lock));
	CU_ASSERT_EQUAL(weft_rwlock_unlock(&lock), 0);
	CU_ASSERT_EQUAL(weft_rwlock_unlock(&lock), -EPERM);
	CU_ASSERT_EQUAL(weft_rwlock_destroy(&lock), 0);
	runtime_end();
}

static void more_readers_than_fit_are_refused(void)
{
	struct weft_rwlock lock = WEFT_RWLOCK_INIT;
	uint32_t readers = (1u << 20) - 1;

	for (uint32_t i = 0; i < readers; i++)
		must(weft_rwlock_read(&lock) == 0);
	CU_ASSERT_EQUAL(weft_rwlock_read(&lock), -EAGAIN);
	CU_ASSERT_EQUAL(weft_rwlock_try_read(&lock), -EAGAIN);
	for (uint32_t i = 0; i < readers; i++)
		must(weft_rwlock_unlock(&lock) == 0);
	CU_ASSERT_EQUAL(weft_rwlock_destroy(&lock), 0);
}

static void a_wait_ends_at_its_deadline(void)
{
	struct weft_rwlock lock = WEFT_RWLOCK_INIT;
	int64_t deadline = weft_clock() + 1000000;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_rwlock_read(&lock), 0);
	CU_ASSERT_EQUAL(weft_rwlock_write_until(&lock, deadline), -ETIMEDOUT);
	CU_ASSERT(weft_clock() >= deadline);
	/* Nobody waits any more: readers come in again. */
	CU_ASSERT_EQUAL(weft_rwlock_read_until(&lock, 1), 0);
	CU_ASSERT_EQUAL(weft_rwlock_unlock(&lock), 0);
	CU_ASSERT_EQUAL(weft_rwlock_unlock(&lock), 0);
	CU_ASSERT_EQUAL(weft_rwlock_destroy(&lock), 0);
	runtime_end();
}

/* A queue of readers and writers behind a writer. */

struct queue {
	struct weft_rwlock lock;
	const char *who;		/* 'r' or 'w', in order of arrival */
	_Atomic uint32_t inside, entered, go;
	uint32_t place[CROWD_MOST];
	_Atomic int seen;	/* the writer has waited */
};

static void come_in_turn(unsigned me, void *arg)
{
	struct queue *q = arg;

	if (q->who[me] == 'r')
		must(weft_rwlock_read(&q->lock) == 0);
	else
		must(weft_rwlock_write(&q->lock) == 0);
	q->place[me] = fetch_add_seq_cst(&q->entered, 1);
	fetch_add_seq_cst(&q->inside, 1);
	while (load_seq_cst(&q->go) <= me)
		rest();
	fetch_sub_seq_cst(&q->inside, 1);
	must(weft_rwlock_unlock(&q->lock) == 0);
}

static void until_inside(struct queue *q, uint32_t entered, uint32_t inside)
{
	while (load_seq_cst(&q->entered) != entered ||
	       load_seq_cst(&q->inside) != inside)
		rest();
}

static void neighbours_that_read_enter_together_and_nobody_overtakes(void)
{
	struct queue q = { .who = "rrwrrrw" };

	runtime_begin();
	CU_ASSERT_EQUAL(weft_rwlock_write(&q.lock), 0);
	for (unsigned i = 0; i < 7; i++) {
		member_start(&members[i], i, come_in_turn, &q);
		until_waits_for(&members[i], &q.lock);
	}
	CU_ASSERT_EQUAL(weft_rwlock_unlock(&q.lock), 0);
	until_inside(&q, 2, 2);
	CU_ASSERT_EQUAL(weft_rwlock_try_read(&q.lock), -EBUSY);
	store_seq_cst(&q.go, 2);
	until_inside(&q, 3, 1);
	store_seq_cst(&q.go, 3);
	until_inside(&q, 6, 3);
	store_seq_cst(&q.go, 6);
	until_inside(&q, 7, 1);
	CU_ASSERT_EQUAL(q.place[2], 2);
	CU_ASSERT_EQUAL(q.place[6], 6);
	store_seq_cst(&q.go, 7);
	for (unsigned i = 0; i < 7; i++)
		member_join(&members[i]);
	CU_ASSERT_EQUAL(weft_rwlock_destroy(&q.lock), 0);
	runtime_end();
}

static void give_up_writing(unsigned me, void *arg)
{
	struct queue *q = arg;

	(void)me;
	/* Seen waiting by then, but for a machine that is busy elsewhere. */
	do
		must(weft_rwlock_write_until(&q->lock, weft_clock() +
					     30000000) == -ETIMEDOUT);
	while (!load_seq_cst(&q->seen));
}

static void a_reader_behind_a_writer_that_gives_up_is_let_in(void)
{
	static struct member writer;
	struct queue q = { .who = "rr" };

	runtime_begin();
	CU_ASSERT_EQUAL(weft_rwlock_read(&q.lock), 0);
	member_start(&writer, 0, give_up_writing, &q);
	until_waits_for(&writer, &q.lock);
	store_seq_cst(&q.seen, 1);
	for (unsigned i = 0; i < 2; i++)
		member_start(&members[i], i, come_in_turn, &q);
	/* Beside us, as soon as the writer has gone. */
	until_inside(&q, 2, 2);
	store_seq_cst(&q.go, 2);
	member_join(&writer);
	for (unsigned i = 0; i < 2; i++)
		member_join(&members[i]);
	CU_ASSERT_EQUAL(weft_rwlock_unlock(&q.lock), 0);
	CU_ASSERT_EQUAL(weft_rwlock_destroy(&q.lock), 0);
	runtime_end();
}

/* Readers never see half of a write. */

struct ledger {
	struct weft_rwlock lock;
	uint64_t debit, credit;		/* under lock */
	size_t rounds;
	int timed;
	_Atomic uint64_t written;
};

static int enter(struct ledger *l, int to_write, uint64_t *seed)
{
	int error;

	if (!l->timed)
		error = to_write ? weft_rwlock_write(&l->lock) :
				   weft_rwlock_read(&l->lock);
	else
		error = to_write ?
			weft_rwlock_write_until(&l->lock, soon(seed)) :
			weft_rwlock_read_until(&l->lock, soon(seed));
	must(error == 0 || (l->timed && error == -ETIMEDOUT));
	return error == 0;
}

static void keep_books(unsigned me, void *arg)
{
	struct ledger *l = arg;
	uint64_t seed = test_seed(me);

	for (size_t i = 0; i < l->rounds; i++) {
		int to_write = test_random_below(&seed, 4) == 0;

		if (!enter(l, to_write, &seed))
			continue;
		if (to_write) {
			l->debit++;
			dither(&seed);
			l->credit++;
			fetch_add_relaxed(&l->written, 1);
		} else {
			must(l->debit == l->credit);
			dither(&seed);
			must(l->debit == l->credit);
		}
		must(weft_rwlock_unlock(&l->lock) == 0);
	}
}

static void books_are_kept(struct ledger *l)
{
	runtime_begin();
	crowd_run(THREADS, keep_books, l);
	CU_ASSERT_EQUAL(l->debit, load_seq_cst(&l->written));
	CU_ASSERT_EQUAL(l->credit, l->debit);
	CU_ASSERT_EQUAL(weft_rwlock_destroy(&l->lock), 0);
	runtime_end();
}

static void nobody_reads_while_one_writes(void)
{
	struct ledger l = { .rounds = test_scaled(500) };

	books_are_kept(&l);
}

static void nobody_reads_while_one_writes_in_a_storm_of_time_outs(void)
{
	struct ledger l = { .rounds = test_scaled(500), .timed = 1 };

	books_are_kept(&l);
}

/* The last to unlock it frees it. */

struct shared {
	struct weft_rwlock lock;
	int counted;			/* under lock */
};

static void *use_and_free(void *arg)
{
	struct shared *s = arg;
	int last;

	must(weft_rwlock_write(&s->lock) == 0);
	last = --s->counted == 0;
	must(weft_rwlock_unlock(&s->lock) == 0);
	if (last) {
		poison(s, sizeof(*s));
		weft_yield();
		must(is_poisoned(s, sizeof(*s)));
		free(s);
	}
	return NULL;
}

static void the_last_who_unlocks_it_may_free_it(void)
{
	runtime_begin();
	for (size_t i = 0; i < test_scaled(1000); i++) {
		struct shared *s = calloc(1, sizeof(*s));
		uint64_t id[4];

		must(s);
		s->counted = 4;
		for (int k = 0; k < 4; k++)
			id[k] = spawn_with(k % 2 ? WEFT_LIGHT : 0,
					   use_and_free, s);
		for (int k = 0; k < 4; k++)
			join(id[k]);
	}
	runtime_end();
}

static void time_out_often(unsigned me, void *arg)
{
	struct weft_rwlock *lock = arg;

	for (size_t i = 0; i < test_scaled(50000) / 16; i++)
		must((me % 2 ? weft_rwlock_write_until(lock, 1) :
		      weft_rwlock_read_until(lock, 1)) == -ETIMEDOUT);
}

static void many_time_outs_leave_memory_bounded(void)
{
	struct weft_rwlock lock = WEFT_RWLOCK_INIT;
	uint32_t slots;

	runtime_begin();
	slots = wefti_slot_limit();
	CU_ASSERT_EQUAL(weft_rwlock_write(&lock), 0);
	for (unsigned i = 0; i < 16; i++)
		member_start(&members[i], i, time_out_often, &lock);
	for (unsigned i = 0; i < 16; i++)
		member_join(&members[i]);
	CU_ASSERT_EQUAL(weft_rwlock_unlock(&lock), 0);
	CU_ASSERT(wefti_slot_limit() - slots <= 4 * 64);
	CU_ASSERT_EQUAL(weft_rwlock_destroy(&lock), 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(readers_share_and_writers_do_not),
	TEST(wrong_use_is_refused),
	TEST(more_readers_than_fit_are_refused),
	TEST(a_wait_ends_at_its_deadline),
	TEST(neighbours_that_read_enter_together_and_nobody_overtakes),
	TEST(a_reader_behind_a_writer_that_gives_up_is_let_in),
	TEST(nobody_reads_while_one_writes),
	TEST(nobody_reads_while_one_writes_in_a_storm_of_time_outs),
	TEST(the_last_who_unlocks_it_may_free_it),
	TEST(many_time_outs_leave_memory_bounded),
};

TEST_MAIN("sync/rwlock", cases)
