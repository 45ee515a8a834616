/* SPDX-License-Identifier: MIT */
/* sandbox.h - the kernel refuses one system call, for the rest of a process */
#ifndef WEFT_TESTS_SANDBOX_H
#define WEFT_TESTS_SANDBOX_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * From now on `number` returns -error in the calling kernel thread and those
 * that it makes. For children. Returns 0, or -1: it cannot be had, as under an
 * emulator.
 */
static inline int sandbox_refuses(unsigned number, unsigned error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(*filter), .filter = filter,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
		return 0;
	printf("    no seccomp here\n");
	fflush(stdout);
	return -1;
}

/* Are there none? Asked in a child. */
static inline int sandbox_is_missing(void)
{
	int status = 1;
	pid_t child = fork();

	if (child == 0)
		_exit(sandbox_refuses(~0u, 1) != 0);
	waitpid(child, &status, 0);
	return status != 0;
}

#endif
