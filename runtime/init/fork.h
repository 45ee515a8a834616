/* SPDX-License-Identifier: MIT */
/* init/fork.h - the child of a fork */
#ifndef WEFT_INIT_FORK_H
#define WEFT_INIT_FORK_H

/*
 * Called once in a process. Returns 0, or -ENOMEM. watch is a part of init and may be
 * called before. A handler that is registered by pthread_atfork() between the two finds
 * the runtime off in the child, and may start it.
 */
int wefti_fork_watch(void);
int wefti_fork_init(void);

#endif
