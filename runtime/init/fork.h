/* SPDX-License-Identifier: MIT */
/* init/fork.h - the child of a fork */
#ifndef WEFT_INIT_FORK_H
#define WEFT_INIT_FORK_H

/*
 * Once in a process. Returns 0, or -ENOMEM. watch, which is a part of init, may be
 * called before: what has been registered by pthread_atfork() in between finds the
 * runtime off in the child, and may start it.
 */
int wefti_fork_watch(void);
int wefti_fork_init(void);

#endif
