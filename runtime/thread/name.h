/* SPDX-License-Identifier: MIT */
/*
 * thread/name.h - the names that threads get while they live
 *
 * A thread's first name is in its body, which goes with the thread. A thread may name
 * another one that ends meanwhile. So later names are in a table that stays, with a line
 * for each struct; thread/name.c has the argument.
 */
#ifndef WEFT_THREAD_NAME_H
#define WEFT_THREAD_NAME_H

#include "thread/thread.h"

#define WEFTI_NAME_BYTES	32	/* including the final 0 */
#define WEFTI_NAME_SHOWN	(4 * WEFTI_NAME_BYTES)	/* wefti_format_shown() of it */

/*
 * Names the thread of the id; the name is cut. Returns 0, -ENOMEM, or -ESRCH if the
 * thread has ended.
 */
MUST_USE int wefti_name_set(uint64_t id, const char *name);

/*
 * Gets the name that wefti_name_set() gave to the thread of the id. Returns 0, and
 * leaves name alone, if there was none. Wait-free, for signal handlers too.
 */
int wefti_name_get(uint64_t id, char name[WEFTI_NAME_BYTES]);

/* The table, for debuggers: a struct wefti_dense of lines of WORDS words. */
const void *wefti_name_table(void);

#endif
