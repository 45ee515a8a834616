/* SPDX-License-Identifier: MIT */
/* init/fork.h - the child of a fork */
#ifndef WEFT_INIT_FORK_H
#define WEFT_INIT_FORK_H

/* Once in a process. Returns 0, or -ENOMEM. */
int wefti_fork_init(void);

#endif
