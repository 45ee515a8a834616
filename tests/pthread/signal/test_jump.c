/* SPDX-License-Identifier: MIT */
/* test_jump.c - handlers that leave by siglongjmp() */
#include "compare.h"
#include "../../support/heap.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/wait.h>

#define TIMES	5

static sigjmp_buf back;
static _Atomic int here, jumps;
static int ends[2], queue;

static void handle(void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaddset(&action.sa_mask, SIGUSR2);
	sigaction(SIGUSR1, &action, NULL);
}

static void show_mask(const char *when)
{
	sigset_t set;

	pthread_sigmask(SIG_BLOCK, NULL, &set);
	printf("%s: %d %d %d\n", when, sigismember(&set, SIGUSR1),
	       sigismember(&set, SIGUSR2), sigismember(&set, SIGALRM));
}

static void block(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void jump(int signal)
{
	jumps++;
	siglongjmp(back, signal);
}

/* One signal for each time that the thread has come back. */
static void send_to(pthread_t t)
{
	for (int i = 0; i < TIMES; i++) {
		while (!here)
			sched_yield();
		here = 0;
		usleep(2000);	/* most likely it computes, or waits, by now */
		pthread_kill(t, SIGUSR1);
	}
}

/* Goes on behind the place each time that a handler has left. */
static void leave_often(void (*stay)(void))
{
	sigsetjmp(back, 1);
	if (jumps < TIMES) {
		here = 1;
		stay();
	}
}

static void *be_left(void *stay)
{
	leave_often(*(void (**)(void))stay);
	printf("%d jumps\n", jumps);
	show_mask("after");
	return stay;
}

static void leave(void (*stay)(void), int flags)
{
	pthread_t t;

	handle(jump, flags);
	t = start(be_left, &stay);
	send_to(t);
	finish(t);
}

static volatile unsigned long sum;
static volatile int never;

static void compute(void)
{
	while (!never)
		sum++;
}

static void deep(int depth)
{
	volatile char room[2000];

	room[0] = (char)depth;
	if (depth > 0)
		deep(depth - 1);
	else
		compute();
	sum += (unsigned long)room[0];
}

static void compute_deeper(void)
{
	deep(jumps);
}

static void a_computation_is_left(void)
{
	leave(compute, 0);
}

static void a_deeper_one_each_time(void)
{
	leave(compute_deeper, SA_RESTART);
}

static void stay_in_read(void)
{
	char c;

	if (read(ends[0], &c, 1) != 1)
		printf("read: %d\n", errno);
}

static void a_read_is_left(void)
{
	if (pipe(ends) != 0)
		abort();
	leave(stay_in_read, SA_RESTART);
}

static void stay_in_a_queue(void)
{
	struct { long type; char c; } m;

	if (msgrcv(queue, &m, 1, 0, 0) < 0)
		printf("msgrcv: %d\n", errno);
}

/* The thread blocks in the kernel; others run when it has left that. */
static void a_call_in_the_kernel_is_left(void)
{
	queue = msgget(IPC_PRIVATE, 0600);
	if (queue < 0)
		abort();
	leave(stay_in_a_queue, 0);
	msgctl(queue, IPC_RMID, NULL);
	jumps = 0;
	leave(compute, 0);
}

static void stay_asleep(void)
{
	sleep(1000);
}

static void a_sleep_is_left(void)
{
	leave(stay_asleep, 0);
}

/* --- masks --------------------------------------------------------- */

static void *jump_with_mask(void *arg)
{
	block(SIGALRM);
	if (sigsetjmp(back, 1) == 0) {
		block(SIGUSR2);
		raise(SIGUSR1);
	}
	show_mask("saved");
	if (sigsetjmp(back, 0) == 0)
		raise(SIGUSR1);
	show_mask("not saved");
	return arg;
}

static void the_mask_is_that_of_the_place(void)
{
	handle(jump, 0);
	finish(start(jump_with_mask, NULL));
}

static void jump_with_another(int signal)
{
	if (++jumps < 3)
		raise(signal);		/* it is blocked now */
	siglongjmp(back, 1);
}

static void *jump_with_one_that_waits(void *arg)
{
	if (sigsetjmp(back, 1) == 0)
		raise(SIGUSR1);
	printf("%d\n", jumps);
	show_mask("after");
	return arg;
}

static void what_waits_is_handled_in_the_jump(void)
{
	handle(jump_with_another, 0);
	finish(start(jump_with_one_that_waits, NULL));
}

static void *do_nothing(void *arg)
{
	return arg;
}

/* The place was noted when the process had one thread. */
static void a_place_from_before_there_were_threads(void)
{
	handle(jump, 0);
	block(SIGALRM);
	if (sigsetjmp(back, 1) == 0) {
		finish(start(do_nothing, NULL));
		block(SIGUSR2);
		raise(SIGUSR1);
	}
	show_mask("after");
	printf("%d\n", jumps);
}

/* --- and whose mask the kernel thread has -------------------------- */

static void count(int signal)
{
	(void)signal;
	jumps++;
}

static void kill_from_outside(int signal)
{
	pid_t parent = getpid(), child = fork();

	if (child == 0) {
		kill(parent, signal);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* The kernel can give it only to the kernel thread that takes it for all. */
static void after_a_jump_to_before_the_threads_it_is_still_asked(void)
{
	handle(count, 0);
	if (sigsetjmp(back, 1) == 0) {
		finish(start(do_nothing, NULL));
		siglongjmp(back, 1);
	}
	block(SIGUSR1);
	for (int i = 0; i < TIMES; i++)
		kill_from_outside(SIGUSR1);
	printf("%d\n", jumps);
	show_mask("after");
}

/* A shell's way. The second time the place is used it is the same one. */
static void a_child_jumps_to_where_its_parent_was(void)
{
	volatile int times = 0;
	pid_t child = -1;
	int status = 0;

	finish(start(do_nothing, NULL));
	block(SIGALRM);
	if (sigsetjmp(back, 1) == 0) {
		block(SIGUSR2);
		child = fork();
		if (child == 0)
			siglongjmp(back, 1);
		waitpid(child, &status, 0);
		printf("%d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
		return;
	}
	show_mask("in the child");
	if (++times < 2)
		siglongjmp(back, 1);
	finish(start(do_nothing, NULL));
	if (times++ < 3)
		siglongjmp(back, 1);
	fflush(stdout);
	kill(getpid(), SIGTERM);
}

/* The macro of that name is _setjmp(), which saves no mask. */
int function_setjmp(jmp_buf env) __asm__("setjmp")
	__attribute__((returns_twice));

static void *jump_by_the_function(void *arg)
{
	block(SIGALRM);
	for (volatile int i = 0; i < 2; i++) {
		if (function_setjmp(back) == 0) {
			block(SIGUSR2);
			longjmp(back, 1);
		}
		show_mask("after");
		if (sigsetjmp(back, 1) == 0)
			block(SIGPIPE);
	}
	raise(SIGUSR1);
	printf("%d\n", jumps);
	return arg;
}

static void the_function_setjmp_saves_the_mask(void)
{
	handle(count, 0);
	finish(start(jump_by_the_function, NULL));
}

/* --- waits that are left ------------------------------------------- */

static void *leave_sigwaitinfo(void *set)
{
	if (sigsetjmp(back, 1) == 0) {
		here = 1;
		sigwaitinfo(set, NULL);
	}
	here = 2;
	while (here == 2)
		usleep(1000);
	return set;
}

/* A thread that left the wait for a signal, and blocks it, does not get it. */
static void a_wait_for_signals_is_left(void)
{
	const struct sigaction action = { .sa_handler = count };
	sigset_t set;
	pthread_t t;

	handle(jump, 0);
	sigaction(SIGUSR2, &action, NULL);
	block(SIGUSR2);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	t = start(leave_sigwaitinfo, &set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	while (here != 1)
		sched_yield();
	usleep(20000);		/* most likely it waits by now */
	pthread_kill(t, SIGUSR1);
	while (here != 2)
		sched_yield();
	kill_from_outside(SIGUSR2);
	while (jumps < 2)
		sched_yield();
	here = 3;
	finish(t);
	printf("%d\n", jumps);
}

#define MANY	64	/* more than a wait has room for on the stack */
#define LEFT	400
#define LOST	(LEFT * MANY * sizeof(*polled) / 2)

static struct pollfd polled[MANY];

static void stay_in_poll(void)
{
	poll(polled, MANY, -1);
}

static void stay_in_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	for (int i = 0; i < MANY; i++)
		FD_SET(polled[i].fd, &set);
	select(FD_SETSIZE, &set, NULL, NULL, NULL);
}

static void *be_left_often(void *stay)
{
	for (volatile int i = 0; i < LEFT; i++)
		if (sigsetjmp(back, 1) == 0) {
			here = 1;
			(*(void (**)(void))stay)();
		}
	return stay;
}

static void leave_many(void (*stay)(void))
{
	pthread_t t = start(be_left_often, &stay);

	for (int i = 0; i < LEFT; i++) {
		while (!here)
			sched_yield();
		here = 0;
		usleep(500);	/* most likely it waits by now */
		pthread_kill(t, SIGUSR1);
	}
	finish(t);
}

/* Some time: kernel threads may be made, which have memory too. */
static void lose_nothing(void (*stay)(void))
{
	int lost = 1;

	for (int i = 0; lost && i < 5; i++) {
		size_t before = heap_in_use();

		jumps = 0;
		leave_many(stay);
		lost = heap_in_use() > before + LOST;
	}
	printf("%d jumps, %s lost\n", jumps, lost ? "memory is" : "nothing");
}

static void waits_for_many_are_left(void)
{
	handle(jump, 0);
	for (int i = 0; i < MANY; i++) {
		if (pipe(ends) != 0)
			abort();
		polled[i] = (struct pollfd){ ends[0], POLLIN, 0 };
	}
	lose_nothing(stay_in_poll);
	lose_nothing(stay_in_select);
}

/* --- as _FORTIFY_SOURCE has it ------------------------------------- */

_Noreturn void __longjmp_chk(struct __jmp_buf_tag env[1], int value);

static void jump_checked(int signal)
{
	jumps++;
	__longjmp_chk(back, signal);
}

static void *jump_from_above(void *stack)
{
	const stack_t s = { .ss_sp = stack, .ss_size = 65536 };
	const stack_t none = { .ss_flags = SS_DISABLE };

	sigaltstack(&s, NULL);
	for (volatile int i = 0; i < TIMES; i++)
		if (sigsetjmp(back, 1) == 0)
			raise(SIGUSR1);
	printf("%d\n", jumps);
	sigaltstack(&none, NULL);
	return stack;
}

/* From an alternate stack above the thread's, and from one below it. */
static void a_checked_jump_leaves_the_alternate_stack(void)
{
	char *room = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t t;

	handle(jump_checked, SA_ONSTACK);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, room + (1 << 20), 1 << 20);
	for (int above = 0; above < 2; above++) {
		if (pthread_create(&t, &attr, jump_from_above,
				   room + above * (3 << 20)) != 0)
			abort();
		finish(t);
	}
}

static const struct compare_case cases[] = {
	COMPARE(a_computation_is_left),
	COMPARE(a_deeper_one_each_time),
	COMPARE(a_read_is_left),
	COMPARE(a_call_in_the_kernel_is_left),
	COMPARE(a_sleep_is_left),
	COMPARE(the_mask_is_that_of_the_place),
	COMPARE(what_waits_is_handled_in_the_jump),
	COMPARE(a_place_from_before_there_were_threads),
	COMPARE(after_a_jump_to_before_the_threads_it_is_still_asked),
	COMPARE(a_child_jumps_to_where_its_parent_was),
	COMPARE(the_function_setjmp_saves_the_mask),
	COMPARE(a_wait_for_signals_is_left),
	COMPARE(waits_for_many_are_left),
	COMPARE(a_checked_jump_leaves_the_alternate_stack),
};

COMPARE_MAIN(cases)
