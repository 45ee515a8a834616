/* SPDX-License-Identifier: MIT */
/*
 * os/libc/process.h - starts other programs, and waits for their ends
 *
 * The kernel and libc decide which errors there are. All go to the caller, as negative
 * errno values.
 */
#ifndef WEFT_OS_LIBC_PROCESS_H
#define WEFT_OS_LIBC_PROCESS_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct wefti_os_process {
	const char *file;
	char *const *argv;
	char *const *env;
	const char *dir;		/* NULL: the caller's */
	int fds[3];
	int leads_group;
	int closes;			/* all other descriptors */
	int has_mask;
	uint64_t mask;			/* the child's, if has_mask */
};

/* Returns 0 when the child runs the program. */
int wefti_os_process_spawn(pid_t *pid, const struct wefti_os_process *p);

/*
 * As wait4(2), without a signal's interruption. If it does not block, 0 says that the
 * child goes on.
 */
int wefti_os_process_wait(pid_t pid, int *status, int blocks,
			  struct rusage *usage);

/* A descriptor of the process, with close-on-exec, or an error of pidfd_open(2). */
int wefti_os_process_open(pid_t pid);

#endif
