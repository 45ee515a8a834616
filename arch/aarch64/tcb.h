/* SPDX-License-Identifier: MIT */
/*
 * arch/aarch64/tcb.h - where glibc puts a thread's control block and static TLS
 *
 * TLS variant I: the control block (struct pthread) ends at the thread pointer, and
 * static TLS begins there. The size that the loader reports does not include the
 * control block.
 *
 *	low        tp - pthread_bytes   tp
 *	| our note | struct pthread     | two words, static TLS (grows up) |
 */
#ifndef WEFT_ARCH_TCB_H
#define WEFT_ARCH_TCB_H

#include <stddef.h>
#include <stdint.h>

/* libc's RSEQ_SIG, which it gives to the kernel. */
#define WEFTI_ARCH_RSEQ_SIG	0xd428bc00

#define TCB_DTV			0	/* from the thread pointer */
#define TCB_HEAD_BYTES		16
#define TCB_MULTIPLE_THREADS	0	/* from struct pthread */

struct wefti_arch_tls_sizes {
	size_t pthread_bytes;	/* sizeof(struct pthread) */
	size_t static_bytes;	/* as the loader reports it */
	size_t align;
	size_t note_bytes;
};

static inline uintptr_t wefti_arch_pthread_to_tp(
	uintptr_t pthread, const struct wefti_arch_tls_sizes *s)
{
	return pthread + s->pthread_bytes;
}

static inline uintptr_t wefti_arch_tp_to_pthread(
	uintptr_t tp, const struct wefti_arch_tls_sizes *s)
{
	return tp - s->pthread_bytes;
}

static inline void *wefti_arch_tp_note(uintptr_t tp,
				       const struct wefti_arch_tls_sizes *s)
{
	return (void *)((tp - s->pthread_bytes - s->note_bytes) &
			~(uintptr_t)7);
}

/* The vector of dynamic TLS: a pointer to its second element. */
static inline void *wefti_arch_tp_dtv(uintptr_t tp)
{
	return *(void **)(tp + TCB_DTV);
}

static inline void wefti_arch_tp_set_dtv(uintptr_t tp, void *dtv)
{
	*(void **)(tp + TCB_DTV) = dtv;
}

/* Static TLS without the two words of the header. */
static inline void wefti_arch_static_tls(uintptr_t tp,
					 const struct wefti_arch_tls_sizes *s,
					 uintptr_t *from, uintptr_t *to)
{
	*from = tp + TCB_HEAD_BYTES;
	*to = tp + s->static_bytes;
}

/* The part of it that is in use, by the number of bytes that the loader reports. */
static inline void wefti_arch_static_tls_used(uintptr_t tp, size_t used,
					      uintptr_t *from, uintptr_t *to)
{
	*from = tp + TCB_HEAD_BYTES;
	*to = tp + used;
}

/* The highest place below `top`; *low gets the lowest address used. */
static inline uintptr_t wefti_arch_tls_place(
	uintptr_t top, const struct wefti_arch_tls_sizes *s, uintptr_t *low)
{
	uintptr_t tp = (top - s->static_bytes) & ~(uintptr_t)(s->align - 1);

	*low = (tp - s->pthread_bytes - s->note_bytes - 8) & ~(uintptr_t)63;
	return tp;
}

/*
 * libc's TCB_ALIGNMENT, to which it also rounds the size of a stack down: that of the
 * restartable sequences' area in struct pthread.
 */
#define WEFTI_ARCH_TCB_ALIGNMENT	32

/* At most from *low to `top`. */
static inline size_t wefti_arch_tls_bytes(const struct wefti_arch_tls_sizes *s)
{
	return s->static_bytes + s->align + s->pthread_bytes + s->note_bytes +
	       8 + 64;
}

/* The stack and pointer guards are global variables on this CPU. */
static inline void wefti_arch_tcb_head(uintptr_t tp, uintptr_t from_tp,
				       const struct wefti_arch_tls_sizes *s)
{
	(void)from_tp;
	*(int *)(tp - s->pthread_bytes + TCB_MULTIPLE_THREADS) = 1;
}

#endif
