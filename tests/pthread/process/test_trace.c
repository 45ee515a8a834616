/* SPDX-License-Identifier: MIT */
/* test_trace.c - ptrace() by threads that go from kernel thread to kernel thread */
#include "compare.h"

#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "gate.h"

#define THREADS	4
#define STEPS	10

/* In the child's memory. */
static volatile long word = 42;

static void show_wait(const char *what, int status)
{
	if (WIFSTOPPED(status))
		printf("%s: stopped by %d, event %d\n", what, WSTOPSIG(status),
		       status >> 16);
	else if (WIFSIGNALED(status))
		printf("%s: killed by %d\n", what, WTERMSIG(status));
	else
		printf("%s: exit %d\n", what, WEXITSTATUS(status));
}

static void wait_and_show(const char *what, pid_t pid, int options)
{
	int status;

	if (waitpid(pid, &status, options) == pid)
		show_wait(what, status);
	else
		show(what, errno);
}

/* It asks to be traced, and ends with the value of the word. */
static pid_t make_traced(unsigned delay_us)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child != 0)
		return child;
	usleep(delay_us);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(99);
	raise(SIGSTOP);
	_exit((int)word);
}

/* It does nothing, for ever. */
static pid_t make_idle(void)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	while (child == 0)
		pause();
	return child;
}

static void end_idle(pid_t child)
{
	show_errno("kill", kill(child, SIGKILL));
	wait_and_show("end", child, 0);
}

static void in_thread(void *(*fn)(void *arg))
{
	finish(start(fn, NULL));
}

/* --- a child that asks ---------------------------------------------- */

static void *trace_child(void *arg)
{
	pid_t child = make_traced(0);

	wait_and_show("stop", child, 0);
	errno = 5;
	printf("peek: %ld, errno %d\n",
	       ptrace(PTRACE_PEEKDATA, child, &word, NULL), errno);
	show_errno("poke", ptrace(PTRACE_POKEDATA, child, &word, (void *)7L));
	show_errno("go on", ptrace(PTRACE_CONT, child, NULL, NULL));
	wait_and_show("end", child, 0);
	show_errno("no more", ptrace(PTRACE_CONT, child, NULL, NULL));
	return arg;
}

static void a_child_that_asks_is_traced(void)
{
	in_thread(trace_child);
}

static void *wait_before_it_asks(void *arg)
{
	const int waits[] = { 0, __WNOTHREAD, __WALL };
	siginfo_t info;
	pid_t child;

	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		child = make_traced(20000);
		wait_and_show("stop", child, waits[i]);
		show_errno("go on", ptrace(PTRACE_CONT, child, NULL, NULL));
		wait_and_show("end", child, waits[i]);
	}
	child = make_traced(20000);
	memset(&info, 0, sizeof(info));
	show_errno("waitid", waitid(P_PID, (id_t)child, &info, WEXITED));
	printf("%d %d\n", info.si_code == CLD_TRAPPED, info.si_status);
	show_errno("go on", ptrace(PTRACE_CONT, child, NULL, NULL));
	show_errno("waitid", waitid(P_PID, (id_t)child, &info, WEXITED));
	printf("%d %d\n", info.si_code == CLD_EXITED, info.si_status);
	return arg;
}

static void a_thread_that_waits_already_is_told(void)
{
	in_thread(wait_before_it_asks);
}

static void *trace_program(void *arg)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl("/bin/true", "true", NULL);
		_exit(98);
	}
	wait_and_show("exec", child, 0);
	show_errno("go on", ptrace(PTRACE_CONT, child, NULL, NULL));
	wait_and_show("end", child, 0);
	return arg;
}

static void a_program_is_traced(void)
{
	in_thread(trace_program);
}

static void *trace_by_syscall(void *arg)
{
	pid_t child = make_traced(0);
	long read = 0;

	wait_and_show("stop", child, 0);
	show_errno("peek", syscall(SYS_ptrace, PTRACE_PEEKDATA, child, &word,
				   &read));
	printf("%ld\n", read);
	show_errno("nowhere", syscall(SYS_ptrace, PTRACE_PEEKDATA, child, 8,
				      &read));
	show_errno("nowhere", ptrace(PTRACE_PEEKDATA, child, (void *)8, NULL));
	show_errno("poke", ptrace(PTRACE_POKEDATA, child, &word, (void *)-1L));
	errno = 5;
	printf("%ld, errno %d\n", ptrace(PTRACE_PEEKDATA, child, &word, NULL),
	       errno);
	show_errno("kill", syscall(SYS_ptrace, PTRACE_KILL, child, 0, 0));
	wait_and_show("end", child, 0);
	return arg;
}

static void syscall_is_the_kernels(void)
{
	in_thread(trace_by_syscall);
}

/* --- others --------------------------------------------------------- */

static void *attach(void *arg)
{
	pid_t child = make_idle();
	char registers[4096];
	struct iovec all = { registers, sizeof(registers) };

	show_errno("not ours", ptrace(PTRACE_CONT, child, NULL, NULL));
	show_errno("attach", ptrace(PTRACE_ATTACH, child, NULL, NULL));
	wait_and_show("stop", child, 0);
	show_errno("again", ptrace(PTRACE_ATTACH, child, NULL, NULL));
	show_errno("registers", ptrace(PTRACE_GETREGSET, child,
				       (void *)(long)NT_PRSTATUS, &all));
	printf("some: %d\n", all.iov_len > 0 && all.iov_len < sizeof(registers));
	show_errno("detach", ptrace(PTRACE_DETACH, child, NULL, NULL));
	show_errno("not ours", ptrace(PTRACE_CONT, child, NULL, NULL));
	end_idle(child);
	show_errno("nobody", ptrace(PTRACE_ATTACH, child, NULL, NULL));
	show_errno("itself", ptrace(PTRACE_ATTACH, getpid(), NULL, NULL));
	return arg;
}

static void a_thread_attaches_and_detaches(void)
{
	in_thread(attach);
}

static void *seize(void *arg)
{
	pid_t child = make_idle();

	show_errno("seize", ptrace(PTRACE_SEIZE, child, NULL, NULL));
	for (int i = 0; i < 3; i++) {
		show_errno("interrupt",
			   ptrace(PTRACE_INTERRUPT, child, NULL, NULL));
		wait_and_show("stop", child, 0);
		show_errno("go on", ptrace(PTRACE_CONT, child, NULL, NULL));
	}
	end_idle(child);
	return arg;
}

static void a_thread_seizes_and_interrupts(void)
{
	in_thread(seize);
}

static void *wait_for_stop(void *child)
{
	wait_and_show("stop", *(pid_t *)child, 0);
	return NULL;
}

/* The main thread goes on being the tracer. */
static void another_waits_already(void)
{
	pid_t child = make_idle();
	pthread_t t = start(wait_for_stop, &child);
	int error;

	usleep(20000);
	error = ptrace(PTRACE_ATTACH, child, NULL, NULL) == 0 ? 0 : errno;
	finish(t);
	show("attach", error);
	show_errno("detach", ptrace(PTRACE_DETACH, child, NULL, NULL));
	end_idle(child);
}

static void *trace_family(void *arg)
{
	unsigned long grandchild = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(fork() == 0 ? 3 : 4);
	}
	wait_and_show("stop", child, 0);
	show_errno("options", ptrace(PTRACE_SETOPTIONS, child, NULL,
				     (void *)PTRACE_O_TRACEFORK));
	show_errno("go on", ptrace(PTRACE_CONT, child, NULL, NULL));
	wait_and_show("fork", child, 0);
	show_errno("whose", ptrace(PTRACE_GETEVENTMSG, child, NULL,
				   &grandchild));
	wait_and_show("its stop", (pid_t)grandchild, 0);
	show_errno("go on", ptrace(PTRACE_CONT, (pid_t)grandchild, NULL, NULL));
	wait_and_show("its end", (pid_t)grandchild, 0);
	show_errno("go on", ptrace(PTRACE_CONT, child, NULL, (void *)0));
	/* It is told of its child's end now. */
	wait_and_show("end or SIGCHLD", child, 0);
	kill(child, SIGKILL);
	return arg;
}

static void children_of_the_traced_are_traced(void)
{
	in_thread(trace_family);
}

/* --- on other kernel threads ------------------------------------------ */

static pthread_barrier_t all_stopped;

/* Each request may come from another kernel thread than the one before. */
static void *trace_and_go_on(void *good)
{
	int status, stops = 0, idle = *(int *)good;
	pid_t child = idle ? make_idle() : make_traced(0);

	if (idle && ptrace(PTRACE_SEIZE, child, NULL, NULL) != 0)
		return NULL;
	for (unsigned short i = 0; i < STEPS; i++) {
		if (idle)
			ptrace(PTRACE_INTERRUPT, child, NULL, NULL);
		stops += waitpid(child, &status, 0) == child &&
			 WIFSTOPPED(status);
		pass_gate(i);
		stops += ptrace(PTRACE_POKEDATA, child, &word,
				(void *)(i + 1L)) == 0;
		if (!idle)
			kill(child, SIGSTOP);
		if (i < STEPS - 1)
			ptrace(PTRACE_CONT, child, NULL, NULL);
	}
	pthread_barrier_wait(&all_stopped);
	stops += ptrace(PTRACE_PEEKDATA, child, &word, NULL) == STEPS;
	kill(child, SIGKILL);
	stops += waitpid(child, &status, 0) == child && WIFSIGNALED(status);
	*(int *)good = stops;
	return NULL;
}

static void go_on_elsewhere(int idle)
{
	pthread_t t[THREADS];
	int good[THREADS];

	pthread_barrier_init(&all_stopped, NULL, THREADS);
	make_gates(STEPS);
	for (int i = 0; i < THREADS; i++) {
		good[i] = idle;
		t[i] = start(trace_and_go_on, &good[i]);
	}
	for (unsigned short i = 0; i < STEPS; i++)
		open_gate(i, THREADS);
	for (int i = 0; i < THREADS; i++) {
		finish(t[i]);
		printf("%d\n", good[i]);
	}
	remove_gates();
}

static void requests_go_to_whom_the_child_has(void)
{
	go_on_elsewhere(0);
}

static void requests_go_to_who_has_attached(void)
{
	go_on_elsewhere(1);
}

/* Kernel threads that were not needed for a second end, but for tracers. */
static void *trace_for_long(void *arg)
{
	pid_t child = make_idle();

	show_errno("seize", ptrace(PTRACE_SEIZE, child, NULL, NULL));
	pass_gate(0);
	sleep(3);
	show_errno("interrupt", ptrace(PTRACE_INTERRUPT, child, NULL, NULL));
	wait_and_show("stop", child, 0);
	end_idle(child);
	return arg;
}

static void *only_pass(void *arg)
{
	pass_gate(0);
	return arg;
}

static void a_tracer_does_not_end(void)
{
	pthread_t t[2 * THREADS];

	make_gates(1);
	for (int i = 0; i < 2 * THREADS; i++)
		t[i] = start(i == THREADS ? trace_for_long : only_pass, NULL);
	open_gate(0, 2 * THREADS);
	for (int i = 0; i < 2 * THREADS; i++)
		finish(t[i]);
	remove_gates();
}

static const struct compare_case cases[] = {
	COMPARE(a_child_that_asks_is_traced),
	COMPARE(a_thread_that_waits_already_is_told),
	COMPARE(a_program_is_traced),
	COMPARE(syscall_is_the_kernels),
	COMPARE(a_thread_attaches_and_detaches),
	COMPARE(a_thread_seizes_and_interrupts),
	COMPARE(another_waits_already),
	COMPARE(children_of_the_traced_are_traced),
	COMPARE(requests_go_to_whom_the_child_has),
	COMPARE(requests_go_to_who_has_attached),
	COMPARE(a_tracer_does_not_end),
};

COMPARE_MAIN(cases)
