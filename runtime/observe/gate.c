/* SPDX-License-Identifier: MIT */
/*
 * observe/gate.c - no thread looks at a runtime that is being taken apart
 *
 * Structure
 *   word   OPEN | lookers:31
 *
 * States
 *   CLOSED --open--> OPEN --close--> CLOSED, from which lookers only leave
 *
 * Writers
 *   word  wefti_observe_begin, wefti_observe_end, wefti_observe_forget,
 *       wefti_observe_open, wefti_observe_shut
 *
 * Invariants
 *   I1  lookers are counted up only while OPEN.
 *   I2  close returns when lookers is 0, so no thread looks after it.
 *
 * Linearization
 *   begin and end: at their CAS or subtraction. open and close: at theirs.
 *
 * Progress
 *   begin is lock-free, end wait-free. close is blocking: it waits on the futex for the
 *   threads that look. A dump is the longest look. It waits for nothing without a
 *   time-out, and for its reader only while OPEN.
 *
 * ABA and reclamation
 *   A count; what it protects is freed after close.
 *
 * Pairs
 *   All seq_cst.
 *
 * Source
 *   Ours.
 */
#include "observe/gate.h"

#include <errno.h>

#include "lockfree/atomic.h"
#include "os/call/futex.h"

#define OPEN	0x80000000u

static _Atomic uint32_t word;

int wefti_observe_begin(void)
{
	uint32_t w = load_seq_cst(&word);

	while (w & OPEN)
		if (cas_weak_seq_cst(&word, &w, w + 1))
			return 0;
	return -ESRCH;
}

void wefti_observe_end(void)
{
	if (fetch_sub_seq_cst(&word, 1) == 1)
		wefti_os_futex_wake(&word, 1);	/* close waits */
}

void wefti_observe_open(void)
{
	fetch_or_seq_cst(&word, OPEN);
}

void wefti_observe_forget(void)
{
	store_seq_cst(&word, 0);
}

void wefti_observe_shut(void)
{
	fetch_and_seq_cst(&word, ~OPEN);
}

int wefti_observe_is_open(void)
{
	return (load_seq_cst(&word) & OPEN) != 0;
}

void wefti_observe_close(void)
{
	uint32_t w;

	wefti_observe_shut();
	w = load_seq_cst(&word);
	while (w != 0) {
		wefti_os_futex_wait(&word, w, INT64_MAX);
		w = load_seq_cst(&word);
	}
}
