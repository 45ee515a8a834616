/* SPDX-License-Identifier: MIT */
/* mem/slot.c - the slab of thread structs */
#include "mem/slot.h"

_Static_assert(WEFTI_THREAD_SIZE % CACHE_LINE == 0,
	       "neighbours in the slab share no cache line");
_Static_assert(WEFTI_DENSE_CHUNK % WEFTI_SLOT_BATCH == 0,
	       "a batch lies in one chunk");

struct wefti_dense wefti_slots TABLE;

int wefti_slot_grow(uint32_t *first_new, uint32_t *count)
{
	int error = wefti_dense_grow(&wefti_slots, WEFTI_THREAD_SIZE,
				     WEFTI_SLOT_BATCH, first_new);

	if (!error)
		*count = WEFTI_SLOT_BATCH;
	return error;
}

uint32_t wefti_slot_limit(void)
{
	return wefti_dense_limit(&wefti_slots);
}
