/* SPDX-License-Identifier: MIT */
/* steer.c - a victim is stopped in a call, and what steers all that */
#include "steer.h"

#include <pthread.h>
#include <time.h>

#include "thread/bare.h"
#include "thread/wait.h"

#define VCPUS		3
#define FRESH		4
#define ROUNDS		20
#define EVERY_STEP	40

void stall_nap(void)
{
	const struct timespec t = { 0, 200000 };

	nanosleep(&t, NULL);
}

void stall_await_parked(uint64_t id)
{
	must(wefti_thread_find(id) != NULL);
	while (!is_parked(id))
		stall_nap();
}

int stall_await_stop(struct stall_victim *v)
{
	size_t seen = 0;

	while (!load_seq_cst(&v->begun))
		stall_nap();
	for (int quiet = 0; quiet < 10; stall_nap()) {
		if (steps_stopped())
			return 1;
		if (load_seq_cst(&v->returned))
			break;
		quiet = is_parked(v->id) && steps_taken() == seen ?
			quiet + 1 : 0;
		seen = steps_taken();
	}
	steps_end();
	return steps_stopped();
}

size_t stall_next_step(size_t n, uint64_t *random)
{
	if (n < test_scaled(EVERY_STEP))
		return n + 1;
	return n + 1 + test_random_below(random, n);
}

void stall_steer_on(unsigned vcpus, void *(*fn)(void *arg), void *arg)
{
	const struct weft_options options = { .vcpus = vcpus, .slice_ns = -1 };
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(weft_start(&options), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, fn, arg), 0);
	weft_block_begin();
	pthread_join(thread, NULL);
	weft_block_end();
	runtime_end();
}

void stall_steer(void *(*fn)(void *arg), void *arg)
{
	stall_steer_on(VCPUS, fn, arg);
}

void stall_all_end(void *(*fn)(void *arg), void *arg)
{
	uint64_t id[FRESH];

	for (int i = 0; i < FRESH; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, fn, arg);
	for (int i = 0; i < FRESH; i++)
		join(id[i]);
}

static void *give_back(void *arg)
{
	return arg;
}

static void *park_for_ever(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)weft_sleep_until(WEFT_FOREVER);
}

/* Two threads meet at each kind of object. */
struct meeting {
	struct weft_mutex mutex;
	struct weft_cond cond;
	struct weft_sem sem;
	struct weft_rwlock rwlock;
	struct weft_barrier barrier;
	int come;
};

static void *meet(void *arg)
{
	struct meeting *m = arg;

	must(weft_mutex_lock(&m->mutex) == 0);
	m->come++;
	must(weft_cond_signal(&m->cond) == 0);
	must(weft_mutex_unlock(&m->mutex) == 0);
	must(weft_sem_post(&m->sem) == 0);
	must(weft_rwlock_write(&m->rwlock) == 0);
	weft_yield();
	must(weft_rwlock_unlock(&m->rwlock) == 0);
	must(weft_barrier_wait(&m->barrier) >= 0);
	return arg;
}

static void be_met(struct meeting *m)
{
	uint64_t id;

	must(weft_barrier_init(&m->barrier, 2) == 0);
	must(weft_mutex_lock(&m->mutex) == 0);
	id = spawn(meet, m);
	while (!m->come)
		must(weft_cond_wait(&m->cond, &m->mutex) == 0);
	must(weft_mutex_unlock(&m->mutex) == 0);
	must(weft_sem_wait(&m->sem) == 0);
	must(weft_rwlock_read(&m->rwlock) == 0);
	must(weft_rwlock_unlock(&m->rwlock) == 0);
	must(weft_barrier_wait(&m->barrier) >= 0);
	must(join(id) == m);
}

void *stall_probe(void *arg)
{
	for (size_t i = 0; i < test_scaled(ROUNDS); i++) {
		struct meeting own = { .come = 0 };
		uint64_t id;

		must(weft_mutex_lock(&own.mutex) == 0);
		must(weft_mutex_try_lock(&own.mutex) == -EBUSY);
		weft_yield();
		must(weft_mutex_unlock(&own.mutex) == 0);
		id = spawn_with(i % 2 ? WEFT_LIGHT : 0, give_back, &own);
		must(join(id) == &own);
		id = spawn_with(i % 2 ? WEFT_LIGHT : 0, park_for_ever, NULL);
		weft_yield();
		must(weft_cancel(id) == 0);
		must((intptr_t)join(id) == -ECANCELED);
		if (i % 4 == 0)
			be_met(&own);
	}
	return arg;
}
