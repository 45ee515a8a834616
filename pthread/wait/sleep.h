/* SPDX-License-Identifier: MIT */
/* pthread/wait/sleep.h - sleep calls of green threads */
#ifndef WEFT_PTHREAD_WAIT_SLEEP_H
#define WEFT_PTHREAD_WAIT_SLEEP_H

#include <stdint.h>

/*
 * For green threads; a cancellation point. Returns 0 at the deadline, or EINTR if a
 * signal handler has run before it.
 */
int wefti_sleep_until(int64_t deadline);

#endif
