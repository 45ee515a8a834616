/* SPDX-License-Identifier: MIT */
/*
 * arch/x86_64/tcb_layout.h - the control block is at the thread pointer
 *
 * TLS variant II: static TLS is below it. The size that the loader reports includes both.
 *
 *	low                       tp                     tp + pthread_bytes
 *	| static TLS (grows down) | struct pthread       | our note |
 */
#ifndef WEFT_ARCH_TCB_LAYOUT_H
#define WEFT_ARCH_TCB_LAYOUT_H

#include <string.h>

#include "tcb.h"

/* libc's RSEQ_SIG, which it gives to the kernel. */
#define WEFTI_ARCH_RSEQ_SIG	0x53053053

/* tcbhead_t, the part of struct pthread that compilers know. */
#define TCB_SELF		0
#define TCB_DTV			8
#define TCB_PTHREAD		16
#define TCB_MULTIPLE_THREADS	24
#define TCB_STACK_GUARD		0x28
#define TCB_POINTER_GUARD	0x30
#define TCB_FEATURE_1		0x48

static inline uintptr_t wefti_arch_pthread_to_tp(
	uintptr_t pthread, const struct wefti_arch_tls_sizes *s)
{
	(void)s;
	return pthread;
}

static inline uintptr_t wefti_arch_tp_to_pthread(
	uintptr_t tp, const struct wefti_arch_tls_sizes *s)
{
	(void)s;
	return tp;
}

static inline void *wefti_arch_tp_note(uintptr_t tp,
				       const struct wefti_arch_tls_sizes *s)
{
	return (void *)(tp + ((s->pthread_bytes + 7) & ~(size_t)7));
}

/* Static TLS without the control block. */
static inline void wefti_arch_static_tls(uintptr_t tp,
					 const struct wefti_arch_tls_sizes *s,
					 uintptr_t *from, uintptr_t *to)
{
	*from = tp - (s->static_bytes - s->pthread_bytes);
	*to = tp;
}

/* The part of it that is in use, by the number of bytes that the loader reports. */
static inline void wefti_arch_static_tls_used(uintptr_t tp, size_t used,
					      uintptr_t *from, uintptr_t *to)
{
	*from = tp - used;
	*to = tp;
}

/* The highest place below `top`; *low gets the lowest address used. */
static inline uintptr_t wefti_arch_tls_place(
	uintptr_t top, const struct wefti_arch_tls_sizes *s, uintptr_t *low)
{
	uintptr_t end = top - s->note_bytes - 8;
	uintptr_t tp = (end - s->pthread_bytes) & ~(uintptr_t)(s->align - 1);

	*low = tp - (s->static_bytes - s->pthread_bytes);
	return tp;
}

/* libc's TCB_ALIGNMENT, to which it also rounds the size of a stack down. */
#define WEFTI_ARCH_TCB_ALIGNMENT	64

/* At most from *low to `top`. */
static inline size_t wefti_arch_tls_bytes(const struct wefti_arch_tls_sizes *s)
{
	return s->static_bytes + s->align + s->note_bytes + 8;
}

/* Makes the header from another thread's; the other fields stay. */
static inline void wefti_arch_tcb_head(uintptr_t tp, uintptr_t from_tp,
				       const struct wefti_arch_tls_sizes *s)
{
	char *head = (char *)tp;
	const char *from = (const char *)from_tp;

	(void)s;
	*(uintptr_t *)(head + TCB_SELF) = tp;
	*(uintptr_t *)(head + TCB_PTHREAD) = tp;
	*(int *)(head + TCB_MULTIPLE_THREADS) = 1;
	memcpy(head + TCB_STACK_GUARD, from + TCB_STACK_GUARD, 8);
	memcpy(head + TCB_POINTER_GUARD, from + TCB_POINTER_GUARD, 8);
	memcpy(head + TCB_FEATURE_1, from + TCB_FEATURE_1, 4);
}

#endif
