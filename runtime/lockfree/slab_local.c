/* SPDX-License-Identifier: MIT */
/*
 * lockfree/slab_local.c - a thread's record of a set; see slab.h
 *
 * Records belong to the set and are used again by its other threads. When the set is
 * closed, each belongs to the thread that uses it. A thread's list has its last used
 * record in front.
 *
 * Writers
 *   slab.locals  make_record, wefti_slab_forget_locals
 *   slab_local.used  give_slot, make_record, wefti_slab_join
 *   slab_slot.process  give_slot, try_take_slot; slab_recover.c: wefti_slab_reclaim
 */
#include <errno.h>
#include <stdlib.h>

#include "lockfree/slab.h"
#include "os/libc/thread_end.h"

/* Its fields never change: a search that ends here finds no set and no object. */
struct wefti_slab_local wefti_slab_last;
_Thread_local struct wefti_slab_local *wefti_slab_locals = &wefti_slab_last;

/* leave_all() runs when this thread ends. */
static _Thread_local int is_registered
	__attribute__((tls_model("initial-exec")));

static int try_take_slot(struct wefti_slab_local *l)
{
	struct weft_slab *s = l->slab;

	if (s->process >= WEFTI_SLAB_PROCESSES)
		return -EAGAIN;
	for (uint32_t i = 0; i < s->shape.slots; i++) {
		uint64_t nobody = 0;

		if (load_relaxed(&s->slot[i].process) == 0 &&
		    cas_acquire(&s->slot[i].process,	/* of slab.h: P7 */
				&nobody, (uint64_t)s->process + 1)) {
			l->slot = &s->slot[i];
			l->slot_number = i;
			return 0;
		}
	}
	return -EAGAIN;
}

/* MAGAZINE, HELD -> IN, all objects; then the slot and the record are free. */
static void give_slot(struct wefti_slab_local *l)
{
	struct weft_slab *s = l->slab;

	wefti_slab_put_back(l, l->held_count);
	if (l->group)
		wefti_slab_drop(s, l->number, l->mine);
	wefti_slab_own_none(l);
	l->mine = 0;
	store_release(&l->slot->process, 0);	/* of slab.h: P7 */
	store_seq_cst(&l->used, 0);
}

/* Runs after the thread's own destructors; no code of this thread runs after it. */
static void leave_all(void *unused)
{
	struct wefti_slab_local *l;

	(void)unused;
	is_registered = 0;
	while ((l = wefti_slab_locals) != &wefti_slab_last) {
		wefti_slab_locals = l->next;
		if (!l->slab) {
			free(l);
			continue;
		}
		give_slot(l);
	}
}

/*
 * The inverse of an odd number modulo 2^64. 3 bits are right at first, and each step
 * doubles that number.
 */
static uint64_t inverse_of(uint64_t odd)
{
	uint64_t inverse = odd;

	for (int bits = 3; bits < 64; bits *= 2)
		inverse *= 2 - odd * inverse;
	return inverse;
}

/* A record that a thread has left, or a new one. */
static struct wefti_slab_local *make_record(struct weft_slab *s)
{
	struct wefti_slab_local *l = load_seq_cst(&s->locals);

	for (; l; l = l->other) {
		uint32_t no = 0;

		if (cas_seq_cst(&l->used, &no, 1))
			return l;
	}
	l = aligned_alloc(2 * CACHE_LINE, (sizeof(*l) + 2 * CACHE_LINE - 1) /
			  (2 * CACHE_LINE) * (2 * CACHE_LINE));
	if (!l)
		return NULL;
	*l = (struct wefti_slab_local){
		.slab = s,
		.shift = (uint32_t)__builtin_ctz((unsigned)s->object_bytes),
		.object_bytes = (uint32_t)s->object_bytes,
		.slabs = s->base + s->shape.slabs_at,
		.slab_bytes = s->shape.slab_bytes,
		.slab_inverse = UINT64_MAX / s->shape.slab_bytes + 1,
	};
	l->inverse = inverse_of(s->object_bytes >> l->shift);
	wefti_slab_own_none(l);
	store_relaxed(&l->used, 1);
	l->other = load_seq_cst(&s->locals);
	while (!cas_weak_seq_cst(&s->locals, &l->other, l))
		;
	return l;
}

/*
 * Moves the thread's record of the set to the front and returns it; frees void records.
 */
static struct wefti_slab_local *find(struct weft_slab *s)
{
	struct wefti_slab_local **at = &wefti_slab_locals, *l;

	while ((l = *at) != &wefti_slab_last) {
		if (l->slab && l->slab != s) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		if (l->slab) {
			l->next = wefti_slab_locals;
			wefti_slab_locals = l;
			return l;
		}
		free(l);
	}
	return NULL;
}

struct wefti_slab_local *wefti_slab_join(struct weft_slab *s, int *error)
{
	struct wefti_slab_local *l = find(s);

	if (l)
		return l;
	*error = -ENOMEM;
	l = make_record(s);
	if (!l)
		return NULL;
	*error = is_registered ? 0 : wefti_os_at_thread_end(leave_all, NULL);
	if (*error == 0) {
		is_registered = 1;
		*error = try_take_slot(l);
	}
	if (*error != 0) {
		store_seq_cst(&l->used, 0);
		return NULL;
	}
	l->next = wefti_slab_locals;
	wefti_slab_locals = l;
	return l;
}

void wefti_slab_forget_locals(struct weft_slab *s)
{
	struct wefti_slab_local *l = load_seq_cst(&s->locals), *other;

	store_seq_cst(&s->locals, NULL);
	for (; l; l = other) {
		other = l->other;
		if (load_seq_cst(&l->used))
			l->slab = NULL;		/* its thread frees it */
		else
			free(l);
	}
}

void weft_slab_leave(struct weft_slab *slab)
{
	struct wefti_slab_local *l = find(slab);

	if (!l)
		return;
	wefti_slab_locals = l->next;
	give_slot(l);
}
