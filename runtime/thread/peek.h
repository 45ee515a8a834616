/* SPDX-License-Identifier: MIT */
/*
 * thread/peek.h - a look at a thread that may run, end or begin meanwhile
 *
 * The monitor and dumps look at threads that are not theirs. Structs are type-stable
 * and each field is one aligned load. So what is read is some value that the field had;
 * the reader must check it by other means, or must be able to do without. A body that
 * was taken apart stays mapped (mem/stack.c): it reads as zeros, or as another thread's
 * frames. Sanitizers are not told, since the owner's accesses are plain, for the sake
 * of every switch.
 */
#ifndef WEFT_THREAD_PEEK_H
#define WEFT_THREAD_PEEK_H

#include "thread/thread.h"

#if defined(WEFT_TSAN) || defined(WEFT_ASAN)
#define PEEK static NOINLINE __attribute__((no_sanitize("thread", "address"), unused))
#else
#define PEEK static inline
#endif

PEEK enum wefti_kind wefti_peek_kind(const struct wefti_thread *t)
{
	return (enum wefti_kind)t->kind;
}

/* As wefti_thread_id() of thread/bare.h. */
PEEK uint64_t wefti_peek_id(const struct wefti_thread *t)
{
	return (uint64_t)load_relaxed(&t->gen) << 32 | *(const volatile uint32_t *)&t->slot;
}

/* Does the thread's body stay its own until the join? */
PEEK int wefti_peek_keeps(const struct wefti_thread *t)
{
	return t->keep;
}

/* What the thread waits for, if it is parked: enum wefti_why. */
PEEK unsigned wefti_peek_why(const struct wefti_thread *t)
{
	return *(const volatile uint8_t *)&t->why;
}

/* 0: no TLS block of its own. */
PEEK uintptr_t wefti_peek_tp(const struct wefti_thread *t)
{
	return *(const volatile uintptr_t *)&t->tp;
}

/* Has the thread a TLS block of its own, on which a signal handler can stop it? */
PEEK int wefti_peek_has_tls(const struct wefti_thread *t)
{
	return *(const volatile uintptr_t *)&t->tp != 0;
}

PEEK struct wefti_cold *wefti_peek_cold(struct wefti_thread *t)
{
	return *(struct wefti_cold *volatile *)&t->cold;
}

/*
 * Called by the monitor, for a thread that has computed for a slice: the body was
 * furnished long before. The thread reads these after it saw attention. Others may read
 * only the id: the record of a kernel thread may be freed meanwhile.
 */
PEEK void wefti_peek_set_carrier(struct wefti_cold *body,
				 struct wefti_kthread *k, int tid, int64_t now)
{
	*(volatile int64_t *)&body->taken_at = now;
	*(struct wefti_kthread *volatile *)&body->carrier = k;
	store_relaxed(&body->carrier_tid, (uint32_t)tid);
}

/* The body may have a new thread by now; so in the next three. */
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
PEEK uint32_t wefti_peek_served(const struct wefti_cold *body)
{
	return *(const volatile uint32_t *)&body->served;
}

/* The same. */
PEEK uint32_t wefti_peek_region(const struct wefti_cold *body)
{
	return *(const volatile uint32_t *)&body->block_region;
}

/* Since when a thread is parked, which may have gone on. 0: not known. */
PEEK int64_t wefti_peek_since(const struct wefti_cold *body)
{
	return *(const volatile int64_t *)&body->since;
}

/* For a thread that is parked, and may have gone on: see sched/stuck.c. */
PEEK int64_t wefti_peek_deadline(const struct wefti_cold *body)
{
	return *(const volatile int64_t *)&body->timer.deadline;
}

#endif
