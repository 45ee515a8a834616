/* SPDX-License-Identifier: MIT */
/* test_cancel_region.c - calls that block in the kernel are cancelled, at any moment */
#include "compare.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/msg.h>
#include <sys/wait.h>

static _Atomic int begins;
static int file, queue;

/* --- what waits for ever ------------------------------------------- */

static void sleep_by_another_clock(void)
{
	struct timespec time = { 1000, 0 };

	(void)!clock_nanosleep(CLOCK_BOOTTIME, 0, &time, NULL);
}

static void wait_for_any_child(void)
{
	wait(NULL);
}

static void wait_for_any_id(void)
{
	siginfo_t info;

	waitid(P_ALL, 0, &info, WEXITED);
}

/* Another process has it. */
static void wait_for_lock(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	(void)!fcntl(file, F_SETLKW, &lock);
}

static void wait_for_lock_as_lockf(void)
{
	(void)!lockf(file, F_LOCK, 0);
}

static void wait_for_message(void)
{
	struct { long type; char text[8]; } message;

	(void)!msgrcv(queue, &message, sizeof(message.text), 0, 0);
}

static void (*const waits[])(void) = {
	sleep_by_another_clock, wait_for_any_child, wait_for_any_id,
	wait_for_lock, wait_for_lock_as_lockf, wait_for_message,
};

#define WAITS	((int)(sizeof(waits) / sizeof(*waits)))

/* --- who cancels them ---------------------------------------------- */

static void clean(void *count)
{
	++*(int *)count;
}

static int cleaned;

static void *wait_in(void *number)
{
	pthread_cleanup_push(clean, &cleaned);
	begins = 1;
	waits[(long)number]();
	pthread_cleanup_pop(0);
	return NULL;
}

/* A process that has the lock and does not end before this one. */
static pid_t make_child(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	FILE *f = tmpfile();
	int ends[2], life[2];
	pid_t child;
	char c;

	if (!f || pipe(ends) != 0 || pipe(life) != 0)
		abort();
	file = fileno(f);
	queue = msgget(IPC_PRIVATE, 0600);
	child = fork();
	if (child == 0) {
		if (fcntl(file, F_SETLK, &lock) != 0 || write(ends[1], "x", 1) != 1)
			_exit(1);
		close(life[1]);
		_exit(read(life[0], &c, 1) != 0);
	}
	if (read(ends[0], &c, 1) != 1)
		abort();
	return child;
}

static void end_child(pid_t child)
{
	int status = 0;

	kill(child, SIGKILL);
	printf("child: %d, %d\n", waitpid(child, &status, 0) == child,
	       WIFSIGNALED(status));
	msgctl(queue, IPC_RMID, NULL);
}

static void a_waiting_thread_is_cancelled(void)
{
	pid_t child = make_child();

	for (long i = 0; i < WAITS; i++) {
		pthread_t t;

		begins = 0;
		t = start(wait_in, (void *)i);
		while (!begins)
			sched_yield();
		usleep(20000);
		pthread_cancel(t);
		printf("%ld: %d\n", i, finish(t) == PTHREAD_CANCELED);
		printf("cleaned %d\n", cleaned);
	}
	end_child(child);
}

/* Just when it begins to wait, too. */
static void no_moment_loses_a_cancellation(void)
{
	pid_t child = make_child();
	volatile int turns;
	long others = 0;

	for (long i = 0; i < scaled(4000); i++) {
		pthread_t t;

		begins = 0;
		t = start(wait_in, (void *)(i % WAITS));
		while (!begins)
			if (i % 2)
				sched_yield();
		for (turns = 0; turns < i % 1000 * 5; turns++)
			;
		pthread_cancel(t);
		others += finish(t) != PTHREAD_CANCELED;
	}
	printf("%ld, %d\n", others, cleaned == (int)scaled(4000));
	end_child(child);
}

/* It goes on, and is cancelled behind that. */
static void *wait_in_peace(void *child)
{
	int status = 0;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	begins = 1;
	printf("%d, ", wait(&status) == *(pid_t *)child);
	printf("%d\n", WIFSIGNALED(status));
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	pthread_testcancel();
	return NULL;
}

static void without_its_leave_a_thread_waits_on(void)
{
	pid_t child = make_child();
	pthread_t t = start(wait_in_peace, &child);

	while (!begins)
		sched_yield();
	usleep(20000);
	pthread_cancel(t);
	usleep(20000);
	kill(child, SIGKILL);
	printf("%d\n", finish(t) == PTHREAD_CANCELED);
	msgctl(queue, IPC_RMID, NULL);
}

static const struct compare_case cases[] = {
	COMPARE(a_waiting_thread_is_cancelled),
	COMPARE(no_moment_loses_a_cancellation),
	COMPARE(without_its_leave_a_thread_waits_on),
};

COMPARE_MAIN(cases)
