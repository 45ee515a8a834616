/* SPDX-License-Identifier: MIT */
/*
 * sched/ready_grow.c - a VCPU's full ring moves to a larger array
 *
 * Structure
 *   vcpu.larger  the arrays of one VCPU, each for four times as many threads as the one
 *                before. NULL: not made yet. How a ring moves from array to array, and
 *                why a thief may still read the one before, is in lockfree/ready_ring.h.
 *   This file writes no shared word. larger and refused_until are plain: only the VCPU's
 *   owner touches them, and, at the stop, the thread that has stopped all VCPUs.
 *
 * States of an array
 *   ABSENT   larger[k] is NULL
 *   IN USE   the ring is in it
 *   KEPT     the ring has left it, and may come back
 *
 *   ABSENT --wefti_ready_grow--> IN USE --the ring grows on, or shrinks--> KEPT
 *   KEPT --wefti_ready_grow--> IN USE
 *   IN USE, KEPT --wefti_ready_grow_end--> ABSENT
 *
 * Invariants
 *   I1  An array that was made lives until the stop: a thief may be reading it.
 *   I2  Array k has WEFTI_RING_CAPACITY << 2 * (k + 1) slots, and its mask is set before
 *       the ring moves there.
 *
 * Progress
 *   Wait-free, but for the kernel's call. The kernel is asked at most once in
 *   WEFTI_LOOK_AROUND switches after it has refused: a call costs more than a push. The
 *   next slow pick may be too soon to ask again, since each pick may be a slow one then.
 *
 * Source
 *   Ours; the ring's growth itself is as in the deque of Chase and Lev. Not done: an array
 *   is not unmapped when the ring leaves it, as a grace period would have to pass first.
 */
#include "sched/ready_grow.h"

#include <errno.h>

#include "os/call/vm.h"
#include "sched/policy.h"

static size_t array_bytes(unsigned slots)
{
	const size_t page = wefti_os_page_size();
	const size_t bytes = sizeof(struct wefti_ring_array) +
			     slots * sizeof(struct wefti_thread *);

	return (bytes + page - 1) / page * page;
}

/* ABSENT, KEPT -> the array that is returned. NULL: there is none. */
static struct wefti_ring_array *larger_array(struct wefti_vcpu *v)
{
	const unsigned full = load_relaxed(&v->ring.array)->mask + 1;
	unsigned slots = 4 * WEFTI_RING_CAPACITY, k = 0;

	for (; slots <= full; slots *= 4)
		k++;
	if (k == WEFTI_RING_SIZES)
		return NULL;
	if (!v->larger[k] && load_relaxed(&v->ticks) >= v->refused_until) {
		v->larger[k] = wefti_os_vm_reserve(array_bytes(slots));
		if (v->larger[k])
			v->larger[k]->mask = slots - 1;
		else
			v->refused_until = load_relaxed(&v->ticks) + WEFTI_LOOK_AROUND;
	}
	return v->larger[k];
}

void wefti_ready_grow_begin(struct wefti_vcpu *v)
{
	v->refused_until = 0;
}

int wefti_ready_grow(struct wefti_vcpu *v)
{
	struct wefti_ring_array *larger = larger_array(v);

	if (!larger)
		return -ENOMEM;
	wefti_ring_grow(&v->ring, larger);
	return 0;
}

void wefti_ready_grow_end(struct wefti_vcpu *v)
{
	for (unsigned k = 0; k < WEFTI_RING_SIZES; k++) {
		struct wefti_ring_array *a = v->larger[k];

		if (a)
			wefti_os_vm_unmap(a, array_bytes(a->mask + 1));
		v->larger[k] = NULL;
	}
}
