/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tp.h - the thread register goes from thread to thread
 *
 * A layer above may watch that, to know when a thread with a block of its own
 * begins and ceases to run. Who watches nothing pays nothing: whether there is
 * an instruction that sets the register has to be looked at in any case.
 */
#ifndef WEFT_OS_TLS_TP_H
#define WEFT_OS_TLS_TP_H

#include "base/compiler.h"
#include "cpu.h"
#include "lockfree/atomic.h"

/* Called on the old block, before the register is tp. Inside the runtime. */
typedef void wefti_tp_watch_fn(uintptr_t tp);

/* It is one instruction and nobody watches. */
extern _Atomic uint32_t wefti_tp_is_plain
	__attribute__((visibility("hidden")));

/* After wefti_arch_init(). NULL: nobody watches. At any time, by any thread. */
void wefti_tp_watch(wefti_tp_watch_fn *watch);

void wefti_tp_change_slow(uintptr_t tp);

static ALWAYS_INLINE void wefti_tp_change(uintptr_t tp)
{
	if (likely(load_relaxed(&wefti_tp_is_plain)))
		wefti_arch_tp_set_fast(tp);
	else
		wefti_tp_change_slow(tp);
}

#endif
