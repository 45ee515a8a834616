/* SPDX-License-Identifier: MIT */
/* sandbox.h - the kernel refuses one system call, for the rest of a process */
#ifndef WEFT_TESTS_SANDBOX_H
#define WEFT_TESTS_SANDBOX_H

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Are there none in this run? Says so. */
static inline int sandbox_is_left_out(void)
{
	if (!getenv("WEFT_TEST_QEMU") && !sandbox_is_missing())
		return 0;
	printf("not here: no filters\n");
	return 1;
}

/* As fork(). What the child writes to its standard output and error, *out reads. */
static inline pid_t sandbox_fork(int *out)
{
	int ends[2];
	pid_t child;

	fflush(stdout);
	if (pipe2(ends, O_CLOEXEC) != 0)
		abort();
	child = fork();
	if (child == 0) {
		dup2(ends[1], 1);
		dup2(ends[1], 2);
	}
	close(ends[1]);
	*out = ends[0];
	return child;
}

/* Reads a text to its end, or to that of the buffer, and closes the descriptor. */
static inline void sandbox_read(int out, char *text, size_t bytes)
{
	size_t used = 0;
	ssize_t n;

	while (used < bytes - 1 && (n = read(out, text + used, bytes - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = 0;
	close(out);
}

#endif
