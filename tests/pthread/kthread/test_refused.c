/* SPDX-License-Identifier: MIT */
/* test_refused.c - what would change a kernel thread, asked by green threads */
#include "compare.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
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

#include "../../support/newer.h"

#ifndef IORING_SETUP_SINGLE_ISSUER
#define IORING_SETUP_SINGLE_ISSUER	(1u << 12)
#endif
#ifndef IORING_SETUP_DEFER_TASKRUN
#define IORING_SETUP_DEFER_TASKRUN	(1u << 13)
#endif
#define REGISTER_RING_FDS	20
#define UNREGISTER_RING_FDS	21
#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2		13
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv		449
#endif
#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self	446
#endif
#ifndef SS_AUTODISARM
#define SS_AUTODISARM		(1u << 31)
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
	const uid_t uid = getuid();
	const gid_t gid = getgid();

	show_errno("get", syscall(SYS_capget, &head, data));
	show_errno("capset", capset(&head, data));
	show_errno("by syscall", syscall(SYS_capset, &head, data));
	show_errno("keep", prctl(PR_SET_KEEPCAPS, 1));
	show_errno("bounds", prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0));
	show_errno("bits", prctl(PR_SET_SECUREBITS,
				 prctl(PR_GET_SECUREBITS)));
	show_errno("lower", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_LOWER,
				  CAP_SYS_PTRACE, 0, 0));
	show_errno("clear", syscall(SYS_prctl, PR_CAP_AMBIENT,
				    PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0));
	show_errno("ask", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET,
				CAP_SYS_PTRACE, 0, 0));
	printf("fsuid %d\n", setfsuid(uid + 1) == (int)uid &&
			     setfsuid((uid_t)-1) == (int)uid);
	printf("fsgid %d\n", setfsgid(gid + 1) == (int)gid &&
			     setfsgid((gid_t)-1) == (int)gid);
	return arg;
}

/* What each has already. */
static void *change_credentials_of_one(void *arg)
{
	const uid_t uid = getuid();
	const gid_t gid = getgid();

	show_errno("setuid", syscall(SYS_setuid, uid));
	show_errno("setgid", syscall(SYS_setgid, gid));
	show_errno("setreuid", syscall(SYS_setreuid, uid, uid));
	show_errno("setregid", syscall(SYS_setregid, gid, gid));
	show_errno("setresuid", syscall(SYS_setresuid, uid, uid, uid));
	show_errno("setresgid", syscall(SYS_setresgid, gid, gid, gid));
	show_errno("setgroups", syscall(SYS_setgroups, 0, NULL));
	show_errno("setfsuid", syscall(SYS_setfsuid, uid));
	show_errno("setfsgid", syscall(SYS_setfsgid, gid));
	return arg;
}

/* Where the kernel and the CPU have it, each of these is done or wrong. */
static void *control_itself(void *arg)
{
	show_errno("tsc", prctl(PR_SET_TSC, PR_TSC_ENABLE));
	show_errno("mce", prctl(PR_MCE_KILL, PR_MCE_KILL_CLEAR, 0, 0, 0));
	show_errno("speculation", prctl(PR_SET_SPECULATION_CTRL,
					PR_SPEC_STORE_BYPASS, 77, 0, 0));
	show_errno("flusher", prctl(PR_SET_IO_FLUSHER, 0, 0, 0, 0));
	show_errno("dispatch", prctl(PR_SET_SYSCALL_USER_DISPATCH, 0, 0, 0, 0));
	show_errno("core", prctl(PR_SCHED_CORE, 1, 0, 0, 0));
	show_errno("vectors", prctl(PR_SVE_SET_VL, 16, 0, 0, 0));
	show_errno("matrices", prctl(63 /* PR_SME_SET_VL */, 16, 0, 0, 0));
	show_errno("keys", prctl(PR_PAC_RESET_KEYS, 0, 0, 0, 0));
	show_errno("some keys", prctl(60 /* PR_PAC_SET_ENABLED_KEYS */, 0, 0, 0,
				      0));
	show_errno("tags", prctl(PR_SET_TAGGED_ADDR_CTRL, 0, 0, 0, 0));
	show_errno("by syscall", syscall(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE));
	return arg;
}

static void *leave_namespaces(void *arg)
{
	int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);

	show_errno("unshare", unshare(CLONE_FS));
	show_errno("by syscall", syscall(SYS_unshare, CLONE_FILES));
	show_errno("setns", setns(fd, CLONE_NEWUTS));
	show_errno("setns by syscall", syscall(SYS_setns, fd, CLONE_NEWUTS));
	return arg;
}

static void *begin_to_watch(void *arg)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr) };

	show_errno("trace me", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	show_errno("by syscall", syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0));
	show_errno("perf", syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
	show_errno("of id", syscall(SYS_perf_event_open, &attr,
				    syscall(SYS_gettid), -1, -1, 0));
	return arg;
}

static void *filter_itself(void *arg)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K,
					    SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	show_errno("strict", syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0,
				     NULL));
	show_errno("filter", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
				     &program));
	show_errno("log", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				  SECCOMP_FILTER_FLAG_LOG, &program));
	show_errno("prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
	show_errno("prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
				  &program));
	show_errno("landlock", syscall(SYS_landlock_restrict_self, -1, 0));
	return arg;
}

/* The kernel's struct sched_attr. */
struct attributes {
	unsigned size, policy;
	unsigned long long flags;
	int nice;
	unsigned priority;
	unsigned long long runtime, deadline, period;
	unsigned least, most;
};

static void *have_a_deadline(void *arg)
{
	struct attributes a = { .size = sizeof(a), .policy = 6 };

	show_errno("none", syscall(SYS_sched_setattr, 0, &a, 0));
	a.runtime = 1000000;
	a.deadline = 8000000;
	show_errno("some", syscall(SYS_sched_setattr, 0, &a, 0));
	a.policy = 0;
	a.flags = 0x20;		/* SCHED_FLAG_UTIL_CLAMP_MIN */
	a.nice = 19;
	show_errno("clamp", syscall(SYS_sched_setattr, 0, &a, 0));
	show_errno("get", syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0));
	printf("policy %u flags %llu\n", a.policy, a.flags);
	return arg;
}

static void *make_rings(void *arg)
{
	struct io_uring_params p = { .flags = IORING_SETUP_SINGLE_ISSUER };

	show_errno("single", syscall(SYS_io_uring_setup, 4, &p));
	p.flags |= IORING_SETUP_DEFER_TASKRUN;
	show_errno("deferred", syscall(SYS_io_uring_setup, 4, &p));
	show_errno("register", syscall(SYS_io_uring_register, -1,
				       REGISTER_RING_FDS, NULL, 1));
	show_errno("unregister", syscall(SYS_io_uring_register, -1,
					 UNREGISTER_RING_FDS, NULL, 1));
	return arg;
}

static void *have_a_stack(void *arg)
{
	static char memory[1 << 16];
	stack_t s = { .ss_sp = memory, .ss_size = sizeof(memory),
		      .ss_flags = (int)SS_AUTODISARM };

	show_errno("disarmed", sigaltstack(&s, NULL));
	show_errno("by syscall", syscall(SYS_sigaltstack, &s, NULL));
	s.ss_flags |= SS_ONSTACK;
	show_errno("both", sigaltstack(&s, NULL));
	s.ss_flags = 0;
	show_errno("not", syscall(SYS_sigaltstack, &s, NULL));
	return arg;
}

static void *make_timers(void *arg)
{
	clockid_t clock;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGUSR1 };
	timer_t timer;

	show_errno("its clock",
		   timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer));
	show("clock", pthread_getcpuclockid(pthread_self(), &clock));
	show_errno("the same", timer_create(clock, &event, &timer));
	show_errno("of the process",
		   timer_create(CLOCK_MONOTONIC, &event, &timer));
	show_errno("delete", timer_delete(timer));
	show_errno("by syscall", syscall(SYS_timer_create, clock, &event,
					 &timer));
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
	return arg;
}

static void *use_futexes(void *arg)
{
	static const int ops[] = {
		FUTEX_LOCK_PI, FUTEX_LOCK_PI2, FUTEX_TRYLOCK_PI,
		FUTEX_UNLOCK_PI, FUTEX_WAIT_REQUEUE_PI, FUTEX_CMP_REQUEUE_PI,
	};
	uint32_t word = 0, other = 0;

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		show_errno("shared", syscall(SYS_futex, &word, ops[i], 1,
					     NULL, &other, 0));
		show_errno("private",
			   syscall(SYS_futex, &word,
				   ops[i] | FUTEX_PRIVATE_FLAG, 1, NULL,
				   &other, 0));
	}
	show_errno("several", syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0));
	show_errno("robust", syscall(SYS_set_robust_list, &word, 24));
	printf("%u\n", word);
	return arg;
}

static void credentials_are_refused(void)
{
	finish(start(change_credentials, NULL));
}

static void credentials_of_one_are_refused(void)
{
	finish(start(change_credentials_of_one, NULL));
	change_credentials_of_one(NULL);	/* the first is like others */
}

static void what_is_of_a_kernel_thread_is_refused(void)
{
	finish(start(control_itself, NULL));
}

static void filters_of_one_are_refused(void)
{
	finish(start(filter_itself, NULL));
}

static void deadlines_and_clamps_are_refused(void)
{
	finish(start(have_a_deadline, NULL));
}

static void rings_of_one_are_refused(void)
{
	finish(start(make_rings, NULL));
}

static void stacks_that_are_disarmed_are_refused(void)
{
	finish(start(have_a_stack, NULL));
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

#define OF_ONE								\
	"setuid: EPERM\nsetgid: EPERM\nsetreuid: EPERM\n"		\
	"setregid: EPERM\nsetresuid: EPERM\nsetresgid: EPERM\n"		\
	"setgroups: EPERM\nsetfsuid: EPERM\nsetfsgid: EPERM\n"
#define BOTH_WAYS	"shared: ENOSYS\nprivate: ENOSYS\n"

static const struct compare_case cases[] = {
	COMPARE(without_threads_all_is_the_kernels),
	WEFT_ONLY(credentials_are_refused,
		  "get: 0\ncapset: EPERM\nby syscall: EPERM\nkeep: EPERM\n"
		  "bounds: EPERM\nbits: EPERM\nlower: EPERM\nclear: EPERM\n"
		  "ask: 0\nfsuid 1\nfsgid 1\n"),
	WEFT_ONLY(credentials_of_one_are_refused, OF_ONE OF_ONE),
	WEFT_ONLY(what_is_of_a_kernel_thread_is_refused,
		  "tsc: EINVAL\nmce: EINVAL\nspeculation: EINVAL\n"
		  "flusher: EINVAL\ndispatch: EINVAL\ncore: EINVAL\n"
		  "vectors: EINVAL\nmatrices: EINVAL\nkeys: EINVAL\n"
		  "some keys: EINVAL\ntags: EINVAL\nby syscall: EINVAL\n"),
	WEFT_ONLY(filters_of_one_are_refused,
		  "strict: EINVAL\nfilter: EINVAL\nlog: EINVAL\n"
		  "prctl: EINVAL\nprctl: EINVAL\nlandlock: EOPNOTSUPP\n"),
	WEFT_ONLY(namespaces_are_refused,
		  "unshare: EINVAL\nby syscall: EINVAL\nsetns: EINVAL\n"
		  "setns by syscall: EINVAL\n"),
	WEFT_ONLY(watching_is_refused,
		  "trace me: EPERM\nby syscall: EPERM\n"
		  "perf: ENOSYS\nof id: ENOSYS\n"),
	WEFT_ONLY(deadlines_and_clamps_are_refused,
		  "none: EINVAL\nsome: EPERM\nclamp: EOPNOTSUPP\nget: 0\n"
		  "policy 0 flags 0\n"),
	WEFT_ONLY(rings_of_one_are_refused,
		  "single: EINVAL\ndeferred: EINVAL\nregister: EINVAL\n"
		  "unregister: EINVAL\n"),
	WEFT_ONLY(stacks_that_are_disarmed_are_refused,
		  "disarmed: EINVAL\nby syscall: EINVAL\nboth: EINVAL\n"
		  "not: 0\n"),
	WEFT_ONLY(timers_of_threads_are_refused,
		  "its clock: EOPNOTSUPP\nclock: 0\n"
		  "the same: EOPNOTSUPP\nof the process: 0\ndelete: 0\n"
		  "by syscall: EOPNOTSUPP\n"),
	WEFT_ONLY(personalities_are_refused,
		  "ask: 0\nstay: 0\nchange: EINVAL\nby syscall: EINVAL\n1\n"),
	WEFT_ONLY(futexes_with_priorities_are_refused,
		  BOTH_WAYS BOTH_WAYS BOTH_WAYS BOTH_WAYS BOTH_WAYS BOTH_WAYS
		  "several: ENOSYS\nrobust: ENOSYS\n0\n"),
};

COMPARE_MAIN(cases)
