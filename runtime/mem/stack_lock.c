/* SPDX-License-Identifier: MIT */
/* mem/stack_lock.c - stacks that are locked in memory */
#include "mem/stack_lock.h"

#include "mem/stack_code.h"
#include "mem/stack_place.h"
#include "os/call/vm.h"

void wefti_stack_unlock_idle(void)
{
	const uint32_t limit = wefti_dense_limit(&wefti_stack_records);

	for (uint32_t i = 0; i < limit; i++) {
		const uint64_t place = wefti_stack_place(i);

		if (place && !wefti_stack_is_used(i))
			wefti_os_vm_unlock((void *)wefti_place_low(place),
					   wefti_place_bytes(place));
	}
}
