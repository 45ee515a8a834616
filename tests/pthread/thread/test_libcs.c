/* SPDX-License-Identifier: MIT */
/*
 * test_libcs.c - libc cancels threads of its own that wait in what is ours
 *
 * These are kernel threads that libc has made: for itself, beside green threads; or for
 * the program, where a library that needs that has come before the first thread.
 */
#include "compare.h"
#include "tasks.h"

#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>

static sem_t sem, begun, left;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pid_t tids[2];

/* As if a sanitizer came: from then on threads stay libc's. */
static void load_sanitizer(void)
{
	static const char file[] = "/../../unit/os/sanitizer_module.so";
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof(file));

	if (n <= 0)
		abort();
	path[n] = '\0';
	strcpy(strrchr(path, '/'), file);
	if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL))
		abort();
}

static void begins(long which)
{
	tids[which] = gettid();
	sem_post(&begun);
}

static void prepare(void)
{
	sem_init(&sem, 0, 0);
	sem_init(&begun, 0, 0);
	sem_init(&left, 0, 0);
}

/* --- each wait ------------------------------------------------------- */

static void note(void *what)
{
	printf("cleanup: %s\n", (const char *)what);
}

static void unlock(void *mutex)
{
	/* The thread owns it here. */
	show("trylock", pthread_mutex_trylock(mutex));
	show("unlock", pthread_mutex_unlock(mutex));
}

static void by_sem(void)
{
	sem_wait(&sem);
}

static void by_sem_in_time(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 1000000);

	sem_timedwait(&sem, &at);
}

static void by_sem_and_clock(void)
{
	const struct timespec at = soon(CLOCK_MONOTONIC, 1000000);

	sem_clockwait(&sem, CLOCK_MONOTONIC, &at);
}

static void by_cond(void)
{
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(unlock, &lock);
	for (;;)
		pthread_cond_wait(&cond, &lock);
	pthread_cleanup_pop(0);
}

static void by_cond_in_time(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 1000000);

	pthread_mutex_lock(&lock);
	pthread_cleanup_push(unlock, &lock);
	for (;;)
		pthread_cond_timedwait(&cond, &lock, &at);
	pthread_cleanup_pop(0);
}

static const struct way {
	const char *name;
	void (*wait)(void);
} ways[] = {
	{ "sem_wait", by_sem }, { "sem_timedwait", by_sem_in_time },
	{ "sem_clockwait", by_sem_and_clock }, { "pthread_cond_wait", by_cond },
	{ "pthread_cond_timedwait", by_cond_in_time },
};

#define WAYS	(sizeof(ways) / sizeof(*ways))

static void *wait_so(void *arg)
{
	const struct way *way = arg;

	pthread_cleanup_push(note, (void *)(uintptr_t)way->name);
	begins(0);
	way->wait();
	pthread_cleanup_pop(0);
	return NULL;
}

/* The waiting threads have left nothing behind. */
static void look_at_what_is_left(void)
{
	show("lock", pthread_mutex_lock(&lock));
	show("signal", pthread_cond_signal(&cond));
	show("unlock", pthread_mutex_unlock(&lock));
	show("destroy", pthread_cond_destroy(&cond));
	show("mutex", pthread_mutex_destroy(&lock));
	show_errno("post", sem_post(&sem));
	show_errno("taken", sem_trywait(&sem));
	show_errno("again", sem_trywait(&sem));
}

static void each_wait_is_cancelled(void)
{
	load_sanitizer();
	prepare();
	for (size_t i = 0; i < WAYS; i++) {
		pthread_t t = start(wait_so, (void *)(uintptr_t)&ways[i]);
		int error;

		sem_wait(&begun);
		until_asleep(tids[0]);
		error = pthread_cancel(t);
		printf("%s\n", finish(t) == PTHREAD_CANCELED ? "cancelled" : "not");
		show("cancel", error);
	}
	look_at_what_is_left();
}

/* --- what else counts ------------------------------------------------ */

static int has_unit[2];

/*
 * The thread tells what it has itself. libc (2.36) tells a joining thread that it was
 * cancelled, too, where the signal came behind the return of its function.
 */
static void *take(void *which)
{
	begins((long)which);
	has_unit[(long)which] = sem_wait(&sem) == 0;
	return NULL;
}

/*
 * Both sleep. The first is woken and cancelled at once: one of them has the unit. With
 * libc's own semaphores (2.36) neither may have it, and it stays.
 */
static void a_cancelled_thread_takes_no_wake_up_along(void)
{
	long rounds = scaled(300), two = 0;
	int value;

	load_sanitizer();
	prepare();
	for (long i = 0; i < rounds; i++) {
		pthread_t t[2];

		for (long k = 0; k < 2; k++) {
			has_unit[k] = 0;
			t[k] = start(take, (void *)k);
			sem_wait(&begun);
			until_asleep(tids[k]);
		}
		sem_post(&sem);
		pthread_cancel(t[0]);
		finish(t[0]);
		if (has_unit[0])
			sem_post(&sem);
		finish(t[1]);
		two += has_unit[1];
	}
	sem_getvalue(&sem, &value);
	printf("each had it: %d, left %d\n", two == rounds, value);
}

static void *take_what_is_there(void *arg)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	begins(0);
	sem_wait(&sem);		/* it is cancelled by then, and must not act */
	pthread_setcancelstate(state, NULL);
	show_errno("wait", sem_wait(&sem));
	return arg;
}

static void a_call_that_need_not_wait_is_a_point(void)
{
	int value, error;
	pthread_t t;

	load_sanitizer();
	prepare();
	t = start(take_what_is_there, NULL);
	sem_wait(&begun);
	until_asleep(tids[0]);
	error = pthread_cancel(t);
	sem_post(&sem);
	sem_post(&sem);
	printf("%s\n", finish(t) == PTHREAD_CANCELED ? "cancelled" : "not");
	show("cancel", error);
	sem_getvalue(&sem, &value);
	printf("left %d\n", value);
}

/* --- beside green threads -------------------------------------------- */

static pthread_t libcs, green;
static sem_t green_ends;

static void *wait_for_end(void *arg)
{
	while (sem_wait(&green_ends) != 0)
		;
	return arg;
}

static void by_join(void)
{
	pthread_join(green, NULL);
}

static void tell_left(void *what)
{
	note(what);
	sem_post(&left);
}

static void notify(union sigval value)
{
	const struct way *way = value.sival_ptr;

	libcs = pthread_self();
	pthread_cleanup_push(tell_left, (void *)(uintptr_t)way->name);
	begins(0);
	way->wait();
	pthread_cleanup_pop(0);
}

static void cancel_a_timers(const struct way *way)
{
	const struct itimerspec at_once = { { 0, 0 }, { 0, 1 } };
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify,
		.sigev_value.sival_ptr = (void *)(uintptr_t)way,
	};
	timer_t timer;
	int error;

	show_errno("timer", timer_create(CLOCK_MONOTONIC, &event, &timer));
	timer_settime(timer, 0, &at_once, NULL);
	sem_wait(&begun);
	until_asleep(tids[0]);
	error = pthread_cancel(libcs);
	sem_wait(&left);
	show("cancel", error);
	timer_delete(timer);
}

static void a_thread_of_libcs_own_is_cancelled(void)
{
	static const struct way join = { "pthread_join", by_join };

	prepare();
	sem_init(&green_ends, 0, 0);
	green = start(wait_for_end, &green);
	for (size_t i = 0; i < WAYS; i++)
		cancel_a_timers(&ways[i]);
	cancel_a_timers(&join);
	sem_post(&green_ends);
	printf("joined: %d\n", finish(green) == &green);
	look_at_what_is_left();
}

/* --- a child of such a thread --------------------------------------- */

static void fork_and_tell(union sigval value)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit(sched_getscheduler(0) << 5 | getpriority(PRIO_PROCESS, 0));
	waitpid(child, &status, 0);
	*(int *)value.sival_ptr = WEXITSTATUS(status);
	sem_post(&left);
}

/* The process is as main made it before there was another thread. */
static void its_child_is_scheduled_as_the_process(void)
{
	const struct itimerspec at_once = { { 0, 0 }, { 0, 1 } };
	const struct sched_param param = { .sched_priority = 0 };
	int told = -1;
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD, .sigev_notify_function = fork_and_tell,
		.sigev_value.sival_ptr = &told,
	};
	timer_t timer;

	show_errno("policy", sched_setscheduler(0, SCHED_BATCH, &param));
	show_errno("nice", setpriority(PRIO_PROCESS, 0, 7));
	sem_init(&left, 0, 0);
	sem_init(&green_ends, 0, 0);
	green = start(wait_for_end, &green);
	show_errno("timer", timer_create(CLOCK_MONOTONIC, &event, &timer));
	timer_settime(timer, 0, &at_once, NULL);
	while (sem_wait(&left) != 0)
		;
	timer_delete(timer);
	sem_post(&green_ends);
	finish(green);
	printf("policy and nice value: %d %d\n", told >> 5, told & 31);
}

static const struct compare_case cases[] = {
	COMPARE(each_wait_is_cancelled),
	WEFT_ONLY(a_cancelled_thread_takes_no_wake_up_along, "each had it: 1, left 0\n"),
	COMPARE(a_call_that_need_not_wait_is_a_point),
	COMPARE(a_thread_of_libcs_own_is_cancelled),
	COMPARE(its_child_is_scheduled_as_the_process),
};

COMPARE_MAIN(cases)
