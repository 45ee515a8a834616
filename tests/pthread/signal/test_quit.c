/* SPDX-License-Identifier: MIT */
/*
 * test_quit.c - SIGQUIT is the program's once it has a handler, and before that
 * a dump, which holds up no other signal; its receiver
 */
#include "compare.h"

#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tasks.h"

#define THREADS	4
#define TIMES	20
#define MANY	60

static pthread_t threads[THREADS];
static pthread_t first;
static _Atomic int handled, in_ours, over;
static sem_t never;

/* --- a handler ----------------------------------------------------- */

static void on_quit(int signal)
{
	int ours = pthread_equal(pthread_self(), first);

	(void)signal;
	for (int i = 0; i < THREADS; i++)
		ours |= pthread_equal(pthread_self(), threads[i]);
	in_ours += ours;
	handled++;
}

static void *sleep_until_over(void *arg)
{
	while (!over)
		usleep(1000);
	return arg;
}

/* From another process: what one sends to itself need not leave it. */
static void send_from_outside(int signal)
{
	pid_t child = fork();

	if (child == 0) {
		kill(getppid(), signal);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void a_handler_that_comes_late_runs_in_a_thread(void)
{
	struct sigaction action = { .sa_handler = on_quit };

	first = pthread_self();
	for (int i = 0; i < THREADS; i++)
		threads[i] = start(sleep_until_over, NULL);
	sigaction(SIGQUIT, &action, NULL);
	for (int n = 1; n <= TIMES; n++) {
		send_from_outside(SIGQUIT);
		while (handled < n)
			usleep(1000);
	}
	over = 1;
	for (int i = 0; i < THREADS; i++)
		finish(threads[i]);
	printf("%d of %d\n", in_ours, handled);
}

/* --- a dump -------------------------------------------------------- */

static void *wait_for_ever(void *arg)
{
	while (sem_wait(&never) != 0)
		;
	return arg;
}

/* More than fits into the pipe. */
static void have_many_threads(int ready)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < MANY; i++)
		start(wait_for_ever, NULL);
	if (write(ready, "", 1) != 1)
		abort();
	wait_for_ever(NULL);
}

static void an_unread_dump_holds_up_no_signal(void)
{
	int err[2], ready[2], status, bytes = 0;
	pid_t child;
	char c;

	sem_init(&never, 0, 0);
	if (pipe(err) || pipe(ready) || fcntl(err[0], F_SETPIPE_SZ, 4096) < 0)
		abort();
	child = fork();
	if (child == 0) {
		dup2(err[1], STDERR_FILENO);
		have_many_threads(ready[1]);
	}
	if (read(ready[0], &c, 1) != 1)
		abort();
	kill(child, SIGQUIT);
	while (bytes < 1) {
		usleep(1000);
		ioctl(err[0], FIONREAD, &bytes);
	}
	kill(child, SIGTERM);
	if (waitpid(child, &status, 0) != child)
		abort();
	printf("signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void *wait_named(void *arg)
{
	pthread_setname_np(pthread_self(), "joined");
	return wait_for_ever(arg);
}

static void join_for_ever(int ready)
{
	pthread_t t = start(wait_named, NULL);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(ready, "", 1) != 1)
		abort();
	pthread_join(t, NULL);
}

/* Asks again, as the join may not have begun. */
static void a_dump_names_the_thread_that_is_joined(void)
{
	static char text[1 << 16];
	int err[2], ready[2];
	pid_t child;

	sem_init(&never, 0, 0);
	if (pipe(err) || pipe(ready))
		abort();
	child = fork();
	if (child == 0) {
		dup2(err[1], STDERR_FILENO);
		join_for_ever(ready[1]);
	}
	if (read(ready[0], text, 1) != 1)
		abort();
	do {
		ssize_t n;

		kill(child, SIGQUIT);
		usleep(20000);
		n = read(err[0], text, sizeof(text) - 1);
		text[n > 0 ? n : 0] = 0;
	} while (!strstr(text, ", joins \"joined\" (id "));
	printf("it does\n");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* --- kernel threads ------------------------------------------------ */

/* Until each has given itself a name: all but the first are weft's. */
static void one_kernel_thread_receives_and_observes(void)
{
	char own[16] = "";

	prctl(PR_GET_NAME, own);
	start(wait_for_ever, NULL);
	while (count_tasks(own) > 1)
		usleep(1000);
	printf("%d %d %d\n", count_tasks("weft-monitor"),
	       count_tasks("weft-signals"), count_tasks("weft-observer"));
	fflush(stdout);
	_exit(0);
}

static const struct compare_case cases[] = {
	COMPARE(a_handler_that_comes_late_runs_in_a_thread),
	WEFT_ONLY(an_unread_dump_holds_up_no_signal, "signal 15\n"),
	WEFT_ONLY(a_dump_names_the_thread_that_is_joined, "it does\n"),
	WEFT_ONLY(one_kernel_thread_receives_and_observes, "1 1 0\n"),
};

COMPARE_MAIN(cases)
