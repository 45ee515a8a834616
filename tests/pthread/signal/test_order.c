/* SPDX-License-Identifier: MIT */
/* test_order.c - a signal before the end of a wait: locks and what is announced */
#include "order.h"

#include "order_locks.h"

#include <setjmp.h>
#include <threads.h>

/* --- locks --------------------------------------------------------- */

static mtx_t c_mutex;

static void lock_in_time(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 100000);

	pthread_mutex_timedlock(&mutex, &at);
	unlock();
}

static void c_lock(void)
{
	mtx_lock(&c_mutex);
}

static void c_unlock(void)
{
	mtx_unlock(&c_mutex);
}

static void c_wait(void)
{
	c_lock();
	c_unlock();
}

/* --- what is announced --------------------------------------------- */

static pthread_once_t once;
static cnd_t c_cond;

static void sem_in_time(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 100000);

	while (sem_timedwait(&posted, &at) != 0)
		;
}

static void wait_told_in_time(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 100000);

	lock();
	while (!is_told)
		pthread_cond_timedwait(&cond, &mutex, &at);
	is_told = 0;
	unlock();
}

static void tell(void)
{
	lock();
	is_told = 1;
	pthread_cond_signal(&cond);
	unlock();
}

static void c_wait_told(void)
{
	c_lock();
	while (!is_told)
		cnd_wait(&c_cond, &c_mutex);
	is_told = 0;
	c_unlock();
}

static void c_tell(void)
{
	c_lock();
	is_told = 1;
	cnd_signal(&c_cond);
	c_unlock();
}

/* The first thread finds it being done. */
static void do_it_once(void)
{
	once = PTHREAD_ONCE_INIT;
	pthread_once(&once, send_in_wait);
}

static void nothing(void)
{
}

static void wait_done(void)
{
	pthread_once(&once, nothing);
}

static void wait_signal(void)
{
	sigset_t set;
	int got;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	while (sigwait(&set, &got) != 0)
		;
}

static void send_signal(void)
{
	pthread_kill(first, SIGUSR2);
}

/* ------------------------------------------------------------------- */

static const struct way ways[] = {
	{ "sem_wait", NULL, wait_post, post },
	{ "sem_timedwait", NULL, sem_in_time, post },
	{ "pthread_mutex_lock", lock, lock_and_unlock, unlock },
	{ "pthread_mutex_timedlock", lock, lock_in_time, unlock },
	{ "a robust mutex", lock_robust, wait_robust, unlock_robust },
	{ "mtx_lock", c_lock, c_wait, c_unlock },
	{ "pthread_rwlock_wrlock", lock_to_write, wait_to_write, rw_unlock },
	{ "pthread_rwlock_rdlock", lock_to_write, wait_to_read, rw_unlock },
	{ "pthread_cond_wait", NULL, wait_told, tell },
	{ "pthread_cond_timedwait", NULL, wait_told_in_time, tell_all },
	{ "cnd_wait", NULL, c_wait_told, c_tell },
	{ "pthread_barrier_wait", NULL, meet, meet },
	{ "pthread_once", do_it_once, wait_done, NULL },
	{ "a futex", NULL, wait_word, set_word },
	{ "sigwait", NULL, wait_signal, send_signal },
};

static void begin(void)
{
	init_objects();
	mtx_init(&c_mutex, mtx_plain);
	cnd_init(&c_cond);
}

static void block(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void a_signal_before_the_end_of_a_wait_is_handled_first(void)
{
	begin();
	block(SIGUSR2);
	waits_asleep = 1;
	go_through_all(ways, sizeof(ways) / sizeof(*ways));
}

static void *send_and_end(void *arg)
{
	(void)arg;
	await_wait();
	pthread_kill(first, SIGUSR1);
	return NULL;
}

static int join_c(pthread_t t)
{
	return thrd_join((thrd_t)t, NULL);
}

static int join(pthread_t t)
{
	return pthread_join(t, NULL);
}

static int join_in_time(pthread_t t)
{
	const struct timespec at = soon(CLOCK_REALTIME, 100000);

	return pthread_timedjoin_np(t, NULL, &at);
}

static void count_late(const char *name, int (*join_it)(pthread_t))
{
	int late = 0;

	for (int i = 0; i < scaled(ROUNDS); i++) {
		if (join_it(start(send_and_end, NULL)) != 0)
			abort();
		late += !handled;
		while (!handled)
			;
		handled = 0;
	}
	printf("%s: late %d\n", name, late);
}

static void a_signal_before_the_end_of_a_thread_is_handled_first(void)
{
	go_through_all(NULL, 0);
	waits_asleep = 1;
	count_late("pthread_join", join);
	count_late("pthread_timedjoin_np", join_in_time);
	count_late("thrd_join", join_c);
}

/* --- jumping out ----------------------------------------------------- */

/* libc's threads may find such an object locked, or never be woken. */
static sigjmp_buf out;

/* Each leaves the object as it was found, which for a semaphore is 0. */
static const struct way takers[] = {
	{ "pthread_mutex_lock", lock, lock_and_unlock, unlock },
	{ "pthread_mutex_timedlock", lock, lock_in_time, unlock },
	{ "a robust mutex", lock_robust, wait_robust, unlock_robust },
	{ "one of processes", lock_shared, wait_shared, unlock_shared },
	{ "mtx_lock", c_lock, c_wait, c_unlock },
	{ "pthread_rwlock_wrlock", lock_to_write, wait_to_write, rw_unlock },
	{ "pthread_rwlock_rdlock", lock_to_write, wait_to_read, rw_unlock },
	{ "sem_wait", NULL, wait_post, post },
	{ "sem_timedwait", NULL, sem_in_time, post },
	{ "one with a ceiling", lock_ceiling, wait_ceiling, unlock_ceiling },
};

static void jump_out(int signal)
{
	(void)signal;
	siglongjmp(out, 1);
}

static void *wait_too(void *way)
{
	((const struct way *)way)->wait();
	return way;
}

static int pause_us;

static void *hold_and_send(void *arg)
{
	const struct way *way = arg;
	pthread_t other;

	if (way->hold)
		way->hold();
	sem_post(&held);
	take(&go_on);
	usleep((useconds_t)pause_us);
	other = start(wait_too, arg);
	usleep((useconds_t)pause_us);
	pthread_kill(first, SIGUSR1);
	way->end();
	finish(other);
	return arg;
}

/* The other one that waits gets it: the thread that jumps out has neither it nor the wake-up. */
static void jump_out_of(const struct way *way)
{
	for (volatile int i = 0; i < scaled(ROUNDS); i++) {
		pthread_t t;

		/* After a millisecond a waiting thread is handed a mutex. */
		pause_us = i % 2 ? 100 : 2000;
		t = start(hold_and_send, (void *)(uintptr_t)way);
		take(&held);
		if (sigsetjmp(out, 1) == 0) {
			sem_post(&go_on);
			way->wait();
			printf("%s: was not told\n", way->name);
			while (1)
				pause();
		}
		finish(t);
	}
	printf("%s: free\n", way->name);
}

static void a_jump_out_of_a_wait_has_taken_nothing(void)
{
	const struct sigaction action = { .sa_handler = jump_out };

	begin();
	first = pthread_self();
	sigaction(SIGUSR1, &action, NULL);
	for (size_t i = 0; i < sizeof(takers) / sizeof(*takers); i++)
		jump_out_of(&takers[i]);
}

static const struct compare_case cases[] = {
	COMPARE(a_signal_before_the_end_of_a_wait_is_handled_first),
	COMPARE(a_signal_before_the_end_of_a_thread_is_handled_first),
	WEFT_ONLY(a_jump_out_of_a_wait_has_taken_nothing,
		  "pthread_mutex_lock: free\n"
		  "pthread_mutex_timedlock: free\n"
		  "a robust mutex: free\n"
		  "one of processes: free\n"
		  "mtx_lock: free\n"
		  "pthread_rwlock_wrlock: free\n"
		  "pthread_rwlock_rdlock: free\n"
		  "sem_wait: free\n"
		  "sem_timedwait: free\n"
		  "one with a ceiling: free\n"),
};

COMPARE_MAIN(cases)
