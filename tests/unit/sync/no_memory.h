/* SPDX-License-Identifier: MIT */
/* no_memory.h - a table that cannot grow when a test says so */
#ifndef WEFT_TESTS_SYNC_NO_MEMORY_H
#define WEFT_TESTS_SYNC_NO_MEMORY_H

#include <errno.h>

#include "mem/dense.h"

static int no_memory;
static size_t grown;		/* how often it was asked to */

int __real_wefti_dense_grow(struct wefti_dense *d, size_t bytes,
			    uint32_t count, uint32_t *first);
int __wrap_wefti_dense_grow(struct wefti_dense *d, size_t bytes,
			    uint32_t count, uint32_t *first);

int __wrap_wefti_dense_grow(struct wefti_dense *d, size_t bytes,
			    uint32_t count, uint32_t *first)
{
	grown++;
	return no_memory ? -ENOMEM :
			   __real_wefti_dense_grow(d, bytes, count, first);
}

#endif
