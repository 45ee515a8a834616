/* SPDX-License-Identifier: MIT */
/* lockfree/back_off.h - who has lost against others stays away for a while */
#ifndef WEFT_LOCKFREE_BACK_OFF_H
#define WEFT_LOCKFREE_BACK_OFF_H

#include <stdint.h>

#include "cpu.h"

/*
 * Another was faster; `lost` counts that, in this call. Pauses `first` times, then
 * twice, four times ... as many, and never for more than `most`: bounded, and it
 * waits for nobody.
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
