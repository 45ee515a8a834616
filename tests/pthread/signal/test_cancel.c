/* SPDX-License-Identifier: MIT */
/* test_cancel.c - cancellation, where it is acted on and what runs then */
#include "compare.h"

#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>

static int ends[2];		/* of a pipe */
static sem_t sem, begun, asked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void note(void *what)
{
	printf("cleanup: %s\n", (const char *)what);
}

static void *sleep_long(void *arg)
{
	pthread_cleanup_push(note, arg);
	sem_post(&begun);
	sleep(1000);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *read_nothing(void *arg)
{
	char c;

	pthread_cleanup_push(note, arg);
	sem_post(&begun);
	(void)!read(ends[0], &c, 1);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *poll_nothing(void *arg)
{
	struct pollfd p = { .fd = ends[0], .events = POLLIN };

	pthread_cleanup_push(note, arg);
	sem_post(&begun);
	poll(&p, 1, -1);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *wait_sem(void *arg)
{
	pthread_cleanup_push(note, arg);
	sem_post(&begun);
	sem_wait(&sem);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *sleep_by_another_clock(void *arg)
{
	struct timespec time = { 1000, 0 };

	pthread_cleanup_push(note, "another clock");
	sem_post(&begun);
	(void)!clock_nanosleep(*(clockid_t *)arg, 0, &time, NULL);
	pthread_cleanup_pop(0);
	return NULL;
}

static void unlock(void *mutex)
{
	/* It is owned here: POSIX says so of pthread_cond_wait(). */
	show("unlock", pthread_mutex_unlock(mutex));
}

static void *wait_cond(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(unlock, &lock);
	sem_post(&begun);
	for (;;)
		pthread_cond_wait(&cond, &lock);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *join_other(void *arg)
{
	pthread_cleanup_push(note, "join");
	sem_post(&begun);
	pthread_join(*(pthread_t *)arg, NULL);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *test_only(void *arg)
{
	pthread_cleanup_push(note, arg);
	sem_post(&begun);
	for (;;)
		pthread_testcancel();
	pthread_cleanup_pop(0);
	return NULL;
}

static void prepare(void)
{
	sem_init(&sem, 0, 0);
	sem_init(&begun, 0, 0);
	sem_init(&asked, 0, 0);
	if (pipe(ends) != 0)
		abort();
}

/* In it, or about to be: both must end the same way. */
static void cancel(void *(*fn)(void *arg), void *arg, int in_it)
{
	pthread_t t = start(fn, arg);
	int error;

	while (sem_wait(&begun) != 0)
		;
	if (in_it)
		usleep(20000);
	error = pthread_cancel(t);
	sem_post(&asked);
	printf("cancelled %d\n", finish(t) == PTHREAD_CANCELED);
	show("cancel", error);
}

static void waits_are_cancelled(void)
{
	pthread_t other;

	prepare();
	for (int in_it = 0; in_it < 2; in_it++) {
		cancel(sleep_long, "sleep", in_it);
		cancel(read_nothing, "read", in_it);
		cancel(poll_nothing, "poll", in_it);
		cancel(wait_sem, "sem", in_it);
		cancel(wait_cond, "cond", in_it);
		cancel(test_only, "test", in_it);
	}
	other = start(wait_sem, "other");
	sem_wait(&begun);
	cancel(join_other, &other, 1);
	sem_post(&sem);
	printf("other joined %d\n", finish(other) == NULL);
}

static void sleeps_by_other_clocks_are_cancelled(void)
{
	clockid_t clocks[] = { CLOCK_BOOTTIME, CLOCK_PROCESS_CPUTIME_ID };

	prepare();
	for (int in_it = 0; in_it < 2; in_it++)
		for (int c = 0; c < 2; c++)
			cancel(sleep_by_another_clock, &clocks[c], in_it);
}

/* When it is asked whether it is ready, as well as before and behind that. */
static void a_look_at_descriptors_is_no_way_out(void)
{
	prepare();
	for (int i = 0; i < 50; i++)
		cancel(i % 4 ? poll_nothing : read_nothing, "look", 1);
}

static void *hold_off(void *arg)
{
	int old;

	show("disable", pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old));
	printf("was %d\n", old == PTHREAD_CANCEL_ENABLE);
	sem_post(&begun);
	sem_wait(&asked);
	pthread_testcancel();
	printf("still here\n");
	pthread_cleanup_push(note, arg);
	show("enable", pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old));
	pthread_testcancel();
	printf("not reached\n");
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancellation_can_be_held_off(void)
{
	prepare();
	cancel(hold_off, "held off", 0);
}

static void *spin_for_ever(void *arg)
{
	static volatile unsigned count;
	int old;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	sem_post((sem_t *)arg);
	for (;;)
		count = count + 1;
	return NULL;
}

static void an_asynchronous_one_ends_a_loop(void)
{
	pthread_t t;

	prepare();
	t = start(spin_for_ever, &begun);
	sem_wait(&begun);
	pthread_cancel(t);
	printf("cancelled %d\n", finish(t) == PTHREAD_CANCELED);
}

static void *cancel_itself(void *arg)
{
	pthread_cleanup_push(note, arg);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	pthread_cleanup_pop(0);
	return NULL;
}

static void a_thread_may_cancel_itself(void)
{
	printf("cancelled %d\n",
	       finish(start(cancel_itself, "self")) == PTHREAD_CANCELED);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int tries;

static void be_slow(void)
{
	if (tries++ == 0) {
		sem_post(&begun);
		sleep(1000);
	}
}

static void *do_once(void *arg)
{
	pthread_once(&once, be_slow);
	return arg;
}

static void a_cancelled_once_is_done_by_another(void)
{
	prepare();
	cancel(do_once, NULL, 1);
	finish(start(do_once, NULL));
	printf("%d\n", tries);
}

/* --- what processes share ------------------------------------------ */

static struct shared {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	sem_t sem;
} *shared;

static void share(void)
{
	pthread_mutexattr_t of_mutex;
	pthread_condattr_t of_cond;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&of_mutex);
	pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_settype(&of_mutex, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&shared->mutex, &of_mutex);
	pthread_condattr_init(&of_cond);
	pthread_condattr_setpshared(&of_cond, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&shared->cond, &of_cond);
	sem_init(&shared->sem, 1, 0);
}

static void *wait_shared_cond(void *arg)
{
	struct timespec at = soon(CLOCK_REALTIME, 100000);

	pthread_mutex_lock(&shared->mutex);
	pthread_cleanup_push(unlock, &shared->mutex);
	sem_post(&begun);
	for (;;) {
		if (arg)
			pthread_cond_timedwait(&shared->cond, &shared->mutex,
					       &at);
		else
			pthread_cond_wait(&shared->cond, &shared->mutex);
	}
	pthread_cleanup_pop(0);
	return NULL;
}

static void *wait_shared_sem(void *arg)
{
	struct timespec at = soon(CLOCK_REALTIME, 100000);

	pthread_cleanup_push(note, "shared sem");
	sem_post(&begun);
	if (arg)
		sem_timedwait(&shared->sem, &at);
	else
		sem_wait(&shared->sem);
	pthread_cleanup_pop(0);
	return NULL;
}

static void waits_for_what_processes_share_are_cancelled(void)
{
	prepare();
	share();
	for (int in_it = 0; in_it < 2; in_it++) {
		cancel(wait_shared_cond, in_it ? shared : NULL, in_it);
		cancel(wait_shared_sem, in_it ? NULL : shared, in_it);
	}
}

/* --- calls that do not wait ---------------------------------------- */

static struct {
	long type;
	char text[8];
} message = { 1, "text" };

static int queue, file;

static void close_none(void)
{
	close(-1);
}

static void send_at_once(void)
{
	(void)!msgsnd(queue, &message, sizeof(message.text), IPC_NOWAIT);
}

static void receive_at_once(void)
{
	(void)!msgrcv(queue, &message, sizeof(message.text), 77, IPC_NOWAIT);
}

static void ask_for_children(void)
{
	siginfo_t info;

	(void)!waitid(P_ALL, 0, &info, WEXITED | WNOHANG);
}

static void sync_range(void)
{
	(void)!sync_file_range(file, 0, 1, 0);
}

static void allocate(void)
{
	(void)!posix_fallocate(file, 0, 1);
}

/* Not getrandom(): since glibc 2.41 it is one only where the kernel's vDSO has none. */
static void draw_by_the_other(void)	/* which is none */
{
	char c;

	(void)!getentropy(&c, 1);
}

static void take_at_once(void)
{
	struct timespec at = { 0, 0 };

	if (sem_clockwait(&sem, CLOCK_MONOTONIC, &at) == 0)
		sem_post(&sem);
}

static void take_at_once_by_the_day(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 100000);

	if (sem_timedwait(&sem, &at) == 0)
		sem_post(&sem);
}

static void take_at_no_time(void)	/* none, in any sense */
{
	const struct timespec at = { 0, -1 };

	(void)!sem_timedwait(&sem, &at);
}

static void *do_when_cancelled(void *call)
{
	sem_post(&begun);
	while (sem_trywait(&asked) != 0)
		sched_yield();
	((void (*)(void))call)();
	(void)!pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return NULL;
}

static void calls_that_do_not_wait_are_points_too(void)
{
	void (*const calls[])(void) = {
		close_none, send_at_once, receive_at_once, ask_for_children,
		sync_range, allocate, take_at_once, draw_by_the_other,
		take_at_once_by_the_day, take_at_no_time,
	};

	prepare();
	sem_post(&sem);
	queue = msgget(IPC_PRIVATE, 0600);
	file = memfd_create("file", 0);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		cancel(do_when_cancelled, (void *)calls[i], 0);
	msgctl(queue, IPC_RMID, NULL);
}

static const struct compare_case cases[] = {
	COMPARE(waits_are_cancelled),
	COMPARE(sleeps_by_other_clocks_are_cancelled),
	COMPARE(waits_for_what_processes_share_are_cancelled),
	COMPARE(a_look_at_descriptors_is_no_way_out),
	COMPARE(cancellation_can_be_held_off),
	COMPARE(an_asynchronous_one_ends_a_loop),
	COMPARE(a_thread_may_cancel_itself),
	COMPARE(a_cancelled_once_is_done_by_another),
	COMPARE(calls_that_do_not_wait_are_points_too),
};

COMPARE_MAIN(cases)
