/* SPDX-License-Identifier: MIT */
/* pthread/init/trapped.h - futex calls of a library's own instructions (os/signal/trap.h) */
#ifndef WEFT_PTHREAD_INIT_TRAPPED_H
#define WEFT_PTHREAD_INIT_TRAPPED_H

/*
 * Before the runtime starts, on the first kernel thread; where that was in vain, and
 * in the child of a fork.
 */
void wefti_trapped_begin(void);
void wefti_trapped_end(void);

/* There may be a thread in a wait that we were not told of. */
void wefti_trapped_again(void);

#endif
