/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tp.c - changes of the thread pointer that are watched, or need a system call
 *
 * Writers
 *   wefti_tp_is_plain  wefti_tp_watch
 *   watcher  wefti_tp_watch
 */
#include "os/tls/tp.h"

_Atomic uint32_t wefti_tp_is_plain;
static _Atomic(wefti_tp_watch_fn *) watcher;

void wefti_tp_watch(wefti_tp_watch_fn *watch)
{
	store_seq_cst(&watcher, watch);
	store_seq_cst(&wefti_tp_is_plain,
		      (uint32_t)(!watch && wefti_arch_tp_is_fast()));
}

COLD void wefti_tp_change_slow(uintptr_t tp)
{
	wefti_tp_watch_fn *watch = load_seq_cst(&watcher);

	if (watch)
		watch(tp);
	wefti_arch_tp_set(tp);
}
