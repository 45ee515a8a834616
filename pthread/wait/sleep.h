/* SPDX-License-Identifier: MIT */
/* pthread/wait/sleep.h - a green thread lets time pass */
#ifndef WEFT_PTHREAD_WAIT_SLEEP_H
#define WEFT_PTHREAD_WAIT_SLEEP_H

#include <stdint.h>

/*
 * By a green thread; a cancellation point. Returns 0 at the deadline, or EINTR
 * when a signal's handler has run before it.
 */
int wefti_sleep_until(int64_t deadline);

#endif
