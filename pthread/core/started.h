/* SPDX-License-Identifier: MIT */
/* pthread/core/started.h - is the runtime on? It starts with the first thread */
#ifndef WEFT_PTHREAD_CORE_STARTED_H
#define WEFT_PTHREAD_CORE_STARTED_H

#include <stdint.h>

/* Are threads green now? */
int wefti_pt_is_started(void);

/*
 * Before a thread is made. Returns 0, or -ENOTSUP: threads are libc's here; the
 * reason has been told once. pthread/init/start.c does it.
 */
int wefti_pt_start(void);

/* Of the process that started it: of the parent, in the child of a vfork(). */
int wefti_pt_pid(void);

/* How many forks lie between this process and the one that loaded us. */
uint32_t wefti_fork_count(void);

/*
 * For pthread/init/start.c: the runtime has been started in the process pid; it cannot
 * be; it is off, in the child of a fork.
 */
void wefti_pt_set_started(int pid);
void wefti_pt_set_never(void);
void wefti_pt_set_forked(void);

#endif
