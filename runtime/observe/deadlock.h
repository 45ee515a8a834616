/* SPDX-License-Identifier: MIT */
/* observe/deadlock.h - finds that all threads are parked and nothing can wake one */
#ifndef WEFT_OBSERVE_DEADLOCK_H
#define WEFT_OBSERVE_DEADLOCK_H

#include <stdint.h>

/*
 * Called by the observer. If there is a deadlock at two looks, reports it and may not
 * return. Otherwise returns after how many nanoseconds to look again; INT64_MAX: when
 * asked.
 */
int64_t wefti_deadlock_check(void);

/*
 * The number of a layer above's kernel threads that wake no thread by themselves: they
 * only pass on what the program can be seen to wait for. 0: there is no layer above.
 */
extern _Atomic unsigned wefti_deadlock_helpers;

#endif
