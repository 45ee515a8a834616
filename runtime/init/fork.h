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

/*
 * Around a call that makes a child of which libc knows nothing: _Fork(), or clone()
 * without shared memory. No handler of a fork runs for such a child. begin returns the
 * process, for end, which is called in the parent and in the child. The child then goes
 * on as the child of a fork() does, except that libc's own locks are as they were. Both
 * may be called in a signal handler that runs outside the runtime.
 */
int wefti_fork_unseen_begin(void);
void wefti_fork_unseen_end(int parent, int is_child);

#endif
