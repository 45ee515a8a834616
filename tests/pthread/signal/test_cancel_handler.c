/* SPDX-License-Identifier: MIT */
/*
 * test_cancel_handler.c - a thread is cancelled in a handler
 *
 * Compiled with exceptions. The cleanups of the handler run, then those of what it has
 * interrupted, on the alternate stack or not.
 */
#include "compare.h"
#include "tasks.h"

#include <semaphore.h>
#include <signal.h>

#define STACK	65536

static int ends[2];
static sem_t never, begun, handles;
static pid_t tid;
static volatile int goes_on = 1;

static void note(void *what)
{
	printf("%s, ", (const char *)what);
}

static void wait_here(int signal)
{
	char c;

	(void)signal;
	pthread_cleanup_push(note, "the handler's");
	sem_post(&handles);
	(void)!read(ends[0], &c, 1);
	pthread_cleanup_pop(0);
}

/* All cleanups are pushed; and no call of sem_post() beside them is interrupted. */
static void tell_begun(void)
{
	sem_post(&begun);
}

static void in_read(void)
{
	char c;

	tell_begun();
	(void)!read(ends[0], &c, 1);
}

static void in_sem(void)
{
	tell_begun();
	while (sem_wait(&never) != 0)
		;
}

static void in_sleep(void)
{
	tell_begun();
	sleep(1000);
}

static void computing(void)
{
	tell_begun();
	while (goes_on)
		;
}

static void deep(int depth, void (*fn)(void))
{
	pthread_cleanup_push(note, "one below");
	if (depth > 0)
		deep(depth - 1, fn);
	else
		fn();
	pthread_cleanup_pop(0);
}

static void *have_stack_and_call(void *fn)
{
	static char stack[STACK];
	const stack_t s = { .ss_sp = stack, .ss_size = STACK };

	if (sigaltstack(&s, NULL) != 0)
		abort();
	tid = gettid();
	deep(2, (void (*)(void))fn);
	return NULL;
}

/*
 * libc's sem_wait() and sleep() cancel the thread at once, at each instruction of the
 * handler, too; and an unwinder knows the handler's cleanup only at its calls. So the
 * handler must wait by then.
 */
static void cancel_in_handler(void (*fn)(void), int flags)
{
	const struct sigaction action = {
		.sa_handler = wait_here, .sa_flags = flags,
	};
	pthread_t t;

	sigaction(SIGUSR1, &action, NULL);
	t = start(have_stack_and_call, (void *)fn);
	sem_wait(&begun);
	usleep(5000);
	pthread_kill(t, SIGUSR1);
	sem_wait(&handles);
	usleep(2000);
	until_asleep(tid);
	pthread_cancel(t);
	printf("cancelled %d\n", finish(t) == PTHREAD_CANCELED);
}

static void cancel_in_each(int flags)
{
	if (pipe(ends) != 0)
		abort();
	sem_init(&never, 0, 0);
	sem_init(&begun, 0, 0);
	sem_init(&handles, 0, 0);
	cancel_in_handler(in_read, flags);
	cancel_in_handler(in_sem, flags);
	cancel_in_handler(in_sleep, flags);
	cancel_in_handler(computing, flags);
}

static void what_it_has_interrupted_is_unwound(void)
{
	cancel_in_each(0);
}

static void so_it_is_from_the_alternate_stack(void)
{
	cancel_in_each(SA_ONSTACK);
}

static const struct compare_case cases[] = {
	COMPARE(what_it_has_interrupted_is_unwound),
	COMPARE(so_it_is_from_the_alternate_stack),
};

COMPARE_MAIN(cases)
