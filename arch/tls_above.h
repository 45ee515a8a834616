/* SPDX-License-Identifier: MIT */
/*
 * arch/tls_above.h - static TLS that begins at the thread pointer
 *
 * TLS variant I, which all but a few CPUs have. The control block (struct pthread) ends
 * TCB_GAP bytes below the thread pointer. The first TCB_HEAD bytes of static TLS are
 * glibc's. The size that the loader reports does not include the control block.
 *
 *	low        tp - TCB_GAP - pthread_bytes   tp
 *	| our note | struct pthread | TCB_GAP     | TCB_HEAD, static TLS (grows up) |
 *
 * Included by a CPU's tcb_layout.h, behind these two numbers.
 */
#ifndef WEFT_ARCH_TLS_ABOVE_H
#define WEFT_ARCH_TLS_ABOVE_H

#include "tcb.h"

/*
 * libc's TCB_ALIGNMENT, to which it also rounds the size of a stack down: that of the
 * restartable sequences' area in struct pthread.
 */
#define WEFTI_ARCH_TCB_ALIGNMENT	32

#define TCB_MULTIPLE_THREADS	0	/* from struct pthread */

static inline uintptr_t wefti_arch_pthread_to_tp(
	uintptr_t pthread, const struct wefti_arch_tls_sizes *s)
{
	return pthread + s->pthread_bytes + TCB_GAP;
}

static inline uintptr_t wefti_arch_tp_to_pthread(
	uintptr_t tp, const struct wefti_arch_tls_sizes *s)
{
	return tp - TCB_GAP - s->pthread_bytes;
}

static inline void *wefti_arch_tp_note(uintptr_t tp,
				       const struct wefti_arch_tls_sizes *s)
{
	return (void *)((wefti_arch_tp_to_pthread(tp, s) - s->note_bytes) &
			~(uintptr_t)7);
}

/* Static TLS without what is glibc's. */
static inline void wefti_arch_static_tls(uintptr_t tp,
					 const struct wefti_arch_tls_sizes *s,
					 uintptr_t *from, uintptr_t *to)
{
	*from = tp + TCB_HEAD;
	*to = tp + s->static_bytes;
}

/* The part of it that is in use, by the number of bytes that the loader reports. */
static inline void wefti_arch_static_tls_used(uintptr_t tp, size_t used,
					      uintptr_t *from, uintptr_t *to)
{
	*from = tp + TCB_HEAD;
	*to = tp + used;
}

/* The highest place below `top`; *low gets the lowest address used. */
static inline uintptr_t wefti_arch_tls_place(
	uintptr_t top, const struct wefti_arch_tls_sizes *s, uintptr_t *low)
{
	uintptr_t tp = (top - s->static_bytes) & ~(uintptr_t)(s->align - 1);

	*low = (wefti_arch_tp_to_pthread(tp, s) - s->note_bytes - 8) &
	       ~(uintptr_t)63;
	return tp;
}

/* At most from *low to `top`. */
static inline size_t wefti_arch_tls_bytes(const struct wefti_arch_tls_sizes *s)
{
	return s->static_bytes + s->align + TCB_GAP + s->pthread_bytes +
	       s->note_bytes + 8 + 64;
}

/* The stack and pointer guards are global variables on this CPU. */
static inline void wefti_arch_tcb_head(uintptr_t tp, uintptr_t from_tp,
				       const struct wefti_arch_tls_sizes *s)
{
	(void)from_tp;
	*(int *)(wefti_arch_tp_to_pthread(tp, s) + TCB_MULTIPLE_THREADS) = 1;
}

#endif
