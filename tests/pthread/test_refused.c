/* SPDX-License-Identifier: MIT */
/* test_refused.c - what would change a kernel thread, asked by green threads */
#include "compare.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/fsuid.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id	_sigev_un._tid
#endif

int capset(cap_user_header_t head, const cap_user_data_t data);

static void *do_nothing(void *arg)
{
	return arg;
}

static void *change_credentials(void *arg)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];
	uid_t uid = getuid();

	show_errno("get", syscall(SYS_capget, &head, data));
	show_errno("capset", capset(&head, data));
	show_errno("by syscall", syscall(SYS_capset, &head, data));
	show_errno("keep", prctl(PR_SET_KEEPCAPS, 1));
	show_errno("bounds", prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0));
	show_errno("uid", syscall(SYS_setresuid, uid, uid, uid));
	printf("fsuid %d\n", setfsuid(uid + 1) == (int)uid &&
			     setfsuid((uid_t)-1) == (int)uid);
	return arg;
}

static void *leave_namespaces(void *arg)
{
	int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);

	show_errno("unshare", unshare(CLONE_FS));
	show_errno("by syscall", syscall(SYS_unshare, CLONE_FILES));
	show_errno("setns", setns(fd, CLONE_NEWUTS));
	return arg;
}

static void *begin_to_watch(void *arg)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr) };

	show_errno("trace me", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	show_errno("attach", ptrace(PTRACE_ATTACH, getppid(), NULL, NULL));
	show_errno("perf", syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
	show_errno("filter", syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0,
				     NULL));
	show_errno("prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
	show_errno("ioprio", syscall(SYS_ioprio_get, 1, 0));
	return arg;
}

static void *make_timers(void *arg)
{
	clockid_t clock;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = SIGUSR1 };
	timer_t timer;

	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	show_errno("of a thread",
		   timer_create(CLOCK_MONOTONIC, &event, &timer));
	event.sigev_notify_thread_id = getpid();
	show_errno("of the first",
		   timer_create(CLOCK_MONOTONIC, &event, &timer));
	event.sigev_notify = SIGEV_SIGNAL;
	show_errno("its clock",
		   timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer));
	show("clock", pthread_getcpuclockid(pthread_self(), &clock));
	show_errno("the same", timer_create(clock, &event, &timer));
	show_errno("of the process",
		   timer_create(CLOCK_MONOTONIC, &event, &timer));
	show_errno("delete", timer_delete(timer));
	return arg;
}

static void *be_another(void *arg)
{
	int now = personality(0xffffffff);

	show_errno("ask", now);
	show_errno("stay", personality((unsigned long)now));
	show_errno("change", personality((unsigned long)now ^
					 ADDR_NO_RANDOMIZE));
	show_errno("by syscall", syscall(SYS_personality,
					 now ^ ADDR_NO_RANDOMIZE));
	printf("%d\n", personality(0xffffffff) == now);
	show_errno("memory", syscall(SYS_set_mempolicy, 0, NULL, 0));
	return arg;
}

static void *use_futexes(void *arg)
{
	uint32_t word = 0;

	show_errno("lock", syscall(SYS_futex, &word, FUTEX_LOCK_PI_PRIVATE, 0,
				   NULL, NULL, 0));
	show_errno("unlock", syscall(SYS_futex, &word, FUTEX_UNLOCK_PI, 0,
				     NULL, NULL, 0));
	show_errno("robust", syscall(SYS_set_robust_list, &word, 24));
	printf("%u\n", word);
	return arg;
}

static void credentials_are_refused(void)
{
	finish(start(change_credentials, NULL));
}

static void namespaces_are_refused(void)
{
	finish(start(leave_namespaces, NULL));
}

static void watching_is_refused(void)
{
	finish(start(begin_to_watch, NULL));
}

static void timers_of_threads_are_refused(void)
{
	finish(start(make_timers, NULL));
}

static void personalities_are_refused(void)
{
	finish(start(be_another, NULL));
}

static void futexes_with_priorities_are_refused(void)
{
	finish(start(use_futexes, NULL));
}

/* In a child too, which has no green threads. */
static void without_threads_all_is_the_kernels(void)
{
	int status;

	for (int i = 0; i < 2; i++) {
		fflush(stdout);
		if (fork() == 0) {
			show_errno("fs", unshare(CLONE_FS));
			show_errno("trace", ptrace(PTRACE_TRACEME, 0, 0, 0));
			show_errno("keep", prctl(PR_SET_KEEPCAPS, 0));
			errno = 0;
			printf("nice %d\n", nice(1));
			fflush(stdout);
			_exit(3);
		}
		wait(&status);
		printf("%d\n", WEXITSTATUS(status));
		finish(start(do_nothing, NULL));
	}
}

static const struct compare_case cases[] = {
	COMPARE(without_threads_all_is_the_kernels),
	WEFT_ONLY(credentials_are_refused,
		  "get: 0\ncapset: EPERM\nby syscall: EPERM\nkeep: EPERM\n"
		  "bounds: EPERM\nuid: EPERM\nfsuid 1\n"),
	WEFT_ONLY(namespaces_are_refused,
		  "unshare: EINVAL\nby syscall: EINVAL\nsetns: EINVAL\n"),
	WEFT_ONLY(watching_is_refused,
		  "trace me: EPERM\nattach: EPERM\nperf: ENOSYS\n"
		  "filter: EINVAL\nprctl: EINVAL\nioprio: ENOSYS\n"),
	WEFT_ONLY(timers_of_threads_are_refused,
		  "of a thread: EINVAL\nof the first: EINVAL\n"
		  "its clock: EOPNOTSUPP\nclock: 0\n"
		  "the same: EOPNOTSUPP\nof the process: 0\ndelete: 0\n"),
	WEFT_ONLY(personalities_are_refused,
		  "ask: 0\nstay: 0\nchange: EINVAL\nby syscall: EINVAL\n1\n"
		  "memory: ENOSYS\n"),
	WEFT_ONLY(futexes_with_priorities_are_refused,
		  "lock: ENOSYS\nunlock: ENOSYS\nrobust: ENOSYS\n0\n"),
};

COMPARE_MAIN(cases)
