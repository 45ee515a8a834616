/* SPDX-License-Identifier: MIT */
/* life/few.h - regions, few of which may be open at one time */
#ifndef WEFT_LIFE_FEW_H
#define WEFT_LIFE_FEW_H

#define WEFTI_FEW	1	/* at one time: VCPUs + 3 kernel threads */

/*
 * weft_block_begin() for a call that can be done in another way if enough kernel
 * threads are blocked. While WEFTI_FEW other threads are in regions that were begun
 * like this, returns 0 and begins nothing. Otherwise returns 1, and the caller must
 * call weft_block_end(). A thread that is in a region already, or has no VCPU, always
 * gets 1.
 */
int wefti_block_begin_few(void);

struct wefti_thread;

/*
 * Called in the child of a fork by self (NULL: not weft's): no other thread is in a
 * region.
 */
void wefti_block_forget(struct wefti_thread *self);

#endif
