/* SPDX-License-Identifier: MIT */
/*
 * test_trapped.c - futexes by instructions of a library's own: wakes between
 * both kinds of calls, what a thread takes along, and programs that have SIGSYS
 * for themselves
 *
 * What each call answers is in test_futex.c, which is built for them too.
 */
#include "compare.h"

#include <linux/futex.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "inline_call.h"
#include "tasks.h"

#define THREADS	8
#define ALL	0x7fffffff
#define VAIN	1000	/* more than it takes for them not to be trapped */

static _Atomic unsigned word, other;

static long futex(_Atomic unsigned *at, int op, unsigned value)
{
	return inline_call(SYS_futex, at, op | FUTEX_PRIVATE_FLAG, value, NULL,
			   NULL, 0);
}

static void wait_while(_Atomic unsigned *at, unsigned value)
{
	while (*at == value)
		futex(at, FUTEX_WAIT, value);
}

static void wake_in_vain(void)
{
	for (int i = 0; i < VAIN; i++)
		futex(&other, FUTEX_WAKE, ALL);
}

/* --- turns, in a ring; now and then nobody is there to be woken ---- */

#define TURNS	scaled(2000)

static void *take_turns(void *number)
{
	unsigned mine = (unsigned)(long)number;

	for (unsigned now; (now = word) < TURNS; ) {
		if (now % THREADS != mine) {
			futex(&word, FUTEX_WAIT, now);
			continue;
		}
		if (now % 100 == 0)
			wake_in_vain();
		word = now + 1;
		futex(&word, FUTEX_WAKE, ALL);
	}
	return NULL;
}

static void turns_go_round(void)
{
	pthread_t t[THREADS];

	word = 0;
	for (long i = 0; i < THREADS; i++)
		t[i] = start(take_turns, (void *)i);
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
	printf("%d\n", word == TURNS);
}

/* --- trapped or not ------------------------------------------------ */

static _Atomic int waiting;

static void *wait_once(void *arg)
{
	waiting++;
	wait_while(&word, 0);
	return arg;
}

/* The waits were not trapped when they began, the wakes are, or the other way. */
static void those_who_wait_are_woken_either_way(void)
{
	for (int round = 0; round < 20; round++) {
		pthread_t t[THREADS];

		word = 0;
		waiting = 0;
		if (round % 2)
			wake_in_vain();
		for (int i = 0; i < THREADS; i++)
			t[i] = start(wait_once, NULL);
		while (waiting < THREADS)
			sched_yield();
		if (round % 4 > 1)
			usleep(10000);
		if (round % 3 == 0)
			wake_in_vain();
		word = 1;
		futex(&word, FUTEX_WAKE, ALL);
		for (int i = 0; i < THREADS; i++)
			finish(t[i]);
	}
	printf("all\n");
}

static void from_libcs_own_calls_too(void)
{
	pthread_t t = start(wait_once, NULL);

	while (!waiting)
		sched_yield();
	usleep(20000);
	word = 1;
	syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, ALL, NULL,
		NULL, 0);
	finish(t);
	printf("woken\n");
}

/* --- by a kernel thread that is libc's ----------------------------- */

static void wake_from_timer(union sigval unused)
{
	(void)unused;
	word = 1;
	futex(&word, FUTEX_WAKE, ALL);
}

static void a_timers_thread_wakes(void)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD,
		.sigev_notify_function = wake_from_timer,
	};
	const struct itimerspec soon = { .it_value.tv_nsec = 30000000 };
	pthread_t t[THREADS];
	timer_t timer;

	word = 0;
	for (int i = 0; i < THREADS; i++)
		t[i] = start(wait_once, NULL);
	show_errno("timer", timer_create(CLOCK_MONOTONIC, &event, &timer));
	show_errno("set", timer_settime(timer, 0, &soon, NULL));
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
	printf("woken\n");
}

/* --- what is the thread's, and what its kernel thread's ------------ */

#define SAMPLES	4096

static struct sample {
	long tid;
	void *stack;
} samples[SAMPLES];

static _Atomic unsigned sampled;

/* A sample of the kernel thread that we are on all the while. */
static int take_sample(struct sample *s)
{
	stack_t stack;

	s->tid = inline_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
	if (inline_call(SYS_sigaltstack, NULL, &stack, 0, 0, 0, 0) != 0)
		abort();
	s->stack = stack.ss_sp;
	return inline_call(SYS_gettid, 0, 0, 0, 0, 0, 0) == s->tid;
}

static void *sample_around(void *number)
{
	unsigned mine = (unsigned)(long)number;

	for (unsigned now; (now = word) < TURNS; ) {
		if (now % THREADS != mine) {
			errno = ERANGE;
			inline_call_raw(SYS_futex, (const long[]){
				(long)&word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG,
				now, 0, 0, 0 });
			if (errno != ERANGE)
				abort();
			continue;
		}
		if (sampled < SAMPLES && take_sample(&samples[sampled]))
			sampled++;
		word = now + 1;
		futex(&word, FUTEX_WAKE, ALL);
	}
	return NULL;
}

static void alternate_stacks_stay_with_kernel_threads(void)
{
	pthread_t t[THREADS];
	int same = 1;

	word = 0;
	for (long i = 0; i < THREADS; i++)
		t[i] = start(sample_around, (void *)i);
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
	for (unsigned i = 1; i < sampled; i++)
		for (unsigned k = 0; k < i; k++)
			if (samples[i].tid == samples[k].tid &&
			    samples[i].stack != samples[k].stack)
				same = 0;
	printf("%d %d\n", sampled > 0, same);
}

static sigjmp_buf back;

static void jump_out(int unused)
{
	(void)unused;
	siglongjmp(back, 1);
}

static void *be_interrupted(void *times)
{
	for (volatile long i = 0; i < (long)times; i++) {
		if (sigsetjmp(back, 1) == 0) {
			waiting++;
			for (;;)
				futex(&word, FUTEX_WAIT, 0);
		}
	}
	waiting = -1;
	return NULL;
}

static void a_handler_may_jump_out_of_a_wait(void)
{
	struct sigaction action = { .sa_handler = jump_out };
	pthread_t t;

	sigaction(SIGUSR1, &action, NULL);
	word = 0;
	waiting = 0;
	t = start(be_interrupted, (void *)scaled(100));
	for (int seen = 0; waiting >= 0; ) {
		if (waiting == seen) {
			sched_yield();
			continue;
		}
		seen = waiting;
		usleep(seen % 2 * 100);
		if (seen > 0)
			pthread_kill(t, SIGUSR1);
	}
	finish(t);
	printf("%d\n", waiting);
}

static void *wait_for_ever(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	waiting++;
	for (;;)
		futex(&word, FUTEX_WAIT, 0);
	return arg;
}

static void a_waiting_thread_may_be_cancelled(void)
{
	pthread_t t = start(wait_for_ever, NULL);

	while (!waiting)
		sched_yield();
	usleep(20000);
	pthread_cancel(t);
	printf("%d\n", finish(t) == PTHREAD_CANCELED);
}

/* --- other calls --------------------------------------------------- */

static void *ask_other_things(void *arg)
{
	printf("%d\n", inline_call(SYS_getpid, 0, 0, 0, 0, 0, 0) == getpid());
	show_errno("close", inline_call(SYS_close, -1, 0, 0, 0, 0, 0));
	show_errno("no such call", inline_call(100000, 0, 0, 0, 0, 0, 0));
	return arg;
}

static void all_others_are_the_kernels(void)
{
	finish(start(ask_other_things, NULL));
}

static void in_a_child_they_are_the_kernels_again(void)
{
	pid_t child;
	int status;

	waiting = 0;
	finish(start(ask_other_things, NULL));
	fflush(stdout);
	child = fork();
	if (child == 0) {
		ask_other_things(NULL);
		those_who_wait_are_woken_either_way();
		fflush(stdout);
		_exit(7);
	}
	waitpid(child, &status, 0);
	printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

#define MANY	60
#define FEW	30

static void many_wait_on_few_kernel_threads(void)
{
	pthread_t t[MANY];

	/* Those that come first are not trapped, until one is seen to be blocked. */
	word = 1;
	finish(start(wait_once, NULL));
	wake_in_vain();
	word = 0;
	waiting = 0;
	for (int i = 0; i < MANY; i++)
		t[i] = start(wait_once, NULL);
	while (waiting < MANY)
		sched_yield();
	usleep(100000);		/* time for the monitor to see the blocked
				 * threads */
	await_few_tasks(FEW);
	word = 1;
	futex(&word, FUTEX_WAKE, ALL);
	for (int i = 0; i < MANY; i++)
		finish(t[i]);
	printf("few: 1\n");
}

/* --- SIGSYS is the program's --------------------------------------- */

static _Atomic int caught;

static void catch(int number, siginfo_t *info, void *unused)
{
	(void)unused;
	caught += number == SIGSYS && info->si_code == SI_TKILL;
}

static void catch_plainly(int number)
{
	caught += number == SIGSYS;
}

/* After it has been one of the runtime's for a while. */
static void use_it(void)
{
	pthread_t t[THREADS];
	struct sigaction mine = { .sa_sigaction = catch, .sa_flags = SA_SIGINFO };
	struct sigaction now;

	word = 0;
	waiting = 0;
	for (int i = 0; i < THREADS; i++)
		t[i] = start(wait_once, NULL);
	while (waiting < THREADS)
		sched_yield();
	sigaction(SIGSYS, NULL, &now);
	printf("default: %d\n", now.sa_handler == SIG_DFL);
	if (caught < 0) {
		signal(SIGSYS, catch_plainly);
	} else {
		show_errno("sigaction", sigaction(SIGSYS, &mine, &now));
		printf("default: %d\n", now.sa_handler == SIG_DFL);
	}
	caught = 0;
	word = 1;
	futex(&word, FUTEX_WAKE, ALL);
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
	raise(SIGSYS);
	printf("caught: %d\n", caught);
	those_who_wait_are_woken_either_way();
	sigaction(SIGSYS, NULL, &now);
	printf("default: %d, caught: %d\n", now.sa_handler == SIG_DFL, caught);
}

static void a_program_may_have_its_signal(void)
{
	use_it();
}

static void a_program_may_have_its_signal_by_signal(void)
{
	caught = -1;
	use_it();
}

static void a_program_may_have_its_signal_before(void)
{
	signal(SIGSYS, catch_plainly);
	those_who_wait_are_woken_either_way();
	raise(SIGSYS);
	printf("caught: %d\n", caught);
}

static void *raise_it(void *arg)
{
	printf("now\n");
	fflush(stdout);
	raise(SIGSYS);
	return arg;
}

static void it_ends_the_program_by_default(void)
{
	those_who_wait_are_woken_either_way();
	finish(start(raise_it, NULL));
	printf("still here\n");
}

static void ignored_it_does_nothing(void)
{
	signal(SIGSYS, SIG_IGN);
	those_who_wait_are_woken_either_way();
	finish(start(raise_it, NULL));
	printf("still here\n");
}

static const struct compare_case cases[] = {
	COMPARE(turns_go_round),
	COMPARE(those_who_wait_are_woken_either_way),
	COMPARE(from_libcs_own_calls_too),
	COMPARE(a_timers_thread_wakes),
	COMPARE(alternate_stacks_stay_with_kernel_threads),
	COMPARE(a_handler_may_jump_out_of_a_wait),
	COMPARE(a_waiting_thread_may_be_cancelled),
	COMPARE(all_others_are_the_kernels),
	COMPARE(in_a_child_they_are_the_kernels_again),
	WEFT_ONLY(many_wait_on_few_kernel_threads, "few: 1\n"),
	COMPARE(a_program_may_have_its_signal),
	COMPARE(a_program_may_have_its_signal_by_signal),
	COMPARE(a_program_may_have_its_signal_before),
	ENDS_BY(SIGSYS, it_ends_the_program_by_default),
	COMPARE(ignored_it_does_nothing),
};

COMPARE_MAIN(cases)
