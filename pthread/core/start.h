/* SPDX-License-Identifier: MIT */
/* pthread/core/start.h - the runtime starts with the first thread */
#ifndef WEFT_PTHREAD_CORE_START_H
#define WEFT_PTHREAD_CORE_START_H

#include <stdint.h>

/* Are threads green now? */
int wefti_pt_is_started(void);

/*
 * Before a thread is made. Returns 0, or -ENOTSUP: threads are libc's here; the
 * reason has been told once.
 */
int wefti_pt_start(void);

/* Of the process that started it: of the parent, in the child of a vfork(). */
int wefti_pt_pid(void);

/* In the child of a fork, before all others' handlers: threads are not green. */
void wefti_pt_child_of_fork(void);

/* How many forks lie between this process and the one that loaded us. */
uint32_t wefti_fork_count(void);

/* pthread/thread/create.c: in the child of a fork. */
void wefti_create_forget(void);

#endif
