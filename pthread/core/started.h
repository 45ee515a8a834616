/* SPDX-License-Identifier: MIT */
/* pthread/core/started.h - is the runtime on? It starts with the first thread */
#ifndef WEFT_PTHREAD_CORE_STARTED_H
#define WEFT_PTHREAD_CORE_STARTED_H

#include <stdint.h>

#include "base/compiler.h"

extern uint8_t wefti_steps_aside __attribute__((visibility("hidden")));

/*
 * Are threads libc's in this process, and so all that makes one thread wait for another?
 * A function of that kind asks this first, and then calls libc's. It is decided when this
 * library is loaded, or when a constructor makes a thread before that; so no thread waits
 * in such a function then.
 */
static inline int wefti_is_aside(void)
{
	return unlikely(wefti_steps_aside);
}

/* Are threads green now? */
int wefti_pt_is_started(void);

/* Not yet, but maybe later? */
int wefti_pt_is_off(void);

/*
 * Called before a thread is made: starts the runtime (pthread/init/start.c). Returns 0,
 * or -ENOTSUP: threads are libc's here, and the reason has been printed once. (A thread of
 * libc's that is not the first cannot start the runtime. It gets -ENOTSUP without a line.)
 */
int wefti_pt_start(void);

/* The id of the process that started it. In the child of a vfork(): the parent's. */
int wefti_pt_pid(void);

/* How many forks lie between this process and the one that loaded this library. */
uint32_t wefti_fork_count(void);

/*
 * For pthread/init/start.c. started(): the runtime has been started in the process pid.
 * never(): it cannot be started. aside(): the same, and wefti_is_aside(). forked(): it
 * is off, in the child of a fork.
 */
void wefti_pt_set_started(int pid);
void wefti_pt_set_never(void);
void wefti_pt_set_aside(void);
void wefti_pt_set_forked(void);

#endif
