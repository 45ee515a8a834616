/* SPDX-License-Identifier: MIT */
/*
 * pthread/init/layout.c - what a debugger has to know of this layer
 *
 * This library exports a name of its own. A native program that is run under the preload
 * library has two runtimes, so one name would mean either.
 */
#include "pthread/init/layout.h"

#include <stddef.h>

#include "cpu.h"
#include "observe/layout.h"
#include "pthread/core/self.h"
#include "pthread/sync/rwlock_layout.h"

static uint64_t pt_offset;	/* of wefti_pt, from the thread pointer */

static const struct wefti_layout table[] = {
	{ "weft pthread layout", WEFTI_LAYOUT_VERSION },
	{ "at.base", (int64_t)(uintptr_t)wefti_layout },
	{ "at.pt", (int64_t)(uintptr_t)&pt_offset },
	{ "pt.id", offsetof(struct wefti_pt, id) },
	{ "pt.tid", offsetof(struct wefti_pt, tid) },
	{ "pthread.mutex_owner", offsetof(pthread_mutex_t, __data.__owner) },
	{ "pthread.rwlock_writer", offsetof(struct wefti_pt_rwlock, writer) },
	{ "", 0 },
};

extern __typeof__(table) wefti_debug_pthread
	__attribute__((alias("table"), visibility("default")));

void wefti_pt_layout_begin(void)
{
	pt_offset = (uintptr_t)&wefti_pt - wefti_arch_tp_get();
	wefti_layout_add(table);
}
