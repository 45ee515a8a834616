/* SPDX-License-Identifier: MIT */
/* observe/out.h - text for a descriptor, a few lines at a time */
#ifndef WEFT_OBSERVE_OUT_H
#define WEFT_OBSERVE_OUT_H

#include <stddef.h>

struct wefti_out {
	int fd;
	int failed;		/* fd did not take everything */
	int is_strangers;	/* the reader may go away, and is not waited for */
	size_t used;
	char text[4096];
};

/* Formats of base/format.h. */
void wefti_out(struct wefti_out *o, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void wefti_out_flush(struct wefti_out *o);

#endif
