/* SPDX-License-Identifier: MIT */
/*
 * own_filter.h - the filters of system calls that a program sets on itself, for all its
 * kernel threads
 *
 *	needed	the calls that weft-calls(7) lists as needed pass, one of each family of which
 *		it needs one, those that weft makes for the program, and the program's
 *		own. Others fail with EPERM or ENOSYS.
 *	listed	all calls of weft-calls(7) pass, and the program's own. Another one ends the
 *		process, or sends SIGSYS, which the program handles.
 *	narrow	only what libc calls, and the program. Others fail with EPERM, or end the
 *		process.
 *	profile	Docker's default profile, and a profile by a libseccomp that knows the
 *		numbers up to 434: what a program with libc's threads can still live with
 */
#ifndef WEFT_TESTS_OWN_FILTER_H
#define WEFT_TESTS_OWN_FILTER_H

#include <sched.h>
#include <signal.h>

#include "refused.h"

#define OWN_FILTER_LINES	(2 * (REFUSED_CALLS + 64) + 32)
#define OWN_FILTER_LAST_KNOWN	434	/* to a libseccomp of 2019 */
#define OWN_FILTER_NAMESPACES						\
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |	\
	 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

struct own_filter {
	struct sock_filter line[OWN_FILTER_LINES];
	unsigned short lines;
};

static inline void own_filter_add(struct own_filter *f, struct sock_filter line)
{
	if (f->lines == OWN_FILTER_LINES)
		abort();
	f->line[f->lines++] = line;
}

static inline void own_filter_answer(struct own_filter *f, unsigned answer)
{
	own_filter_add(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
}

static inline void own_filter_load(struct own_filter *f, size_t offset)
{
	own_filter_add(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						      (unsigned)offset));
}

static inline void own_filter_call(struct own_filter *f, long number,
				   unsigned answer)
{
	if (number < 0)
		return;
	own_filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						      (unsigned)number, 0, 1));
	own_filter_answer(f, answer);
}

/* `answer` for all but `own` and weft's calls; `needed`: those that weft needs. */
static inline void own_filter_allow(struct own_filter *f, const long *own,
				    size_t n, int needed, unsigned answer)
{
	for (size_t i = 0; i < REFUSED_CALLS; i++)
		if (!needed || refused_calls[i].need != REFUSED_ELSE)
			own_filter_call(f, refused_calls[i].number,
					SECCOMP_RET_ALLOW);
	/* poll and epoll_wait would do as well, but not every CPU has them. */
	own_filter_call(f, SYS_ppoll, SECCOMP_RET_ALLOW);
	own_filter_call(f, SYS_epoll_pwait, SECCOMP_RET_ALLOW);
	for (size_t i = 0; i < n; i++)
		own_filter_call(f, own[i], SECCOMP_RET_ALLOW);
	own_filter_answer(f, answer);
}

/* `answer` for all that libc's threads can do without. */
static inline void own_filter_narrow(struct own_filter *f, const long *own, size_t n,
				     unsigned answer)
{
	static const long of_libc[] = {
		SYS_tgkill, SYS_madvise, SYS_ppoll, SYS_fcntl,
	};

	for (size_t i = 0; i < sizeof(of_libc) / sizeof(*of_libc); i++)
		own_filter_call(f, of_libc[i], SECCOMP_RET_ALLOW);
	for (size_t i = 0; i < REFUSED_CALLS; i++)
		if (refused_calls[i].need == REFUSED_LIBC ||
		    refused_calls[i].need == REFUSED_PROGRAM)
			own_filter_call(f, refused_calls[i].number,
					SECCOMP_RET_ALLOW);
	for (size_t i = 0; i < n; i++)
		own_filter_call(f, own[i], SECCOMP_RET_ALLOW);
	own_filter_answer(f, answer);
}

/* What the profile forbids a container without privileges. */
static inline void own_filter_docker(struct own_filter *f)
{
	static const long forbidden[] = {
		SYS_unshare, SYS_setns, SYS_mount, SYS_bpf, SYS_perf_event_open,
		SYS_userfaultfd, SYS_add_key, SYS_keyctl, SYS_request_key,
		SYS_get_mempolicy, SYS_set_mempolicy, SYS_mbind, SYS_kcmp,
		SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
		SYS_process_vm_readv, SYS_process_vm_writev, SYS_ptrace,
		SYS_open_by_handle_at, SYS_clock_settime, SYS_syslog, SYS_acct,
	};

	for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++)
		own_filter_call(f, forbidden[i], SECCOMP_RET_ERRNO | EPERM);
	own_filter_call(f, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
	own_filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						      SYS_clone, 0, 3));
	own_filter_load(f, offsetof(struct seccomp_data, args));
	own_filter_add(f, (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JSET | BPF_K, OWN_FILTER_NAMESPACES, 0, 1));
	own_filter_answer(f, SECCOMP_RET_ERRNO | EPERM);
	own_filter_answer(f, SECCOMP_RET_ALLOW);
}

/* libc takes only ENOSYS for a missing clone3, and profiles of that time say so. */
static inline void own_filter_old(struct own_filter *f)
{
	own_filter_call(f, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
	own_filter_add(f, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K,
						      OWN_FILTER_LAST_KNOWN, 0, 1));
	own_filter_answer(f, SECCOMP_RET_ERRNO | EPERM);
	own_filter_answer(f, SECCOMP_RET_ALLOW);
}

enum own_filter_kind {
	OWN_NEEDED_EPERM, OWN_NEEDED_ENOSYS, OWN_LISTED_TRAP, OWN_LISTED_KILL,
	OWN_DOCKER, OWN_OLD, OWN_FILTERS,
	OWN_NARROW_EPERM = OWN_FILTERS, OWN_NARROW_KILL, OWN_ALL
};

static const char *const own_filter_names[] = {
	"needed, EPERM", "needed, ENOSYS", "listed, SIGSYS", "listed, killed",
	"profile of Docker", "profile of an old libseccomp",
	"narrow, EPERM", "narrow, killed",
};

static volatile sig_atomic_t own_filter_trapped;

static inline void own_filter_note(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	own_filter_trapped = info->si_syscall;
}

/* Does a call that no list has reach the handler? */
static inline int own_filter_traps(void)
{
	own_filter_trapped = -1;
	(void)syscall(SYS_personality, 0xffffffff);
	return own_filter_trapped == SYS_personality;
}

/* The program makes the `n` calls of `own` besides those of weft. Returns 0. */
static inline int own_filter_set(enum own_filter_kind kind, const long *own,
				 size_t n)
{
	static struct own_filter f;
	const struct sigaction action = { .sa_sigaction = own_filter_note,
					  .sa_flags = SA_SIGINFO };
	struct sock_fprog program = { .filter = f.line };

	own_filter_load(&f, offsetof(struct seccomp_data, nr));
	switch (kind) {
	case OWN_NEEDED_EPERM:
		own_filter_allow(&f, own, n, 1, SECCOMP_RET_ERRNO | EPERM);
		break;
	case OWN_NEEDED_ENOSYS:
		own_filter_allow(&f, own, n, 1, SECCOMP_RET_ERRNO | ENOSYS);
		break;
	case OWN_LISTED_TRAP:
		if (sigaction(SIGSYS, &action, NULL) != 0)
			return -1;
		own_filter_allow(&f, own, n, 0, SECCOMP_RET_TRAP);
		break;
	case OWN_LISTED_KILL:
		own_filter_allow(&f, own, n, 0, SECCOMP_RET_KILL_PROCESS);
		break;
	case OWN_NARROW_EPERM:
		own_filter_narrow(&f, own, n, SECCOMP_RET_ERRNO | EPERM);
		break;
	case OWN_NARROW_KILL:
		own_filter_narrow(&f, own, n, SECCOMP_RET_KILL_PROCESS);
		break;
	case OWN_DOCKER:
		own_filter_docker(&f);
		break;
	default:
		own_filter_old(&f);
	}
	program.len = f.lines;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_TSYNC, &program);
}

#endif
