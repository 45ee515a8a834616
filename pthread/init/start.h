/* SPDX-License-Identifier: MIT */
/* pthread/init/start.h - the runtime starts, and is off in the child of a fork */
#ifndef WEFT_PTHREAD_INIT_START_H
#define WEFT_PTHREAD_INIT_START_H

/* wefti_pt_start() while the runtime is off. */
int wefti_start(void);

/* In the child of a fork, before all other fork handlers: threads are no longer green. */
void wefti_pt_child_of_fork(void);

#endif
