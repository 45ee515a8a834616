/* SPDX-License-Identifier: MIT */
/* observe/deadlock.h - every thread is parked, and nothing can wake one */
#ifndef WEFT_OBSERVE_DEADLOCK_H
#define WEFT_OBSERVE_DEADLOCK_H

#include <stdint.h>

/*
 * By the observer: if it was so at two looks, reports it and may not return. Else
 * returns after how many nanoseconds to look again; INT64_MAX: when asked to.
 */
int64_t wefti_deadlock_check(void);

/*
 * Kernel threads of a layer above that wake nobody of themselves: they only pass
 * on what the program could be seen to wait for.
 */
extern _Atomic unsigned wefti_deadlock_helpers;

#endif
