/* SPDX-License-Identifier: MIT */
/* os/call/fork.h - what is done around fork(), and in its child */
#ifndef WEFT_OS_CALL_FORK_H
#define WEFT_OS_CALL_FORK_H

/*
 * From now on each child of a fork() of this process, or of its children, calls child().
 * It is the only kernel thread then. Returns 0, or -ENOMEM.
 */
int wefti_os_at_fork(void (*child)(void));

/*
 * The same: each thread that forks calls before() before malloc's locks are taken. It
 * calls after(), in the parent and in the child, when they have been released.
 */
int wefti_os_around_fork(void (*before)(void), void (*after)(void));

#endif
