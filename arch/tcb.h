/* SPDX-License-Identifier: MIT */
/*
 * arch/tcb.h - where glibc puts a thread's control block and static TLS
 *
 * The control block is struct pthread. The CPU's tcb_layout.h knows where it is, seen
 * from the thread pointer.
 */
#ifndef WEFT_ARCH_TCB_H
#define WEFT_ARCH_TCB_H

#include <stddef.h>
#include <stdint.h>

struct wefti_arch_tls_sizes {
	size_t pthread_bytes;	/* sizeof(struct pthread) */
	size_t static_bytes;	/* as the loader reports it */
	size_t align;
	size_t note_bytes;
};

#include "tcb_layout.h"

/* The vector of dynamic TLS: a pointer to its second element. */
static inline void *wefti_arch_tp_dtv(uintptr_t tp)
{
	return *(void **)(tp + TCB_DTV);
}

static inline void wefti_arch_tp_set_dtv(uintptr_t tp, void *dtv)
{
	*(void **)(tp + TCB_DTV) = dtv;
}

#endif
