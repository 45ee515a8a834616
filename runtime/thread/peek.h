/* SPDX-License-Identifier: MIT */
/*
 * thread/peek.h - a look at a thread that may run, end or begin meanwhile
 *
 * The monitor and dumps look at threads that are not theirs. Structs are
 * type-stable and each field is one aligned load, so what is read is some value
 * that the field had; whoever looks has to check it by other means, or can do
 * without. A body that was taken apart stays mapped (mem/stack.c): zeros, or
 * another's frames. Not told to sanitizers: the owner's accesses are plain for
 * the sake of every switch.
 */
#ifndef WEFT_THREAD_PEEK_H
#define WEFT_THREAD_PEEK_H

#include "thread/thread.h"

#define PEEK static NOINLINE \
	__attribute__((no_sanitize("thread", "address"), unused))

PEEK enum wefti_kind wefti_peek_kind(const struct wefti_thread *t)
{
	return (enum wefti_kind)t->kind;
}

/* Has it a block of its own, on which a signal's handler can stop it? */
PEEK int wefti_peek_has_tls(const struct wefti_thread *t)
{
	return *(const volatile uintptr_t *)&t->tp != 0;
}

PEEK struct wefti_cold *wefti_peek_cold(struct wefti_thread *t)
{
	return *(struct wefti_cold *volatile *)&t->cold;
}

/*
 * By the monitor, of a thread that has computed for a slice: whoever furnished
 * the body did so long before. The thread reads it after it saw attention. Others
 * read the id alone: the record of a kernel thread may be freed meanwhile.
 */
PEEK void wefti_peek_set_carrier(struct wefti_cold *body,
				 struct wefti_kthread *k, int tid, int64_t now)
{
	*(volatile int64_t *)&body->taken_at = now;
	*(struct wefti_kthread *volatile *)&body->carrier = k;
	store_relaxed(&body->carrier_tid, (uint32_t)tid);
}

/* Of a body that may have a new thread by now. */
PEEK int wefti_peek_insists(const struct wefti_cold *body)
{
	return *(const volatile uint32_t *)&body->preempt_insists != 0;
}

/* The same. */
PEEK uint32_t wefti_peek_preempt_asked(const struct wefti_cold *body)
{
	return *(const volatile uint16_t *)&body->preempt_asked;
}

/* The same. */
PEEK uint32_t wefti_peek_preempt_near(const struct wefti_cold *body)
{
	return *(const volatile uint16_t *)&body->preempt_near;
}

/* The same. */
PEEK uint32_t wefti_peek_region(const struct wefti_cold *body)
{
	return *(const volatile uint32_t *)&body->block_region;
}

/* Of a thread that is parked, and may have gone on: see sched/stuck.c. */
PEEK int64_t wefti_peek_deadline(const struct wefti_cold *body)
{
	return *(const volatile int64_t *)&body->timer.deadline;
}

#endif
