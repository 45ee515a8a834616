/* SPDX-License-Identifier: MIT */
/* observe/out.c - text for a descriptor, a few lines at a time */
#include "observe/out.h"

#include "base/format.h"
#include "observe/guard.h"
#include "os/write.h"

void wefti_out_flush(struct wefti_out *o)
{
	if (!o->failed && wefti_os_write(o->fd, o->text, o->used,
					 wefti_observe_is_open) != 0)
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
