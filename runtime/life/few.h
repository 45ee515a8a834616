/* SPDX-License-Identifier: MIT */
/* life/few.h - regions of which there are few at a time */
#ifndef WEFT_LIFE_FEW_H
#define WEFT_LIFE_FEW_H

#define WEFTI_FEW	1	/* at a time: with it VCPUs + 3 kernel threads */

/*
 * weft_block_begin() for a call that can be done in another way where kernel
 * threads enough are blocked. Returns 0, and nothing is begun, while WEFTI_FEW
 * others are in regions that were begun so; else 1, and weft_block_end() is due.
 * A thread that is in a region already gets 1, as does one without a VCPU.
 */
int wefti_block_begin_few(void);

struct wefti_thread;

/* The child of a fork by self (NULL: not weft's): no others are in regions. */
void wefti_block_forget(struct wefti_thread *self);

#endif
