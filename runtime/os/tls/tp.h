/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tp.h - sets the thread pointer (FS base, TPIDR_EL0) at a switch
 *
 * A layer above may watch these changes, to know when a thread with its own block begins
 * and stops running. Without a watcher this costs nothing more: whether an instruction
 * can set the thread pointer has to be checked in any case.
 */
#ifndef WEFT_OS_TLS_TP_H
#define WEFT_OS_TLS_TP_H

#include "base/compiler.h"
#include "cpu.h"
#include "lockfree/atomic.h"

/* Called on the old block, before the thread pointer becomes tp. Inside the runtime. */
typedef void wefti_tp_watch_fn(uintptr_t tp);

/* 1: one instruction sets it, and there is no watcher. */
extern _Atomic uint32_t wefti_tp_is_plain
	__attribute__((visibility("hidden")));

/* Called after wefti_arch_init(), at any time, by any thread. NULL: no watcher. */
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
