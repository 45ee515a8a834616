/* SPDX-License-Identifier: MIT */
/* test_altstack.c - alternate stacks of threads, and what runs on them */
#include "compare.h"

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define THREADS		6
#define BYTES		65536

static char stacks[THREADS][BYTES] __attribute__((aligned(16)));

/* The thread may go on on another kernel thread after this. */
static void move(void)
{
	for (int i = 0; i < 10; i++) {
		sched_yield();
		usleep(100);
	}
}

static int set_stack(void *low, size_t bytes)
{
	stack_t s = { .ss_sp = low, .ss_size = bytes };

	return sigaltstack(&s, NULL);
}

static void show_stack(const char *what)
{
	stack_t s;

	show_errno(what, sigaltstack(NULL, &s));
	printf("%s%s\n", s.ss_flags & SS_DISABLE ? "none" : "some",
	       s.ss_flags & SS_ONSTACK ? ", on it" : "");
}

static void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler,
				    .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

static void *have_a_stack(void *arg)
{
	char *mine = stacks[(long)arg];
	stack_t s = { .ss_flags = SS_DISABLE }, before;
	long good = 0;

	sigaltstack(NULL, &before);
	good += (before.ss_flags & SS_DISABLE) != 0;
	good += set_stack(mine, BYTES) == 0;
	move();
	sigaltstack(&s, &before);
	good += before.ss_sp == mine && before.ss_size == BYTES &&
		before.ss_flags == 0;
	move();
	sigaltstack(NULL, &before);
	good += (before.ss_flags & SS_DISABLE) != 0;
	return (void *)good;
}

static void each_thread_has_its_own(void)
{
	pthread_t t[THREADS];
	long sum = 0;

	for (long i = 0; i < THREADS; i++)
		t[i] = start(have_a_stack, (void *)i);
	for (int i = 0; i < THREADS; i++)
		sum += (long)finish(t[i]);
	printf("%ld\n", sum);
}

static void *set_badly(void *arg)
{
	stack_t s = { .ss_sp = stacks[0], .ss_size = 100 };

	show_errno("small", sigaltstack(&s, NULL));
	s.ss_size = BYTES;
	s.ss_flags = 77;
	show_errno("flags", sigaltstack(&s, NULL));
	show_stack("none was set");
	return arg;
}

static void what_is_wrong_is_refused(void)
{
	finish(start(set_badly, NULL));
}

static volatile int there, on_it, error, rounds;

static void look_around(int signal)
{
	volatile char here = (char)signal;
	stack_t s;

	there += (uintptr_t)&here - (uintptr_t)stacks[0] < BYTES;
	sigaltstack(NULL, &s);
	on_it += (s.ss_flags & SS_ONSTACK) != 0;
	error = set_stack(stacks[1], BYTES) == 0 ? 0 : errno;
	move();
	rounds++;
}

static void *have_less(void *arg)
{
	static const size_t sizes[] = { 1023, 2047, 2048, 5119, 5120, 8192, 16384 };
	char name[16];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		snprintf(name, sizeof(name), "%zu", sizes[i]);
		show_errno(name, set_stack(stacks[0], sizes[i]));
	}
	show_errno("8192 again", set_stack(stacks[0], 8192));
	raise(SIGUSR1);
	printf("%d rounds, %d there, %d on it\n", rounds, there, on_it);
	return arg;
}

static void a_small_stack_is_one(void)
{
	handle(SIGUSR1, look_around, SA_ONSTACK);
	finish(start(have_less, NULL));
}

static void *handle_there(void *arg)
{
	set_stack(stacks[0], BYTES);
	for (int i = 0; i < 5; i++)
		raise(SIGUSR1);
	show("set meanwhile", error);
	show_stack("after it");
	raise(SIGUSR2);
	printf("%d rounds, %d there, %d on it\n", rounds, there, on_it);
	return arg;
}

static void handlers_that_ask_for_it_run_there(void)
{
	handle(SIGUSR1, look_around, SA_ONSTACK);
	handle(SIGUSR2, look_around, 0);
	finish(start(handle_there, NULL));
}

static volatile int ready, stop;

static void *compute(void *arg)
{
	set_stack(stacks[0], BYTES);
	ready = 1;
	while (!stop)
		;
	return arg;
}

static void look_and_stop(int signal)
{
	look_around(signal);
	stop = 1;
}

static void a_thread_that_computes_is_interrupted_there(void)
{
	pthread_t t;

	handle(SIGUSR1, look_and_stop, SA_ONSTACK);
	t = start(compute, NULL);
	while (!ready)
		sched_yield();
	while (!stop) {
		pthread_kill(t, SIGUSR1);
		usleep(1000);
	}
	finish(t);
	printf("%d\n", there == rounds && on_it == rounds && rounds > 0);
}

static sigjmp_buf back;

static void leave(int signal)
{
	look_around(signal);
	siglongjmp(back, 1);
}

static void *jump_out(void *arg)
{
	set_stack(stacks[0], BYTES);
	for (volatile int i = 0; i < 5; i++) {
		if (sigsetjmp(back, 1) == 0)
			raise(SIGUSR1);
		move();
	}
	show_stack("left");
	printf("%d there, %d on it\n", there, on_it);
	return arg;
}

static void a_handler_may_jump_out(void)
{
	handle(SIGUSR1, leave, SA_ONSTACK | SA_NODEFER);
	finish(start(jump_out, NULL));
}

static void leave_fault(int signal)
{
	siglongjmp(back, signal);
}

static void *fault(void *arg)
{
	int *volatile nowhere = NULL;

	set_stack(stacks[0], BYTES);
	for (volatile int i = 0; i < 5; i++) {
		int signal = sigsetjmp(back, 1);

		if (!signal)
			*nowhere = 1;
		printf("%d\n", signal == SIGSEGV);
		move();
	}
	show_stack("left");
	return arg;
}

static void a_fault_may_be_jumped_out_of(void)
{
	handle(SIGSEGV, leave_fault, SA_ONSTACK);
	finish(start(fault, NULL));
}

static void *do_nothing(void *arg)
{
	return arg;
}

/* The first thread's, set before there are others, and gone afterwards. */
static void the_first_threads_goes_with_it(void)
{
	const stack_t none = { .ss_flags = SS_DISABLE };
	char *mine = malloc(BYTES);
	int *volatile nowhere = NULL;
	stack_t s;

	set_stack(mine, BYTES);
	finish(start(do_nothing, NULL));
	move();
	show_stack("before");
	sigaltstack(&none, &s);
	printf("%d\n", s.ss_sp == mine && s.ss_size == BYTES);
	memset(mine, 0, BYTES);
	free(mine);
	move();
	handle(SIGSEGV, leave_fault, SA_ONSTACK);
	if (sigsetjmp(back, 1) == 0)
		*nowhere = 1;
	show_stack("after");
}

static void *fork_there(void *arg)
{
	int status = 0;

	set_stack(stacks[0], BYTES);
	fflush(stdout);
	if (fork() == 0) {
		handle(SIGUSR1, look_around, SA_ONSTACK);
		raise(SIGUSR1);
		show_stack("child");
		fflush(stdout);
		_exit(there + 2 * on_it);
	}
	wait(&status);
	printf("%d\n", WEXITSTATUS(status));
	return arg;
}

static void a_child_has_its_threads(void)
{
	finish(start(fork_there, NULL));
}

/* --- after others have had the CPU --------------------------------- */

#define TURNS	100

static volatile int turn;

static void end_there(int unused)
{
	(void)unused;
	printf("over the end\n");
	fflush(stdout);
	_exit(3);
}

static long fall(long depth)
{
	volatile char room[1024];

	room[0] = (char)depth;
	return depth < 0 ? 0 : fall(depth + 1) + room[0];
}

/* They have none of their own, and wait for each other without a call. */
static void *spin(void *number)
{
	const int mine = (int)(long)number;

	while (turn < TURNS)
		if (turn % THREADS == mine)
			turn++;
	return NULL;
}

static void *fall_there(void *arg)
{
	set_stack(stacks[0], BYTES);
	return (void *)fall((long)arg);
}

static void the_end_of_the_stack_is_told_after_preemptions(void)
{
	pthread_t t[THREADS];

	handle(SIGSEGV, end_there, SA_ONSTACK);
	for (long i = 0; i < THREADS; i++)
		t[i] = start(spin, (void *)i);
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
	finish(start(fall_there, NULL));
}

static const struct compare_case cases[] = {
	COMPARE(each_thread_has_its_own),
	COMPARE(what_is_wrong_is_refused),
	COMPARE(a_small_stack_is_one),
	COMPARE(handlers_that_ask_for_it_run_there),
	COMPARE(a_thread_that_computes_is_interrupted_there),
	COMPARE(a_handler_may_jump_out),
	COMPARE(a_fault_may_be_jumped_out_of),
	COMPARE(the_first_threads_goes_with_it),
	COMPARE(a_child_has_its_threads),
	ENDS_WITH(3, the_end_of_the_stack_is_told_after_preemptions),
};

COMPARE_MAIN(cases)
