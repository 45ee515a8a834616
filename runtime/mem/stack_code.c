/* SPDX-License-Identifier: MIT */
/*
 * mem/stack_code.c - executable stacks, for programs that ask the linker for them
 *
 * Code is allowed once, for all stacks and for good. The thread that allows it stores
 * that first and then walks over the slabs. A thread that makes a slab looks whether it
 * is stored when the slab can be found. Both use read-modify-writes of one word, so one
 * of the two sees the other.
 *
 * Where guards are mprotect's, the lowest page is left out, so that no race takes it
 * away. A larger guard that is being made just then may be reduced to this page.
 *
 * Writers
 *   allowed  wefti_stack_allow_code, wefti_stack_code_end
 */
#include "mem/stack_code.h"

#include "lockfree/atomic.h"
#include "mem/stack.h"
#include "mem/stack_place.h"
#include "os/call/vm.h"

static _Atomic uint8_t allowed;

/* For the slab whose first stack this is. */
static int allow(uint32_t index, uint64_t place)
{
	size_t bytes = wefti_place_bytes(place);
	uint32_t count = wefti_place_left(place);
	uintptr_t low = wefti_place_low(place);
	int error = 0;

	if (!wefti_stack_split_bytes(index))
		return wefti_os_vm_run((void *)low, bytes * count);
	for (uint32_t i = 0; i < count; i++, low += bytes) {
		size_t guard = wefti_stack_split_bytes(index + i);

		error |= wefti_os_vm_run((void *)(low + guard), bytes - guard);
	}
	return error;
}

int wefti_stack_code_begin(void *low, size_t bytes)
{
	return load_seq_cst(&allowed) ? wefti_os_vm_run(low, bytes) : 0;
}

/* A thread that allows code after _begin() may not have seen this slab. */
void wefti_stack_code_end(uint32_t index)
{
	if (fetch_or_seq_cst(&allowed, 0))
		(void)allow(index, wefti_stack_place(index));
}

int wefti_stack_allows_code(void)
{
	return load_seq_cst(&allowed);
}

int wefti_stack_allow_code(void)
{
	uint32_t limit, left;
	int error = 0;

	fetch_or_seq_cst(&allowed, 1);
	limit = wefti_dense_limit(&wefti_stack_records);
	for (uint32_t i = 0; i < limit; i += left) {
		uint64_t place = wefti_stack_place(i);

		left = place ? wefti_place_left(place) : 1;
		if (place)
			error |= allow(i, place);
	}
	return error;
}
