/* SPDX-License-Identifier: MIT */
/* pthread/region.h - where a green thread may block in the kernel */
#ifndef WEFT_PTHREAD_REGION_H
#define WEFT_PTHREAD_REGION_H

#include "pthread/self.h"
#include "weft/runtime.h"

/* As weft_block_begin(), and nothing where there is no VCPU to give away. */
static inline void wefti_region_begin(void)
{
	if (wefti_pt_green())
		weft_block_begin();
}

static inline void wefti_region_end(void)
{
	if (wefti_pt_green())
		weft_block_end();
}

#endif
