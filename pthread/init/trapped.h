/* SPDX-License-Identifier: MIT */
/* pthread/init/trapped.h - futex calls by a library's own instructions */
#ifndef WEFT_PTHREAD_INIT_TRAPPED_H
#define WEFT_PTHREAD_INIT_TRAPPED_H

/*
 * begin(): before the runtime starts, on the first kernel thread. end(): if the start
 * failed, and in the child of a fork.
 */
void wefti_trapped_begin(void);
void wefti_trapped_end(void);

/* A thread may be in a wait that we were not told of. */
void wefti_trapped_again(void);

#endif
