/* SPDX-License-Identifier: MIT */
/* pthread/kthread/kept.h - equal values are stored once, and never freed */
#ifndef WEFT_PTHREAD_KTHREAD_KEPT_H
#define WEFT_PTHREAD_KTHREAD_KEPT_H

#include <stddef.h>

struct wefti_kept;

/*
 * Returns the copy of the value in the list, which any thread may read at any time, or NULL
 * if there is no memory. All values of a list have so many bytes, padding included.
 */
const void *wefti_keep(_Atomic(struct wefti_kept *) *list, const void *value, size_t bytes);

#endif
