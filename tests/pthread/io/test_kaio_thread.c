/* SPDX-License-Identifier: MIT */
/*
 * test_kaio_thread.c - a thread that waits for asynchronous I/O: signals,
 * errors, forks
 */
#include "../../support/newer.h"
#include "kaio.h"

#include <signal.h>
#include <sys/wait.h>

static void handle(int signal)
{
	(void)signal;
}

static _Atomic int over;

static void *get_to_the_end(void *arg)
{
	get(arg);
	over = 1;
	return arg;
}

/* Again and again: the first may come before it waits. */
static void a_handler_ends_it(void)
{
	const int flags[] = { 0, SA_RESTART };
	struct scene s;
	pthread_t t;

	begin(&s);
	for (int i = 0; i < 2; i++) {
		struct sigaction act = { .sa_flags = flags[i] };

		act.sa_handler = handle;
		sigaction(SIGUSR1, &act, NULL);
		over = 0;
		t = start(get_to_the_end, &s);
		while (!over) {
			a_moment();
			pthread_kill(t, SIGUSR1);
		}
		finish(t);
		show("wait", s.n < 0 ? (int)-s.n : 0);
	}
	end(&s);
}

/* A libc may send a signal for a cancellation that it then does not act on. */
static void *get_and_say(void *arg)
{
	struct scene *s = get(arg);

	while (s->n == -EINTR)
		get(s);
	tell(s);
	pthread_testcancel();
	return NULL;
}

static void it_is_no_cancellation_point(void)
{
	struct scene s;
	pthread_t t;

	begin(&s);
	t = start(get_and_say, &s);
	a_moment();
	pthread_cancel(t);
	a_moment();
	submit(&s, 14);
	let_end(&s);
	printf("cancelled: %d\n", finish(t) == PTHREAD_CANCELED);
	end(&s);
}

static void *wrong_calls(void *arg)
{
	struct scene *s = arg;
	struct iocb cb = request(s, 15), *list = &cb;
	aio_context_t none = 0;

	show_errno("to set up again", call_setup(&s->context));
	show_errno("to set up nowhere", syscall(SYS_io_setup, 1, NULL));
	show_errno("none to submit", call_submit(s->context, 0, &list));
	show_errno("fewer", call_submit(s->context, -1, &list));
	cb.aio_fildes = 9999;
	show_errno("descriptor", call_submit(s->context, 1, &list));
	show_errno("context", call_submit(none, 1, &list));
	show_errno("destroyed", call_destroy(none));
	show_errno("more than there is room for",
		   syscall(SYS_io_getevents, s->context, 2, 1, s->event, NULL));
	show_errno("negative",
		   syscall(SYS_io_getevents, s->context, -1, 1, s->event, NULL));
	show_errno("of none",
		   syscall(SYS_io_getevents, none, 1, 1, s->event, NULL));
	return NULL;
}

static void call_wrongly(void)
{
	struct scene s;

	begin(&s);
	finish(start(wrong_calls, &s));
	end(&s);
}

static void what_is_wrong_is_told_as_by_the_kernel(void)
{
	both_ways(call_wrongly);
}

#define MANY	70	/* more than are remembered */

/* They are left to exit(), which gives up all at once; each takes its time. */
static void many_contexts_are_waited_for(void)
{
	static struct scene s[MANY];
	pthread_t t[MANY];
	long sum = 0;

	for (int i = 0; i < MANY; i++) {
		begin(&s[i]);
		t[i] = start(get, &s[i]);
	}
	for (int i = 0; i < MANY; i++) {
		submit(&s[i], 1);
		let_end(&s[i]);
	}
	for (int i = 0; i < MANY; i++) {
		finish(t[i]);
		sum += s[i].n;
	}
	printf("%ld\n", sum);
}

static void a_child_has_contexts_of_its_own(void)
{
	struct scene s;
	int status;

	begin(&s);
	fflush(stdout);
	if (fork() == 0) {
		wait_for_one();
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
	printf("status %d\n", status);
	end(&s);
}

/* What a program may close is its own. */
static void descriptors_of_others_stay_open(void)
{
	struct scene s;
	pthread_t t;

	begin(&s);
	closefrom(s.pipe[1] + 1);
	for (int fd = s.pipe[1] + 1; fd < 100; fd++)
		if (close(fd) == 0)
			printf("%d was open\n", fd);
	t = start(get, &s);
	a_moment();
	submit(&s, 16);
	let_end(&s);
	finish(t);
	tell(&s);
	end(&s);
}

static const struct compare_case cases[] = {
	COMPARE(a_handler_ends_it),
	COMPARE(it_is_no_cancellation_point),
	COMPARE(what_is_wrong_is_told_as_by_the_kernel),
	COMPARE(many_contexts_are_waited_for),
	COMPARE(a_child_has_contexts_of_its_own),
	COMPARE(descriptors_of_others_stay_open),
};

COMPARE_MAIN(cases)
