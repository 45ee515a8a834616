/* SPDX-License-Identifier: MIT */
/*
 * weft/process.h - other programs: start one, and wait for its end
 *
 * A program that uses fork() and waitpid() blocks a VCPU while it waits, and a child of
 * fork() has none of the runtime's kernel threads. These two calls park the calling
 * thread instead, and start the child by posix_spawn(3):
 *
 *     char *argv[] = { "sort", "-u", NULL };
 *     struct weft_process how = { .fds = (int[]){ in, out, -1 } };
 *     pid_t pid;
 *     int status, error = weft_process_spawn(&pid, "sort", argv, &how);
 *     if (!error)
 *         error = weft_waitpid(pid, &status);
 */
#ifndef WEFT_PROCESS_H
#define WEFT_PROCESS_H

#include <sys/types.h>

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rusage;

/* The flags of struct weft_process. */
enum {
	WEFT_PROCESS_GROUP = 1,	/* the child leads a process group of its own */
	WEFT_PROCESS_CLOSE = 2	/* the child has the descriptors 0, 1 and 2 only */
};

/* Zero-filled: the child has all that exec(3) keeps. */
struct weft_process {
	char *const *env;	/* "NAME=value" and so on, then NULL; NULL: the
				 * caller's environment */
	const char *dir;	/* where the child begins; NULL: the caller's folder */
	const int *fds;		/* three descriptors, which become the child's 0, 1
				 * and 2; -1: what the caller has under that number;
				 * NULL: all three as the caller has them */
	unsigned flags;		/* WEFT_PROCESS_GROUP | WEFT_PROCESS_CLOSE */
	unsigned reserved0;	/* zero */
	uint64_t reserved[4];	/* zero */
};

/*
 * weft_process_spawn - start another program as a child
 *
 *   pid   receives the child's process id. Not NULL: the caller has to wait for the
 *         child by weft_waitpid(), or ignore SIGCHLD.
 *   file  the program. A name without a slash is looked for in the caller's PATH. A
 *         relative path is looked up in how->dir, if that is set.
 *   argv  the arguments, then NULL. argv[0] is the program's name for itself.
 *   how   environment, folder, descriptors and flags, see struct weft_process; NULL:
 *         the defaults. Nothing of the arguments is kept.
 *
 * The child has the signal mask that the caller of weft_start() had at that moment. The
 * masks of weft's own kernel threads, which block most signals, do not reach it. If the
 * runtime is not running, the child has the caller's mask. A signal that has a handler
 * has its default action in the child, and a signal that is ignored stays ignored, as
 * for exec(3).
 *
 * The descriptors in how->fds stay open in the caller, which closes them. They may have
 * O_CLOEXEC, as those that weft makes do, and may be the numbers 0 to 2 in any order. A
 * descriptor that weft makes also has O_NONBLOCK, which belongs to the open file. So the
 * child gets that flag, and few programs expect it. Use pipe2(2), or clear the flag for
 * the child's end of a pipe and call weft_adopt() for the other end. Other descriptors
 * without O_CLOEXEC are inherited, unless WEFT_PROCESS_CLOSE is set.
 *
 * Returns 0 if the child runs the program. Else there is no child, and *pid is as it was:
 *   -ENOENT  there is no such program, or no folder how->dir
 *   -EACCES  the program may not be run, or the folder not be entered
 *   -EBADF   a number in how->fds is not an open descriptor
 *   -EINVAL  pid, file or argv is NULL, or a flag or a reserved field is set that means
 *            nothing
 *   -EAGAIN, -ENOMEM, -EMFILE, and what else posix_spawn(3), fork(2) and execve(2) return
 *
 * Blocks     the kernel thread, until the child runs the program; its VCPU runs other
 *            threads meanwhile. Never parks for anything else.
 * Orders     everything that the caller did before happens before the program begins.
 * Progress   no call of another thread is delayed.
 * Not for    signal handlers.
 * See        weft_waitpid()
 * Source     posix_spawn(3), which uses vfork(2): the memory is not copied.
 * Since      0.2
 */
WEFT_API WEFT_MUST_USE int weft_process_spawn(pid_t *pid, const char *file,
	char *const argv[], const struct weft_process *how);

/*
 * weft_waitpid, weft_waitpid_until - wait until a child has ended
 *
 *   pid       a child of this process, not 0 or negative
 *   status    receives the status, for WIFEXITED() and its kin; may be NULL
 *   usage     receives what the child has used, as for wait4(2); may be NULL
 *   deadline  a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * The child is released: its process id may be given to another process. Stops of a
 * child do not end the wait. If two threads wait for the same child, one gets the status
 * and the other -ECHILD.
 *
 * The thread waits for a descriptor of the child (pidfd_open(2), Linux 5.3). If the
 * kernel has no pidfd_open(2), the thread holds a kernel thread until the child ends, and
 * its VCPU runs other threads meanwhile. With a deadline, it looks every 10 ms instead.
 * It also looks every 10 ms if no descriptor is free, or if the child has ended and
 * another process traces it.
 *
 * Returns 0 when the child has ended, else
 *   -ECHILD     there is no such child, or another call has waited for it, or SIGCHLD
 *               is ignored and the child has ended
 *   -EINVAL     pid is not positive
 *   -ETIMEDOUT  the child did not end before the deadline
 *   -EAGAIN     the child has not ended, and deadline is WEFT_NO_WAIT
 *   -ECANCELED  the thread is cancelled, and the child has not ended; it was not waited
 *               for. A thread that holds a kernel thread is not cancelled.
 *   -ENOMEM     no memory to wait with
 *
 * Blocks     may park.
 * Orders     what the child did happens before the return.
 * Fairness   a child has one status. Any of the threads that wait for it may get it.
 * Not for    children in general (a pid of -1): that takes the status away from threads
 *            that wait for a child of theirs.
 * See        weft_process_spawn(), weft_wait_fd()
 * Source     pidfd_open(2), wait4(2)
 * Since      0.2
 */
WEFT_API WEFT_MUST_USE int weft_waitpid(pid_t pid, int *status);
WEFT_API WEFT_MUST_USE int weft_waitpid_until(pid_t pid, int *status,
	struct rusage *usage, int64_t deadline);

#ifdef __cplusplus
}
#endif
#endif
