/* SPDX-License-Identifier: MIT */
/*
 * test_tied_process.c - what stays the kernel's or libc's, and what syscall()
 * does as the function of that name
 */
#include "move.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "gate.h"
#include "tasks.h"

#define KERNEL_IDS	(1 << 22)	/* the most that the kernel has */

/* --- ids ----------------------------------------------------------- */

static _Atomic pid_t ids[THREADS];

static void *have_an_id(void *arg)
{
	const long me = (long)arg;
	long good = 0;

	ids[me] = gettid();
	pthread_barrier_wait(&all_here);
	for (int i = 0; i < THREADS; i++)
		good += ids[i] != ids[me];
	move();
	return (void *)(good + (gettid() == ids[me]) +
			(syscall(SYS_gettid) == ids[me]));
}

static void ids_are_the_threads(void)
{
	printf("%ld\n", in_threads(have_an_id));
	printf("%d\n", gettid() == getpid());
	printf("%d\n", syscall(SYS_gettid) == getpid());
}

static void *is_above(void *arg)
{
	(void)arg;
	return (void *)(long)(gettid() > KERNEL_IDS);
}

static void ids_are_above_the_kernels(void)
{
	printf("%ld\n", in_threads(is_above));
}

/* --- signals by syscall() ------------------------------------------ */

#define BYTES	8	/* of the kernel's sets */

static uint64_t bit(int signal)
{
	return (uint64_t)1 << (signal - 1);
}

static long mask_by_call(int how, const uint64_t *set, uint64_t *old)
{
	return syscall(SYS_rt_sigprocmask, how, set, old, BYTES);
}

static void *have_a_mask(void *arg)
{
	const uint64_t mine = bit(SIGRTMIN + (int)(long)arg), none = 0;
	struct { uint64_t set, after; } old = { 1, 77 };
	sigset_t told;
	long good = 0;

	pthread_barrier_wait(&all_here);
	good += mask_by_call(SIG_SETMASK, &mine, NULL) == 0;
	move();
	pthread_sigmask(SIG_BLOCK, NULL, &told);
	for (int i = 0; i < THREADS; i++)
		good += sigismember(&told, SIGRTMIN + i) == (i == (long)arg);
	good += mask_by_call(SIG_BLOCK, NULL, &old.set) == 0 &&
		old.set == mine && old.after == 77;
	good += mask_by_call(SIG_UNBLOCK, &mine, NULL) == 0;
	move();
	good += mask_by_call(77, NULL, &old.set) == 0 && old.set == none;
	good += mask_by_call(77, &mine, NULL) == -1 && errno == EINVAL;
	return (void *)(good + (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mine,
					NULL, 16) == -1 && errno == EINVAL));
}

static void masks_are_the_threads(void)
{
	printf("%ld\n", in_threads(have_a_mask));
}

static _Atomic int handled;

static void note(int signal)
{
	(void)signal;
	handled++;
}

/* Both are blocked: the one is let in by a wait, the other is taken. */
static void *wait_by_call(void *arg)
{
	const uint64_t both = bit(SIGUSR1) | bit(SIGUSR2);
	const uint64_t first = bit(SIGUSR1), second = bit(SIGUSR2);
	const struct timespec at_once = { 0, 0 };
	uint64_t pending = 0;
	siginfo_t info;
	long id = syscall(SYS_gettid);

	mask_by_call(SIG_BLOCK, &both, NULL);
	show_errno("none", syscall(SYS_rt_sigtimedwait, &both, &info, &at_once,
				   BYTES));
	show_errno("tgkill", syscall(SYS_tgkill, getpid(), id, SIGUSR1));
	show_errno("tkill", syscall(SYS_tkill, id, SIGUSR2));
	show_errno("pending", syscall(SYS_rt_sigpending, &pending, BYTES));
	printf("%d %d\n", pending == both, handled);
	show_errno("suspend", syscall(SYS_rt_sigsuspend, &second, BYTES));
	printf("%d\n", handled);
	printf("%d\n", syscall(SYS_rt_sigtimedwait, &both, &info, NULL,
			       BYTES) == SIGUSR2 && info.si_signo == SIGUSR2);
	show_errno("pending", syscall(SYS_rt_sigpending, &pending, BYTES));
	printf("%d %d\n", pending == 0, handled);
	show_errno("size", syscall(SYS_rt_sigsuspend, &first, 16));
	show_errno("nobody", syscall(SYS_tgkill, getpid(), 0x3fffffff,
				     SIGUSR1));
	show_errno("0", syscall(SYS_tkill, 0, SIGUSR1));
	show_errno("signal", syscall(SYS_tgkill, getpid(), id, 77));
	return arg;
}

static sem_t known;
static _Atomic long id_of_other;

static void *wait_for_a_signal(void *arg)
{
	id_of_other = syscall(SYS_gettid);
	sem_post(&known);
	while (handled < 3)
		usleep(1000);
	return arg;
}

static void signals_are_the_threads(void)
{
	struct sigaction action = { .sa_handler = note };
	pthread_t t;

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	finish(start(wait_by_call, NULL));
	sem_init(&known, 0, 0);
	t = start(wait_for_a_signal, NULL);
	sem_wait(&known);
	show_errno("another", syscall(SYS_tgkill, getpid(), id_of_other,
				      SIGUSR1));
	show_errno("another", syscall(SYS_tkill, id_of_other, SIGUSR2));
	finish(t);
	printf("%d\n", handled);
}

/* --- the process's ------------------------------------------------- */

static gid_t gid, other;	/* the same where it may not change */

static void *be_of_another_group(void *arg)
{
	char line[80];
	int with, all;

	if ((long)arg == 0) {
		show_errno("set", setresgid((gid_t)-1, other, (gid_t)-1));
		snprintf(line, sizeof(line), "Gid:\t%d\t%d\t%d\t%d\n",
			 (int)gid, (int)other, (int)gid, (int)other);
		count_tasks_with_line(line, &with, &all);
		printf("all: %d\n", with == all && all > 0);
	}
	pthread_barrier_wait(&all_here);
	move();
	return (void *)(long)(syscall(SYS_getegid) == (long)other);
}

static void credentials_are_the_processs(void)
{
	gid = getegid();
	other = geteuid() == 0 ? gid + 7 : gid;
	printf("%ld\n", in_threads(be_of_another_group));
}

/* uname() is refused from now on, in a way that nothing else has. */
static void *filter_all(void *arg)
{
	static struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_uname, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	static const struct sock_fprog program = { 4, lines };
	const uint32_t allow = SECCOMP_RET_ALLOW;

	if ((long)arg == 0) {
		show_errno("ask", syscall(SYS_seccomp,
					  SECCOMP_GET_ACTION_AVAIL, 0,
					  &allow));
		show_errno("without", syscall(SYS_seccomp,
					      SECCOMP_SET_MODE_FILTER, 0,
					      NULL));
		show_errno("filter", syscall(SYS_seccomp,
					     SECCOMP_SET_MODE_FILTER,
					     SECCOMP_FILTER_FLAG_TSYNC,
					     &program));
	}
	pthread_barrier_wait(&all_here);
	move();
	return (void *)(long)(syscall(SYS_uname, NULL) == -1 &&
			      errno == EXDEV);
}

static void a_filter_for_all_is_in_all(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	printf("%ld\n", in_threads(filter_all));
}

static void *ask_the_kernel(void *arg)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr) };
	struct io_uring_params ring = { .flags = 0 };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	show_errno("perf of a CPU", syscall(SYS_perf_event_open, &attr, -1, 0,
					    -1, 0));
	show_errno("perf of another", syscall(SYS_perf_event_open, &attr,
					      getppid(), -1, -1, 0));
	show_errno("perf of nobody", syscall(SYS_perf_event_open, &attr,
					     0x3fffffff, -1, -1, 0));
	show_errno("ring", syscall(SYS_io_uring_setup, 4, &ring));
	show_errno("ring of nothing", syscall(SYS_io_uring_setup, 4, NULL));
	show_errno("register", syscall(SYS_io_uring_register, -1, 0, NULL, 0));
	show_errno("mbind", syscall(SYS_mbind, memory, page, 0, NULL, 0, 0));
	show_errno("peek", ptrace(PTRACE_PEEKDATA, getppid(), memory, NULL));
	show_errno("detach", ptrace(PTRACE_DETACH, getppid(), NULL, NULL));
	show_errno("class of the group", syscall(SYS_ioprio_get, 2, 0));
	show_errno("class of nobody", syscall(SYS_ioprio_get, 1, 0x3fffffff));
	return arg;
}

/* In a group of its own, so that no other process's value is changed. */
static void what_names_no_thread_is_the_kernels(void)
{
	setsid();
	show_errno("group", setpriority(PRIO_PGRP, 0, 15));
	finish(start(ask_the_kernel, NULL));
	printf("%d\n", getpriority(PRIO_PGRP, 0));
	show_errno("group", setpriority(PRIO_PGRP, 0, 19));
	printf("%d\n", getpriority(PRIO_PGRP, 0));
	finish(start(ask_the_kernel, NULL));
}

/* In the child all of it is the kernel's: what it keeps, and what libc asks it for. */
static int is_scheduled(const cpu_set_t *cpu, int by_libc)
{
	struct sched_param param;
	clockid_t clock;
	cpu_set_t told;
	int policy, good;

	good = sched_getaffinity(0, sizeof(told), &told) == 0 && CPU_EQUAL(&told, cpu);
	good += getpriority(PRIO_PROCESS, 0) == 19;
	good += sched_getscheduler(0) == SCHED_BATCH;
	good += prctl(PR_GET_TIMERSLACK) == 77777;
	good += syscall(SYS_ioprio_get, 1, 0) == (2 << 13 | 7);
	if (!by_libc)
		return good;
	good += pthread_getaffinity_np(pthread_self(), sizeof(told), &told) == 0 &&
		CPU_EQUAL(&told, cpu);
	good += pthread_setaffinity_np(pthread_self(), sizeof(told), &told) == 0;
	good += pthread_getschedparam(pthread_self(), &policy, &param) == 0;
	good += pthread_setschedparam(pthread_self(), SCHED_BATCH, &param) == 0;
	good += pthread_setschedprio(pthread_self(), 0) == 0;
	good += pthread_getcpuclockid(pthread_self(), &clock) == 0 &&
		clock_getres(clock, NULL) == 0;
	return good;
}

static void *schedule_and_fork(void *arg)
{
	const struct sched_param param = { .sched_priority = 0 };
	cpu_set_t last;
	int status;

	sched_getaffinity(0, sizeof(last), &last);
	for (int i = 0; CPU_COUNT(&last) > 1; i++)
		CPU_CLR(i, &last);
	show_errno("CPU", sched_setaffinity(0, sizeof(last), &last));
	show_errno("policy", sched_setscheduler(0, SCHED_BATCH, &param));
	show_errno("nice", setpriority(PRIO_PROCESS, 0, 19));
	show_errno("slack", prctl(PR_SET_TIMERSLACK, 77777));
	show_errno("files", syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 7));
	printf("told: %d\n", is_scheduled(&last, 0));
	fflush(stdout);
	if (fork() == 0)
		_exit(is_scheduled(&last, 1));
	wait(&status);
	printf("in the child: %d\n", WEXITSTATUS(status));
	return arg;
}

static void a_child_is_scheduled_as_the_thread(void)
{
	finish(start(schedule_and_fork, NULL));
	schedule_and_fork(NULL);
}

/* --- children -------------------------------------------------------- */

static pthread_barrier_t all_forked;

static void *fork_and_stay(void *arg)
{
	pid_t *child = arg;

	pass_gate(0);
	*child = fork();
	if (*child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(1);
	}
	pass_gate(1);
	pthread_barrier_wait(&all_forked);
	pthread_barrier_wait(&all_forked);	/* they were looked for */
	return arg;
}

/* Kernel threads that were not needed for a second end. */
static void a_child_lives_as_long_as_its_parents_thread(void)
{
	pthread_t t[THREADS];
	pid_t child[THREADS];
	int alive = 0;

	pthread_barrier_init(&all_forked, NULL, THREADS + 1);
	make_gates(2);
	for (int i = 0; i < THREADS; i++)
		t[i] = start(fork_and_stay, &child[i]);
	open_gate(0, THREADS);
	open_gate(1, THREADS);
	pthread_barrier_wait(&all_forked);
	remove_gates();
	sleep(3);
	for (int i = 0; i < THREADS; i++)
		alive += waitpid(child[i], NULL, WNOHANG) == 0;
	printf("alive: %d\n", alive);
	for (int i = 0; i < THREADS; i++)
		kill(child[i], SIGKILL);
	pthread_barrier_wait(&all_forked);
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
}

static const struct compare_case cases[] = {
	COMPARE(ids_are_the_threads),
	WEFT_ONLY(ids_are_above_the_kernels, "8\n"),
	COMPARE(masks_are_the_threads),
	COMPARE(signals_are_the_threads),
	COMPARE(credentials_are_the_processs),
	COMPARE(a_filter_for_all_is_in_all),
	COMPARE(what_names_no_thread_is_the_kernels),
	COMPARE(a_child_lives_as_long_as_its_parents_thread),
	COMPARE(a_child_is_scheduled_as_the_thread),
};

COMPARE_MAIN(cases)
