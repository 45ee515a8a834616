/* SPDX-License-Identifier: MIT */
/* arch/riscv64/tcb_layout.h - two words are below the thread pointer */
#ifndef WEFT_ARCH_TCB_LAYOUT_H
#define WEFT_ARCH_TCB_LAYOUT_H

/* libc's RSEQ_SIG, which it gives to the kernel. */
#define WEFTI_ARCH_RSEQ_SIG	0xf1401073

/* The room of the two words is a multiple of the control block's alignment. */
#define TCB_DTV			((uintptr_t)-16)	/* from the thread pointer */
#define TCB_HEAD		0
#define TCB_GAP			WEFTI_ARCH_TCB_ALIGNMENT

#include "tls_above.h"

#endif
