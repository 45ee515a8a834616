/* SPDX-License-Identifier: MIT */
/* os/call/futex.h - a kernel thread sleeps on a word of this process */
#ifndef WEFT_OS_CALL_FUTEX_H
#define WEFT_OS_CALL_FUTEX_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "syscall.h"

/*
 * The kernel's wait, and its answer, while *w == value and until the deadline
 * (CLOCK_MONOTONIC, in nanoseconds; INT64_MAX: none). op is FUTEX_WAIT_BITSET, of a word
 * that processes share, or FUTEX_WAIT_BITSET_PRIVATE: only these take an absolute time.
 */
static inline long wefti_os_futex_sleep(_Atomic uint32_t *w, int op, uint32_t value,
					int64_t deadline_ns)
{
	struct timespec until, *deadline = NULL;

	if (deadline_ns < 0)
		deadline_ns = 0;	/* long past, but a valid timespec */
	if (deadline_ns != INT64_MAX) {
		until.tv_sec = deadline_ns / 1000000000;
		until.tv_nsec = deadline_ns % 1000000000;
		deadline = &until;
	}
	return wefti_arch_syscall(SYS_futex, (long)w, op, (long)value,
				  (long)deadline, 0, (long)FUTEX_BITSET_MATCH_ANY);
}

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
