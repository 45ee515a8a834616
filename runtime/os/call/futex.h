/* SPDX-License-Identifier: MIT */
/* os/call/futex.h - a kernel thread sleeps on a word of this process */
#ifndef WEFT_OS_CALL_FUTEX_H
#define WEFT_OS_CALL_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * Sleeps while *w == value, until a wake or the deadline (CLOCK_MONOTONIC, in
 * nanoseconds; INT64_MAX: none). Returns -ETIMEDOUT at the deadline, else 0:
 * woken, or the value differed, or a signal handler ran, or for no reason.
 * The caller looks at its condition again.
 */
int wefti_os_futex_wait(_Atomic uint32_t *w, uint32_t value,
			int64_t deadline_ns);

/* Wakes up to `count` sleepers; returns how many there were to wake. */
int wefti_os_futex_wake(_Atomic uint32_t *w, int count);

/*
 * The same on a word that several processes have mapped. No deadline; the wake
 * does nothing where the word has been unmapped since.
 */
void wefti_os_futex_wait_shared(_Atomic uint32_t *w, uint32_t value);
void wefti_os_futex_wake_shared(_Atomic uint32_t *w, int count);

#endif
