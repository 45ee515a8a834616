/* SPDX-License-Identifier: MIT */
/* lockfree/back_off.h - a thread that has lost a race pauses for a while */
#ifndef WEFT_LOCKFREE_BACK_OFF_H
#define WEFT_LOCKFREE_BACK_OFF_H

#include <stdint.h>

#include "cpu.h"

/*
 * Called after a CAS that failed because another thread was faster. `lost` counts these
 * failures in one call of the caller's. The first time it makes `first` pauses, then twice
 * as many each time, and never more than `most`. It waits for no other thread.
 */
static inline void wefti_back_off(unsigned *lost, uint64_t first, uint64_t most)
{
	uint64_t pauses = first << (*lost < 16 ? (*lost)++ : 16);

	if (pauses > most)
		pauses = most;
	while (pauses-- > 0)
		wefti_arch_pause();
}

#endif
