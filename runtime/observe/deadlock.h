/* SPDX-License-Identifier: MIT */
/* observe/deadlock.h - every thread is parked, and nothing can wake one */
#ifndef WEFT_OBSERVE_DEADLOCK_H
#define WEFT_OBSERVE_DEADLOCK_H

/* By the observer: looks twice; if it is so, reports it and may not return. */
void wefti_deadlock_check(void);

#endif
