/* SPDX-License-Identifier: MIT */
/* os/fork.h - what is done around fork() */
#ifndef WEFT_OS_FORK_H
#define WEFT_OS_FORK_H

/*
 * From now on each fork() of this process and its children calls these: before
 * by the thread that forks, then parent or child by the same thread, child
 * where it is the only kernel thread. Returns 0, or -ENOMEM.
 */
int wefti_os_at_fork(void (*before)(void), void (*parent)(void),
		     void (*child)(void));

#endif
