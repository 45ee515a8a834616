/* SPDX-License-Identifier: MIT */
/*
 * observe/out.c - text for a descriptor, a few lines at a time
 *
 * Writers
 *   is_limited  wefti_out_flush
 *   until  wefti_out_flush
 */
#include "observe/out.h"

#include "base/format.h"
#include "lockfree/atomic.h"
#include "observe/gate.h"
#include "observe/observer.h"
#include "os/call/clock.h"
#include "os/call/write.h"

#define PATIENCE_NS	INT64_C(2000000000)

static _Atomic int64_t until;	/* used by one writing thread at a time */
static _Atomic int is_limited;	/* the same */

static int goes_on(void)
{
	return wefti_observe_is_open() &&
	       (!load_relaxed(&is_limited) ||
		wefti_os_now_ns() < load_relaxed(&until));
}

void wefti_out_flush(struct wefti_out *o)
{
	/* A lent observer has other work than to wait for a reader. */
	store_relaxed(&is_limited, o->is_strangers || wefti_observer_is_lent());
	store_relaxed(&until, wefti_os_now_ns() + PATIENCE_NS);
	if (!o->failed &&
	    wefti_os_write(o->fd, o->text, o->used, goes_on) != 0)
		o->failed = 1;
	o->used = 0;
}

void wefti_out(struct wefti_out *o, const char *format, ...)
{
	va_list args;

	if (sizeof(o->text) - o->used < WEFTI_PRINT_MOST)
		wefti_out_flush(o);
	va_start(args, format);
	o->used += wefti_vformat(o->text + o->used, sizeof(o->text) - o->used,
				 format, args);
	va_end(args);
}
