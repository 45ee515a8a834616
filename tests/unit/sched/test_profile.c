/* SPDX-License-Identifier: MIT */
/*
 * test_profile.c - SIGPROF, ten thousand times a second, over what weft's threads call
 *
 * The handler posts a semaphore, reads the clock and walks the stack, whatever it has
 * interrupted, the runtime's own code too.
 */
#include "threads.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "lockfree/atomic.h"
#include "weft/barrier.h"
#include "weft/chan.h"
#include "weft/io.h"
#include "weft/key.h"
#include "weft/rwlock.h"
#include "weft/sem.h"

#define THREADS		4
#define EVERY_NS	100000
#define CALLS		10000	/* of each thread */
#define DEEP		16

static _Atomic size_t posted, taken;
static _Atomic int stop;
static struct weft_sem profile;
static struct weft_mutex mutex;
static struct weft_cond cond;
static struct weft_rwlock rwlock;
static struct weft_barrier barrier;
static struct weft_chan *rendezvous, *buffered;
static unsigned key;
static size_t counted;

static void on_profile(int signal)
{
	const int saved = errno;

	(void)signal;
	must(weft_clock() > 0);
#if !defined(TEST_IS_SANITIZED)
	void *frames[DEEP];

	(void)!backtrace(frames, DEEP);
#endif
	fetch_add_seq_cst(&posted, 1);
	weft_sem_post(&profile);
	errno = saved;
}

static void *take_all(void *arg)
{
	while (!load_seq_cst(&stop) ||
	       load_seq_cst(&taken) < load_seq_cst(&posted))
		if (weft_sem_wait(&profile) == 0)
			fetch_add_seq_cst(&taken, 1);
	return arg;
}

static void *give_back(void *arg)
{
	return arg;
}

static void spawn_and_join(void)
{
	uint64_t id;
	void *result = NULL;

	must(weft_spawn(&id, NULL, give_back, &key) == 0);
	must(weft_join(id, &result) == 0 && result == &key);
}

static void spawn_and_detach(void)
{
	uint64_t id;

	must(weft_spawn(&id, NULL, give_back, NULL) == 0);
	must(weft_detach(id) == 0);
}

static void *wait_for_ever(void *arg)
{
	weft_sleep_until(WEFT_FOREVER);
	return arg;
}

static void spawn_and_cancel(void)
{
	uint64_t id;

	must(weft_spawn(&id, NULL, wait_for_ever, NULL) == 0);
	must(weft_cancel(id) == 0);
	must(weft_join(id, NULL) == 0);
}

static void lock_all(void)
{
	must(weft_mutex_lock(&mutex) == 0);
	counted++;
	must(weft_mutex_unlock(&mutex) == 0);
	must(weft_rwlock_read(&rwlock) == 0);
	must(weft_rwlock_unlock(&rwlock) == 0);
	must(weft_rwlock_write(&rwlock) == 0);
	must(weft_rwlock_unlock(&rwlock) == 0);
}

static void signal_and_wait(void)
{
	int error;

	must(weft_mutex_lock(&mutex) == 0);
	weft_cond_signal(&cond);
	error = weft_cond_wait_until(&cond, &mutex, weft_clock() + 100000);
	must(error == 0 || error == -ETIMEDOUT);
	weft_cond_broadcast(&cond);
	must(weft_mutex_unlock(&mutex) == 0);
}

static void post_and_take(void)
{
	struct weft_sem sem = WEFT_SEM_INIT;

	must(weft_sem_post(&sem) == 0);
	must(weft_sem_wait(&sem) == 0);
	must(weft_sem_try_wait(&sem) == -EAGAIN);
	must(weft_sem_destroy(&sem) == 0);
}

static void let_time_pass(void)
{
	must(weft_sleep(20000) == 0);
	weft_yield();
	must(weft_key_set(key, &key) == 0 && weft_key_get(key) == &key);
}

static void *receive(void *chan)
{
	int got = 0;

	must(weft_chan_recv(chan, &got, WEFT_FOREVER) == 0 && got == 1);
	return NULL;
}

static void send_and_receive(struct weft_chan *chan)
{
	const int one = 1;
	uint64_t id;

	must(weft_spawn(&id, NULL, receive, chan) == 0);
	must(weft_chan_send(chan, &one, WEFT_FOREVER) == 0);
	must(weft_join(id, NULL) == 0);
}

static void meet_in_channel(void)
{
	send_and_receive(rendezvous);
}

static void send_buffered(void)
{
	send_and_receive(buffered);
}

static void use_pipe(void)
{
	int fd[2];
	char c = 'x';

	must(weft_pipe(fd, 0) == 0);
	must(weft_write(fd[1], &c, 1) == 1);
	must(weft_wait_fd(fd[0], POLLIN, WEFT_FOREVER) >= 0);
	must(weft_read(fd[0], &c, 1) == 1);
	must(weft_close(fd[0]) == 0 && weft_close(fd[1]) == 0);
}

static void *meet(void *arg)
{
	must(weft_barrier_wait(arg) >= 0);
	return NULL;
}

static void meet_all(void)
{
	struct weft_barrier two;
	uint64_t id;

	must(weft_barrier_init(&two, 2) == 0);
	must(weft_spawn(&id, NULL, meet, &two) == 0);
	meet(&two);
	must(weft_join(id, NULL) == 0);
	must(weft_barrier_destroy(&two) == 0);
}

static void *call_all(void *seed)
{
	static void (*const calls[])(void) = {
		spawn_and_join, spawn_and_detach, spawn_and_cancel, lock_all,
		signal_and_wait, post_and_take, let_time_pass, meet_in_channel,
		send_buffered, use_pipe, meet_all,
	};
	uint32_t x = (uint32_t)(uintptr_t)seed * 2654435761u;

	for (size_t i = 0; i < test_scaled(CALLS); i++) {
		x = x * 1664525 + 1013904223;
		calls[(x >> 8) % (sizeof(calls) / sizeof(*calls))]();
	}
	meet(&barrier);
	return NULL;
}

static timer_t begin_profile(void)
{
	const struct sigaction action = { .sa_handler = on_profile,
					  .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGPROF };
	const struct itimerspec every = { { 0, EVERY_NS }, { 0, EVERY_NS } };
	timer_t timer;

	sigaction(SIGPROF, &action, NULL);
	CU_ASSERT_EQUAL_FATAL(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	CU_ASSERT_EQUAL_FATAL(timer_settime(timer, 0, &every, NULL), 0);
	return timer;
}

static void handlers_run_on_top_of_all(void)
{
	uint64_t taker, id[THREADS];
	void *frames[DEEP];
	timer_t timer;

	(void)!backtrace(frames, DEEP);		/* loads what it needs */
	runtime_begin();
	CU_ASSERT_EQUAL(weft_key_create(&key, NULL), 0);
	CU_ASSERT_EQUAL(weft_barrier_init(&barrier, THREADS), 0);
	CU_ASSERT_EQUAL(weft_chan_create(&rendezvous, sizeof(int), 0, 0), 0);
	CU_ASSERT_EQUAL(weft_chan_create(&buffered, sizeof(int), 8, 0), 0);
	CU_ASSERT_EQUAL(weft_spawn(&taker, NULL, take_all, NULL), 0);
	timer = begin_profile();
	for (size_t i = 0; i < THREADS; i++)
		CU_ASSERT_EQUAL(weft_spawn(&id[i], NULL, call_all,
					   (void *)(i + 1)), 0);
	for (size_t i = 0; i < THREADS; i++)
		CU_ASSERT_EQUAL(weft_join(id[i], NULL), 0);
	timer_delete(timer);
	fetch_add_seq_cst(&posted, 1);
	store_seq_cst(&stop, 1);
	weft_sem_post(&profile);
	CU_ASSERT_EQUAL(weft_join(taker, NULL), 0);
	/* A signal may still have come since. */
	while (load_seq_cst(&taken) < load_seq_cst(&posted))
		if (weft_sem_try_wait(&profile) == 0)
			fetch_add_seq_cst(&taken, 1);
		else
			weft_yield();
	CU_ASSERT(load_seq_cst(&posted) > 1);
	CU_ASSERT_EQUAL(load_seq_cst(&taken), load_seq_cst(&posted));
	weft_chan_destroy(rendezvous);
	weft_chan_destroy(buffered);
	CU_ASSERT_EQUAL(weft_wait_all(WEFT_FOREVER), 0);	/* one was detached */
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(handlers_run_on_top_of_all),
};

TEST_MAIN("sched/profile", cases)
