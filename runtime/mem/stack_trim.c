/* SPDX-License-Identifier: MIT */
/*
 * mem/stack_trim.c - many stacks end at once
 *
 * A call that gives a stack's memory back takes most of its time for work that the kernel
 * does once a call: it interrupts the other CPUs, and makes their address translations
 * void. So stacks that lie side by side take one call. The guards between them stay.
 *
 * If some of the stacks are locked in memory, the kernel may stop in the middle. Then
 * each stack takes a call of its own.
 */
#include "mem/stack_trim.h"

#include "mem/stack.h"
#include "mem/stack_place.h"
#include "os/call/vm.h"

/* Straight insertion: the indexes mostly come in one order or the other, some dozens. */
static void sort(uint32_t *index, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		const uint32_t one = index[i];
		unsigned k = i;

		for (; k > 0 && index[k - 1] > one; k--)
			index[k] = index[k - 1];
		index[k] = one;
	}
}

/* Is `next` the stack above `index` in its slab? */
static int are_neighbours(uint32_t index, uint32_t next)
{
	return next == index + 1 && wefti_place_left(wefti_stack_place(index)) > 1;
}

static int trim(uint32_t first, uint32_t last)
{
	char *low = (char *)wefti_place_low(wefti_stack_place(first));

	return wefti_os_vm_dontneed(low, (size_t)((char *)wefti_stack_top(last) - low));
}

static void free_one(uint32_t index)
{
	const uint64_t place = wefti_stack_place(index);
	struct wefti_stack s = {
		.low = (void *)wefti_place_low(place),
		.top = wefti_stack_top(index),
		.index = index,
		.class = wefti_place_class(place),
	};

	wefti_stack_free(&s);
}

void wefti_stack_give_back(uint32_t *index, unsigned n)
{
	sort(index, n);
	for (unsigned i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n; end++)
			if (!are_neighbours(index[end - 1], index[end]))
				break;
		if (trim(index[i], index[end - 1]) != 0 && end > i + 1)
			for (unsigned k = i; k < end; k++)
				(void)trim(index[k], index[k]);
	}
	/* Downwards, so that they are handed out upwards. */
	while (n > 0)
		free_one(index[--n]);
}
