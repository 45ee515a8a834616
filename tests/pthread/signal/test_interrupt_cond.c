/* SPDX-License-Identifier: MIT */
/* test_interrupt_cond.c - a handler ends no wait for a condition variable or a lock */
#include "compare.h"

#include "interrupt_cond.h"

/* --- which waits go on --------------------------------------------- */

static int by_cond(void)
{
	return pthread_cond_wait(&at->cond, &at->mutex);
}

static int by_the_day(void)
{
	struct timespec end = soon(CLOCK_REALTIME, 1000000);

	return pthread_cond_timedwait(&at->cond, &at->mutex, &end);
}

static int by_a_clock(void)
{
	struct timespec end = soon(CLOCK_MONOTONIC, 1000000);

	return pthread_cond_clockwait(&at->cond, &at->mutex, CLOCK_MONOTONIC, &end);
}

static int by_c11(void)
{
	return cnd_wait((cnd_t *)&at->cond, (mtx_t *)&at->mutex);
}

static int under_mutex(int (*wait)(void))
{
	int error;

	pthread_mutex_lock(&at->mutex);
	sem_post(&begun);
	error = wait();
	is_held = pthread_mutex_trylock(&at->mutex) == EBUSY;
	pthread_mutex_unlock(&at->mutex);
	return error;
}

static int cond_wait(void)
{
	return under_mutex(by_cond);
}

static int cond_timedwait(void)
{
	return under_mutex(by_the_day);
}

static int cond_clockwait(void)
{
	return under_mutex(by_a_clock);
}

static int c11_wait(void)
{
	return under_mutex(by_c11);
}

static int mutex_lock(void)
{
	int error;

	sem_post(&begun);
	error = pthread_mutex_lock(&at->mutex);
	pthread_mutex_unlock(&at->mutex);
	return error;
}

static int mutex_timedlock(void)
{
	struct timespec end = soon(CLOCK_REALTIME, 1000000);
	int error;

	sem_post(&begun);
	error = pthread_mutex_timedlock(&at->mutex, &end);
	pthread_mutex_unlock(&at->mutex);
	return error;
}

static int read_lock(void)
{
	int error;

	sem_post(&begun);
	error = pthread_rwlock_rdlock(&at->rwlock);
	pthread_rwlock_unlock(&at->rwlock);
	return error;
}

static int write_lock(void)
{
	int error;

	sem_post(&begun);
	error = pthread_rwlock_wrlock(&at->rwlock);
	pthread_rwlock_unlock(&at->rwlock);
	return error;
}

static int barrier_wait(void)
{
	sem_post(&begun);
	return pthread_barrier_wait(&at->barrier) > 0;
}

static void *wait_for_main(void *arg)
{
	wait_for(&go_on);
	return arg;
}

static int join(void)
{
	pthread_t t = start(wait_for_main, NULL);

	sem_post(&begun);
	return pthread_join(t, NULL);
}

static void signal_it(void)
{
	pthread_mutex_lock(&at->mutex);
	pthread_cond_signal(&at->cond);
	pthread_mutex_unlock(&at->mutex);
}

static void unlock_mutex(void)
{
	pthread_mutex_unlock(&at->mutex);
}

static void unlock_rwlock(void)
{
	pthread_rwlock_unlock(&at->rwlock);
}

static void arrive(void)
{
	pthread_barrier_wait(&at->barrier);
}

static void let_end(void)
{
	sem_post(&go_on);
}

static const struct way {
	const char *name;
	int (*wait)(void);
	void (*end)(void);
} ways[] = {
	{ "pthread_cond_wait", cond_wait, signal_it },
	{ "pthread_cond_timedwait", cond_timedwait, signal_it },
	{ "pthread_cond_clockwait", cond_clockwait, signal_it },
	{ "cnd_wait", c11_wait, signal_it },
	{ "pthread_mutex_lock", mutex_lock, unlock_mutex },
	{ "pthread_mutex_timedlock", mutex_timedlock, unlock_mutex },
	{ "pthread_rwlock_rdlock", read_lock, unlock_rwlock },
	{ "pthread_rwlock_wrlock", write_lock, unlock_rwlock },
	{ "pthread_barrier_wait", barrier_wait, arrive },
	{ "pthread_join", join, let_end },
};

static void *wait_so(void *way)
{
	show("it", ((const struct way *)way)->wait());
	over = 1;
	return NULL;
}

/* Each handler has run before the next signal is sent, so all but the first come late. */
static void interrupt(const struct way *way, int is_shared, int flags)
{
	pthread_t t;

	make_place(is_shared);
	handle(count, flags);
	if (way->end == unlock_mutex)
		pthread_mutex_lock(&at->mutex);
	if (way->end == unlock_rwlock)
		pthread_rwlock_wrlock(&at->rwlock);
	printf("%s: ", way->name);
	t = start(wait_so, (void *)(uintptr_t)way);
	wait_for(&begun);
	for (int i = 1; !over && i <= HANDLERS; i++) {
		usleep(2000);
		pthread_kill(t, SIGUSR1);
		while (handled < i && !over)
			sched_yield();
	}
	usleep(2000);
	printf("%s; ", over ? "has ended" : "goes on");
	if (!over)
		way->end();
	finish(t);
	if (way->end == signal_it)
		printf("mutex: %d\n", is_held);
}

static void interrupt_all(int is_shared, int flags)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!is_shared || ways[i].end == signal_it)
			interrupt(&ways[i], is_shared, flags);
}

static void a_handler_ends_no_wait(void)
{
	interrupt_all(0, 0);
}

static void one_that_restarts_ends_no_wait(void)
{
	interrupt_all(0, SA_RESTART);
}

static void a_handler_ends_no_wait_for_what_is_shared(void)
{
	interrupt_all(1, 0);
	interrupt_all(1, SA_RESTART);
}

/* --- what comes while the handler runs ------------------------------ */

static pthread_t begin_in_handler(const struct way *way, int is_shared)
{
	pthread_t t;

	make_place(is_shared);
	handle(stay, 0);
	t = start(wait_so, (void *)(uintptr_t)way);
	wait_for(&begun);
	pthread_mutex_lock(&at->mutex);
	pthread_mutex_unlock(&at->mutex);
	pthread_kill(t, SIGUSR1);
	wait_for(&in_handler);
	return t;
}

static void broadcast(void)
{
	pthread_cond_broadcast(&at->cond);
}

static void come_during_handler(const struct way *way, int is_shared,
				void (*wake)(void))
{
	pthread_t t = begin_in_handler(way, is_shared);

	/* The handler runs without the mutex. */
	show("lock", pthread_mutex_trylock(&at->mutex));
	pthread_mutex_unlock(&at->mutex);
	wake();
	printf("over: %d\n", over);
	sem_post(&go_on);
	finish(t);
	printf("mutex: %d\n", is_held);
}

static void a_signal_during_the_handler_counts(void)
{
	for (int is_shared = 0; is_shared <= 1; is_shared++) {
		come_during_handler(&ways[0], is_shared, signal_it);
		come_during_handler(&ways[0], is_shared, broadcast);
		come_during_handler(&ways[1], is_shared, signal_it);
	}
}

/* Two threads wait, and the one that handles is not the one that is woken. */
static void a_signal_goes_to_the_thread_that_waits(void)
{
	pthread_t t = begin_in_handler(&ways[0], 0), other;

	other = start(wait_so, (void *)(uintptr_t)&ways[0]);
	wait_for(&begun);
	signal_it();
	finish(other);
	over = 0;
	sem_post(&go_on);
	usleep(20000);
	printf("the first: %d\n", over);
	signal_it();
	finish(t);
}

static void *destroy(void *error)
{
	*(int *)error = pthread_cond_destroy(&at->cond);
	sem_post(&begun);
	return error;
}

/* As libc's, the condition variable is not gone before the thread has left. */
static void one_that_is_destroyed_waits_for_the_handler(void)
{
	pthread_t t = begin_in_handler(&ways[0], 0), other;
	int error = -1;

	broadcast();
	other = start(destroy, &error);
	usleep(20000);
	printf("over: %d, destroyed: %d\n", over, sem_trywait(&begun) == 0);
	sem_post(&go_on);
	finish(t);
	finish(other);
	show("destroy", error);
}

static void *wait_a_moment(void *arg)
{
	struct timespec end = soon(CLOCK_REALTIME, 60);

	pthread_mutex_lock(&at->mutex);
	sem_post(&begun);
	show("it", pthread_cond_timedwait(&at->cond, &at->mutex, &end));
	over = 1;
	return arg;
}

static void the_deadline_stays(void)
{
	pthread_t t;

	make_place(0);
	handle(count, 0);
	t = start(wait_a_moment, NULL);
	wait_for(&begun);
	while (!over) {
		pthread_kill(t, SIGUSR1);
		usleep(3000);
	}
	finish(t);
}

/* --- a thread that ends meanwhile ----------------------------------- */

/*
 * Only weft is asked. If the thread ends before libc's call has noted that it waits, the
 * mutex is not locked for the cleanup, and in some runs pthread_cond_destroy() hangs.
 */
#define ENDED	"owner's unlock: 0\ncancelled: 1\nmutex: 0\ncond: 0\n"

static void unlock_at_end(void *unused)
{
	(void)unused;
	show("owner's unlock", pthread_mutex_unlock(&at->mutex));
}

static void *wait_to_be_cancelled(void *is_shared)
{
	pthread_mutex_lock(&at->mutex);
	pthread_cleanup_push(unlock_at_end, NULL);
	sem_post(&begun);
	for (;;)
		pthread_cond_wait(&at->cond, &at->mutex);
	pthread_cleanup_pop(1);
	return is_shared;
}

static void leave(int signal)
{
	(void)signal;
	pthread_exit(PTHREAD_CANCELED);
}

static void end_in_wait(int is_shared, void (*handler)(int signal))
{
	pthread_t t;

	make_place(is_shared);
	pthread_mutex_destroy(&at->mutex);
	{
		pthread_mutexattr_t attr;

		pthread_mutexattr_init(&attr);
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
		pthread_mutexattr_setpshared(&attr, is_shared);
		pthread_mutex_init(&at->mutex, &attr);
	}
	handle(handler, 0);
	t = start(wait_to_be_cancelled, NULL);
	wait_for(&begun);
	pthread_mutex_lock(&at->mutex);
	pthread_mutex_unlock(&at->mutex);
	pthread_kill(t, SIGUSR1);
	if (handler == stay) {
		wait_for(&in_handler);
		pthread_cancel(t);
		sem_post(&go_on);
	}
	printf("cancelled: %d\n", finish(t) == PTHREAD_CANCELED);
	show("mutex", pthread_mutex_destroy(&at->mutex));
	show("cond", pthread_cond_destroy(&at->cond));
}

static void a_thread_may_end_in_the_handler(void)
{
	end_in_wait(0, leave);
	end_in_wait(1, leave);
}

static void a_thread_is_cancelled_in_the_handler(void)
{
	end_in_wait(0, stay);
	end_in_wait(1, stay);
}

/* --- no wake-up is lost --------------------------------------------- */

static _Atomic long tokens, taken, stop;

static void *take_tokens(void *arg)
{
	pthread_mutex_lock(&at->mutex);
	for (;;) {
		while (!tokens && !stop)
			pthread_cond_wait(&at->cond, &at->mutex);
		if (!tokens)
			break;
		tokens--;
		taken++;
	}
	pthread_mutex_unlock(&at->mutex);
	return arg;
}

static void *bother(void *threads)
{
	while (!stop) {
		pthread_kill(((pthread_t *)threads)[0], SIGUSR1);
		pthread_kill(((pthread_t *)threads)[1], SIGUSR1);
		usleep(50);
	}
	return NULL;
}

static void give_tokens(int is_shared)
{
	const long n = scaled(3000);
	pthread_t t[2], other;

	make_place(is_shared);
	handle(count, 0);
	tokens = taken = stop = 0;
	t[0] = start(take_tokens, NULL);
	t[1] = start(take_tokens, NULL);
	other = start(bother, t);
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&at->mutex);
		tokens++;
		pthread_cond_signal(&at->cond);
		pthread_mutex_unlock(&at->mutex);
		while (taken <= i)
			sched_yield();
	}
	stop = 1;
	finish(other);
	pthread_mutex_lock(&at->mutex);
	pthread_cond_broadcast(&at->cond);
	pthread_mutex_unlock(&at->mutex);
	finish(t[0]);
	finish(t[1]);
	printf("all taken: %d\n", taken == n);
}

static void no_signal_is_lost_beside_handlers(void)
{
	give_tokens(0);
	give_tokens(1);
}

static const struct compare_case cases[] = {
	COMPARE(a_handler_ends_no_wait),
	COMPARE(one_that_restarts_ends_no_wait),
	COMPARE(a_handler_ends_no_wait_for_what_is_shared),
	COMPARE(a_signal_during_the_handler_counts),
	COMPARE(a_signal_goes_to_the_thread_that_waits),
	COMPARE(one_that_is_destroyed_waits_for_the_handler),
	COMPARE(the_deadline_stays),
	WEFT_ONLY(a_thread_may_end_in_the_handler, ENDED ENDED),
	WEFT_ONLY(a_thread_is_cancelled_in_the_handler, ENDED ENDED),
	COMPARE(no_signal_is_lost_beside_handlers),
};

COMPARE_MAIN(cases)
