/* SPDX-License-Identifier: MIT */
/* test_thread_id.c - calls that are given what gettid() says of a thread */
#include "compare.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open	434
#endif
#define IO_OF_PROCESS	1
#define BEST_EFFORT_5	(2 << 13 | 5)

int capget(cap_user_header_t head, cap_user_data_t data);

static _Thread_local volatile int got, code;
static _Atomic int other, ended, got_by_all;

static void handle(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	code = info->si_code;
	got++;
	got_by_all++;
}

static void install(int signal)
{
	struct sigaction a = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };

	sigaction(signal, &a, NULL);
}

static void show_got(const char *what, long result)
{
	show_errno(what, result);
	printf("got %d code %d\n", got, code);
}

/* Those of a thread that runs, of the first one, and of one that waits. */
static void in_each(void *(*fn)(void *id))
{
	finish(start(fn, NULL));
	fn(NULL);
}

/* --- signals --------------------------------------------------------- */

static void *signal_itself(void *unused)
{
	const pid_t pid = getpid(), id = gettid();
	siginfo_t info = { .si_code = SI_QUEUE };
	const union sigval value = { .sival_int = 1 };

	install(SIGUSR1);
	info.si_pid = pid;
	show_got("tgkill", tgkill(pid, id, SIGUSR1));
	show_got("by syscall", syscall(SYS_tgkill, pid, id, SIGUSR1));
	show_got("tkill", syscall(SYS_tkill, id, SIGUSR1));
	show_got("nothing", tgkill(pid, id, 0));
	show_got("no signal", tgkill(pid, id, 65));
	show_got("no thread", tgkill(pid, -1, SIGUSR1));
	show_got("no process", tgkill(-1, id, SIGUSR1));
	show_got("another process", tgkill(1, id, SIGUSR1));
	show_got("queue", syscall(SYS_rt_tgsigqueueinfo, pid, id, SIGUSR1, &info));
	show_got("no signal", syscall(SYS_rt_tgsigqueueinfo, pid, id, 65, &info));
	show_got("pthread_sigqueue", pthread_sigqueue(pthread_self(), SIGUSR1, value));
	show_got("kill", kill(id, SIGUSR1));
	show_got("kill by syscall", syscall(SYS_kill, id, SIGUSR1));
	show_got("nothing", kill(id, 0));
	show_got("sigqueue", sigqueue(id, SIGUSR1, value));
	show_got("by syscall", syscall(SYS_rt_sigqueueinfo, id, SIGUSR1, &info));
	return unused;
}

static void a_thread_signals_itself(void)
{
	in_each(signal_itself);
}

static void *be_signalled(void *unused)
{
	other = gettid();
	while (got < 3)
		usleep(1000);
	return unused;
}

/* A signal that is pending already would not come again. */
static void another_is_signalled(void)
{
	siginfo_t info = { .si_code = SI_QUEUE };
	pthread_t t;

	install(SIGUSR1);
	t = start(be_signalled, NULL);
	while (!other)
		usleep(1000);
	for (int i = 1; i <= 2; i++) {
		show_errno("tgkill", tgkill(getpid(), other, SIGUSR1));
		while (got_by_all < i)
			usleep(1000);
	}
	show_errno("queue", syscall(SYS_rt_tgsigqueueinfo, getpid(), other, SIGUSR1,
				    &info));
	finish(t);
	printf("here %d\n", got);
}

static void *tell_id(void *unused)
{
	ended = gettid();
	return unused;
}

static void one_that_has_ended_is_none(void)
{
	struct rlimit limit;

	finish(start(tell_id, NULL));
	/* libc's join returns before the kernel has forgotten the id. */
	while (tgkill(getpid(), ended, 0) == 0)
		sched_yield();
	show_errno("tgkill", tgkill(getpid(), ended, 0));
	show_errno("kill", kill(ended, 0));
	show_errno("getsid", getsid(ended));
	show_errno("limit", prlimit(ended, RLIMIT_NOFILE, NULL, &limit));
}

/* --- what is the process's ------------------------------------------- */

static void *ask_of_process(void *unused)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3, .pid = gettid(),
	};
	struct __user_cap_data_struct data[2];
	char from[8] = "thread", to[8] = "";
	struct iovec l = { to, sizeof(to) }, r = { from, sizeof(from) };
	const pid_t id = gettid();
	struct rlimit limit;
	struct timespec slice;

	printf("group %d session %d\n", getpgid(id) == getpgrp(),
	       getsid(id) == getsid(0));
	printf("by syscall %d %d\n", syscall(SYS_getpgid, id) == getpgrp(),
	       syscall(SYS_getsid, id) == getsid(0));
	show_errno("limit", prlimit(id, RLIMIT_NOFILE, NULL, &limit));
	show_errno("by syscall", syscall(SYS_prlimit64, id, RLIMIT_NOFILE, NULL, &limit));
	printf("read %zd %s\n", process_vm_readv(id, &l, 1, &r, 1, 0), to);
	printf("write %zd\n", process_vm_writev(id, &r, 1, &l, 1, 0));
	printf("by syscall %ld\n", syscall(SYS_process_vm_readv, id, &l, 1, &r, 1, 0));
	show_errno("capget", capget(&head, data));
	printf("id %d\n", head.pid == id);
	show_errno("by syscall", syscall(SYS_capget, &head, data));
	show_errno("slice", sched_rr_get_interval(id, &slice));
	show_errno("by syscall", syscall(SYS_sched_rr_get_interval, id, &slice));
	show_errno("kcmp", syscall(SYS_kcmp, id, getpid(), 1, 0, 0));
	show_errno("other way", syscall(SYS_kcmp, getpid(), id, 1, 0, 0));
	return unused;
}

static void what_is_the_processs_is_told(void)
{
	in_each(ask_of_process);
}

/* --- what is the thread's -------------------------------------------- */

static void *ask_of_thread(void *unused)
{
	const pid_t id = gettid();
	struct sched_param param = { 0 };
	cpu_set_t cpus;
	void *head = NULL;
	size_t bytes = 0;

	show_errno("policy", sched_getscheduler(id));
	show_errno("parameters", sched_getparam(id, &param));
	show_errno("set", sched_setscheduler(id, SCHED_BATCH, &param));
	printf("policy %d\n", sched_getscheduler(id));
	show_errno("cpus", sched_getaffinity(id, sizeof(cpus), &cpus));
	show_errno("set", sched_setaffinity(id, sizeof(cpus), &cpus));
	show_errno("nice", setpriority(PRIO_PROCESS, (id_t)id, 3));
	printf("nice %d\n", getpriority(PRIO_PROCESS, (id_t)id));
	show_errno("list", syscall(SYS_get_robust_list, id, &head, &bytes));
	printf("list %d %zu\n", head != NULL, bytes);
	show_errno("set", syscall(SYS_ioprio_set, IO_OF_PROCESS, id, BEST_EFFORT_5));
	printf("%d\n", syscall(SYS_ioprio_get, IO_OF_PROCESS, id) == BEST_EFFORT_5);
	printf("%d\n", syscall(SYS_ioprio_get, IO_OF_PROCESS, 0) == BEST_EFFORT_5);
	show_errno("wrong", syscall(SYS_ioprio_set, IO_OF_PROCESS, id, 4 << 13));
	return unused;
}

static void what_is_the_threads_is_told(void)
{
	in_each(ask_of_thread);
}

/* Nothing of a thread that is not the first is a process. */
static void *ask_for_process(void *unused)
{
	const pid_t id = gettid();

	printf("descriptor %d\n", syscall(SYS_pidfd_open, id, 0) >= 0);
	show_errno("flags", syscall(SYS_pidfd_open, id, 7));
	show_errno("group", setpgid(id, 0));
	show_errno("nice of group", getpriority(PRIO_PGRP, (id_t)id));
	show_errno("wait", waitpid(id, NULL, WNOHANG));
	return unused;
}

static void a_thread_is_no_process(void)
{
	finish(start(ask_for_process, NULL));
}

/* --- descriptors ----------------------------------------------------- */

static void show_owner(int fd)
{
	struct f_owner_ex owner = { .type = 9 };

	show_errno("owner", fcntl(fd, F_GETOWN_EX, &owner));
	printf("type %d, the caller %d, none %d\n", owner.type,
	       owner.pid == gettid(), owner.pid == 0);
	printf("signal %d\n", fcntl(fd, F_GETSIG) ? 1 : 0);
}

static void *be_owner(void *unused)
{
	struct f_owner_ex owner = { F_OWNER_TID, gettid() };
	int fds[2];

	install(SIGIO);
	install(SIGRTMIN);
	if (pipe(fds) != 0)
		abort();
	show_errno("own", fcntl(fds[0], F_SETOWN_EX, &owner));
	show_owner(fds[0]);
	printf("%d\n", fcntl(fds[0], F_GETOWN) == gettid());
	show_errno("announce", fcntl(fds[0], F_SETFL, O_ASYNC | O_NONBLOCK));
	if (write(fds[1], "x", 1) != 1)
		abort();
	while (got < 1)
		usleep(1000);
	printf("code %d\n", code == SI_KERNEL);
	show_errno("wrong", fcntl(fds[0], F_SETSIG, 65));
	show_errno("signal", fcntl(fds[0], F_SETSIG, SIGRTMIN));
	printf("%d\n", fcntl(fds[0], F_GETSIG) == SIGRTMIN);
	if (write(fds[1], "x", 1) != 1)
		abort();
	while (got < 2)
		usleep(1000);
	printf("code %d\n", code == POLL_IN);
	owner.type = F_OWNER_PID;
	owner.pid = getpid();
	show_errno("another", fcntl(fds[0], F_SETOWN_EX, &owner));
	printf("%d %d\n", fcntl(fds[0], F_GETSIG) == SIGRTMIN,
	       fcntl(fds[0], F_GETOWN) == getpid());
	show_errno("process", fcntl(fds[0], F_SETOWN, gettid()));
	show_errno("none", fcntl(fds[0], F_SETOWN, 0));
	show_owner(fds[0]);
	close(fds[0]);
	close(fds[1]);
	return unused;
}

static void a_thread_owns_a_descriptor(void)
{
	finish(start(be_owner, NULL));
}

static void *own_one_of_several(void *wrong)
{
	struct f_owner_ex owner = { F_OWNER_TID, gettid() };
	const int rounds = (int)scaled(50);
	int fds[2];

	if (pipe(fds) != 0)
		abort();
	fcntl(fds[0], F_SETSIG, SIGRTMIN);
	fcntl(fds[0], F_SETOWN_EX, &owner);
	fcntl(fds[0], F_SETFL, O_ASYNC | O_NONBLOCK);
	for (int i = 1; i <= rounds; i++) {
		char c;

		if (write(fds[1], "x", 1) != 1)
			abort();
		while (got < i)
			sched_yield();
		if (got > i)
			++*(_Atomic int *)wrong;
		if (read(fds[0], &c, 1) != 1)
			abort();
	}
	return NULL;
}

static void each_owns_one(void)
{
	_Atomic int wrong = 0;
	pthread_t threads[6];

	install(SIGRTMIN);
	for (int i = 0; i < 6; i++)
		threads[i] = start(own_one_of_several, &wrong);
	for (int i = 0; i < 6; i++)
		finish(threads[i]);
	printf("wrong %d, here %d\n", wrong, got);
}

static const struct compare_case cases[] = {
	COMPARE(a_thread_signals_itself),
	COMPARE(another_is_signalled),
	COMPARE(one_that_has_ended_is_none),
	COMPARE(what_is_the_processs_is_told),
	COMPARE(what_is_the_threads_is_told),
	COMPARE(a_thread_is_no_process),
	COMPARE(a_thread_owns_a_descriptor),
	COMPARE(each_owns_one),
};

COMPARE_MAIN(cases)
