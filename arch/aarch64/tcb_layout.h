/* SPDX-License-Identifier: MIT */
/* arch/aarch64/tcb_layout.h - the control block ends at the thread pointer */
#ifndef WEFT_ARCH_TCB_LAYOUT_H
#define WEFT_ARCH_TCB_LAYOUT_H

/* libc's RSEQ_SIG, which it gives to the kernel. */
#define WEFTI_ARCH_RSEQ_SIG	0xd428bc00

#define TCB_DTV			0	/* from the thread pointer */
#define TCB_HEAD		16	/* two words, of which it is the first */
#define TCB_GAP			0

#include "tls_above.h"

#endif
