/* SPDX-License-Identifier: MIT */
/*
 * pthread/core/go.c - a library with Go's runtime that is loaded when there are threads
 *
 * A library that is loaded before is seen when the first thread is made
 * (os/tls/tls_check.c). A library that is loaded later makes threads in its constructor,
 * before dlopen() has returned. And dlopen() may have to be jumped to
 * (pthread/init/dlopen.c), so that its end is not seen. So once a library was loaded,
 * each new thread asks the loader whether there are more objects than at the last look.
 *
 * Green threads stay green. Go binds a kernel thread that calls it from outside for the
 * time of the call. Meanwhile our thread may change kernel threads only where the call
 * comes back to C and waits there.
 *
 * Writers
 *   wefti_go_state  wefti_go_may_come, wefti_go_has_come
 *   seen  wefti_go_has_come
 */
#include "pthread/core/go.h"

#include <link.h>

#include "base/log.h"
#include "os/object/go.h"

_Atomic uint8_t wefti_go_state;

/* How many objects had come at the last look. */
static _Atomic uint64_t seen;

/* NONE -> LOOK */
void wefti_go_may_come(void)
{
	uint8_t none = WEFTI_GO_NONE;

	(void)cas_relaxed(&wefti_go_state, &none, WEFTI_GO_LOOK);
}

static int count(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(uint64_t *)arg = info->dlpi_adds;
	return 1;
}

/* LOOK -> HERE */
int wefti_go_has_come(void)
{
	uint8_t look = WEFTI_GO_LOOK;
	uint64_t now = 0;

	if (load_relaxed(&wefti_go_state) == WEFTI_GO_HERE)
		return 1;
	(void)dl_iterate_phdr(count, &now);
	if (now == load_relaxed(&seen))
		return 0;
	if (!wefti_os_go_is_here()) {
		store_relaxed(&seen, now);
		return 0;
	}
	if (cas_relaxed(&wefti_go_state, &look, WEFTI_GO_HERE))
		wefti_log(WEFTI_LOG_WARNING, "weft: new threads are kernel "
			  "threads from here on: Go's runtime was loaded\n");
	return 1;
}
