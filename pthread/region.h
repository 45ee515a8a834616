/* SPDX-License-Identifier: MIT */
/* pthread/region.h - where a green thread may block in the kernel */
#ifndef WEFT_PTHREAD_REGION_H
#define WEFT_PTHREAD_REGION_H

#include "life/few.h"
#include "pthread/self.h"
#include "pthread/signal.h"
#include "weft/runtime.h"

/*
 * Cancellation does not end a call inside a region. Where the call has a time,
 * it is given no more than this one, and the caller looks in between.
 */
#define WEFTI_WHILE_NS	200000000

/*
 * As weft_block_begin(), and nothing where there is no VCPU to give away. Signals
 * for the thread interrupt its kernel thread (wefti_pt_urge()), their handlers run
 * on top.
 */
static inline void wefti_region_begin(void)
{
	if (!wefti_pt_green())
		return;
	weft_block_begin();
	wefti_signals_look();
}

/* As wefti_block_begin_few(). */
static inline int wefti_region_begin_few(void)
{
	if (!wefti_pt_green())
		return 1;
	if (!wefti_block_begin_few())
		return 0;
	wefti_signals_look();
	return 1;
}

static inline void wefti_region_end(void)
{
	if (!wefti_pt_green())
		return;
	weft_block_end();
	wefti_signals_look();
}

#endif
