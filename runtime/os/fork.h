/* SPDX-License-Identifier: MIT */
/* os/fork.h - what is done in the child of fork() */
#ifndef WEFT_OS_FORK_H
#define WEFT_OS_FORK_H

/*
 * From now on each child of a fork() of this process and its children calls
 * this, where it is the only kernel thread. Returns 0, or -ENOMEM.
 */
int wefti_os_at_fork(void (*child)(void));

#endif
