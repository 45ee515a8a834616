/* SPDX-License-Identifier: MIT */
/*
 * rwlock.c - scenarios: sync/rwlock.c
 *
 * Readers read what the lock protects, writers write it. loom.sh marks the
 * fields of the server besides. The last thread that has the lock frees it.
 */
#include "listed.h"

#include "weft/rwlock.h"

static struct weft_rwlock lock;
static char shared;

/* As in sync/rwlock.c. */
static struct {
	struct wefti_waitlist list;
	_Atomic(struct wefti_thread *) owner;
	uint32_t readers, writing;
} *l = (void *)&lock;

static void init(void)
{
	init_threads();
	lock = (struct weft_rwlock){ { 0 } };
	store_relaxed(&l->list.word, (uint64_t)0);
	store_relaxed(&l->owner, NULL);
	m_data_write(&lock);
	m_data_write(&l->readers);
	m_data_write(&shared);
}

/* By thread 0. */
static void init_read(void)
{
	init();
	m_check(weft_rwlock_read(&lock) == 0);
}

static void init_written(void)
{
	init();
	m_check(weft_rwlock_write(&lock) == 0);
}

static void unlock(void)
{
	m_check(weft_rwlock_unlock(&lock) == 0);
}

static void unlock_written(void)
{
	m_data_write(&shared);
	unlock();
}

static void unlock_read(void)
{
	m_data_read(&shared);
	unlock();
}

static void read_it(void)
{
	m_check(weft_rwlock_read(&lock) == 0);
	unlock_read();
}

static void write_it(void)
{
	m_check(weft_rwlock_write(&lock) == 0);
	unlock_written();
}

static void write_twice(void)
{
	write_it();
	write_it();
}

/* Nobody else has it, or comes. */
static void write_and_free(void)
{
	write_it();
	m_data_write(&lock);
	m_data_write(&l->readers);
}

static void write_in_time(void)
{
	int error = weft_rwlock_write_until(&lock, LATER);

	m_check(error == 0 || error == -ETIMEDOUT);
	if (!error)
		unlock_written();
}

static void destroy(void)
{
	if (weft_rwlock_destroy(&lock) == 0)
		m_data_write(&shared);
}

static void check(void)
{
	m_check(load_relaxed(&l->list.word) == 0);
	m_check(weft_rwlock_destroy(&lock) == 0);
	check_nodes();
	m_data_write(&shared);
}

/* A reader has had it all the time, so that no writer could. */
static void check_read(void)
{
	unlock();
	check();
}

SCENARIO(rwlock_write) = { init, { write_twice, write_it }, check };
SCENARIO(rwlock_read) = { init, { write_it, read_it }, check };
SCENARIO(rwlock_readers) = { init_written, { unlock_written, read_it, read_it }, check };
SCENARIO(rwlock_writers) = { init_written, { unlock_written, write_it, write_it }, check };
/* An unlock meets the server. */
SCENARIO(rwlock_request) = { init_read, { unlock_read, write_it }, check };
SCENARIO(rwlock_turns) = { init_read, { unlock_read, write_it, read_it }, check };
SCENARIO(rwlock_free) = { init_written, { unlock_written, write_and_free }, check };
SCENARIO(rwlock_destroy) = { init_written, { unlock_written, destroy }, check };
SCENARIO(rwlock_timed) = { init_read, { write_in_time, unlock_read, clock }, check };
SCENARIO(rwlock_timed_out) = {
	init_read, { write_in_time, read_it, clock_surely }, check_read,
};
