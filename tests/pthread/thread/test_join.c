/* SPDX-License-Identifier: MIT */
/* test_join.c - joins of the first thread, and those that are not to be had */
#include "compare.h"
#include "tasks.h"

#include <setjmp.h>
#include <signal.h>

static pthread_t first;

static void *join_first(void *arg)
{
	void *result = NULL;

	show("join", pthread_join(first, &result));
	printf("%ld\n", (long)result);
	return arg;
}

static void the_first_thread_is_joined_when_it_has_left(void)
{
	first = pthread_self();
	start(join_first, NULL);
	pthread_exit((void *)42);
}

static void *let_go_of_first(void *arg)
{
	show("try", pthread_tryjoin_np(first, NULL));
	show("detach", pthread_detach(first));
	show("again", pthread_detach(first));
	show("join", pthread_join(first, NULL));
	return arg;
}

static void the_first_thread_is_let_go(void)
{
	first = pthread_self();
	finish(start(let_go_of_first, NULL));
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_at_gate(void *arg)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return arg;
}

static void a_running_thread_cannot_be_joined_at_once(void)
{
	const struct timespec zero = { 0, 0 };
	pthread_t t, detached;

	pthread_mutex_lock(&gate);
	t = start(wait_at_gate, NULL);
	detached = start(wait_at_gate, NULL);
	pthread_detach(detached);
	show("itself", pthread_tryjoin_np(pthread_self(), NULL));
	show("detached", pthread_tryjoin_np(detached, NULL));
	show("a clock", pthread_clockjoin_np(t, NULL, CLOCK_TAI, &zero));
	show("zero", pthread_clockjoin_np(t, NULL, CLOCK_MONOTONIC, &zero));
	show("long ago", pthread_timedjoin_np(t, NULL, &zero));
	pthread_mutex_unlock(&gate);
	show("join", pthread_join(t, NULL));
}

static _Atomic int joiner_id;

static void *join_it(void *arg)
{
	pthread_t t = *(pthread_t *)arg;

	joiner_id = gettid();
	return (void *)(long)pthread_join(t, NULL);
}

/* It is joined all the same. */
static void a_thread_that_is_being_joined_cannot_be_detached(void)
{
	for (int i = 0; i < 20; i++) {
		pthread_t t, joiner;
		long error;

		pthread_mutex_lock(&gate);
		t = start(wait_at_gate, NULL);
		joiner_id = 0;
		joiner = start(join_it, &t);
		while (!joiner_id)
			sched_yield();
		await_sleep_of(joiner_id);
		if (pthread_detach(t) != 0)
			printf("not detached\n");
		pthread_mutex_unlock(&gate);
		error = (long)finish(joiner);
		if (error != 0 && error != EINVAL)
			show("join", (int)error);
	}
	printf("done\n");
}

static sigjmp_buf out;
static _Atomic int joins;

static void jump(int signal)
{
	(void)signal;
	siglongjmp(out, 1);
}

static void *interrupt_first(void *arg)
{
	while (!joins)
		sched_yield();
	await_sleep_of(getpid());
	pthread_kill(first, SIGUSR1);
	return arg;
}

static void a_thread_that_has_left_a_join_joins_again(void)
{
	pthread_t t;

	first = pthread_self();
	signal(SIGUSR1, jump);
	pthread_mutex_lock(&gate);
	t = start(wait_at_gate, &gate);
	start(interrupt_first, NULL);
	if (sigsetjmp(out, 1) == 0) {
		joins = 1;
		pthread_join(t, NULL);
	}
	pthread_mutex_unlock(&gate);
	printf("%d\n", finish(t) == &gate);
}

static pthread_t joined;
static _Atomic int handled;

static void join_it_too(int signal)
{
	const struct timespec zero = { 0, 0 };

	(void)signal;
	pthread_timedjoin_np(joined, NULL, &zero);
	handled = 1;
}

static void *end_behind_handler(void *arg)
{
	interrupt_first(NULL);
	while (!handled)
		sched_yield();
	await_sleep_of(getpid());
	return arg;
}

static void a_handler_gives_up_its_own_join_only(void)
{
	first = pthread_self();
	signal(SIGUSR1, join_it_too);
	joined = start(end_behind_handler, &gate);
	joins = 1;
	printf("%d\n", finish(joined) == &gate);
}

static void *leave(void *arg)
{
	return arg;
}

/* Not defined by POSIX, but programs ask so whether a thread is there. */
static void a_thread_that_was_joined_has_no_priority(void)
{
	struct sched_param param = { 0 };
	pthread_t t = start(leave, NULL);
	int policy;

	finish(t);
	show("get", pthread_getschedparam(t, &policy, &param));
	show("set", pthread_setschedparam(t, SCHED_OTHER, &param));
}

static const struct compare_case cases[] = {
	COMPARE(the_first_thread_is_joined_when_it_has_left),
	COMPARE(the_first_thread_is_let_go),
	COMPARE(a_running_thread_cannot_be_joined_at_once),
	COMPARE(a_thread_that_is_being_joined_cannot_be_detached),
	COMPARE(a_thread_that_has_left_a_join_joins_again),
	COMPARE(a_handler_gives_up_its_own_join_only),
	COMPARE(a_thread_that_was_joined_has_no_priority),
};

COMPARE_MAIN(cases)
