/* SPDX-License-Identifier: MIT */
/*
 * thread/name.h - the names that threads are given while they live
 *
 * A body, in which a thread's first name is, goes with its thread. Whoever names
 * another thread may come late. So what is given later is in a table that stays, a
 * line for each struct; the argument is in thread/name.c.
 */
#ifndef WEFT_THREAD_NAME_H
#define WEFT_THREAD_NAME_H

#include "thread/thread.h"

#define WEFTI_NAME_BYTES	32	/* with the 0 at its end */

/*
 * From now on the thread of the id is called so; cut. Returns 0, -ENOMEM, or -ESRCH:
 * the thread is no more.
 */
MUST_USE int wefti_name_set(uint64_t id, const char *name);

/*
 * What the thread of the id was called by wefti_name_set(). Returns 0, and leaves
 * name alone, if it was not. Wait-free, for signal handlers too.
 */
int wefti_name_get(uint64_t id, char name[WEFTI_NAME_BYTES]);

#endif
