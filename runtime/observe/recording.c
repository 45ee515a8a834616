/* SPDX-License-Identifier: MIT */
/*
 * observe/recording.c - another process asks for events to be recorded
 *
 * Structure
 *   asks[] has a slot for each asking process. A handler puts a request in, and the observer
 *   takes all out in a round, from the first slot to the last.
 *
 * States of a slot
 *   FREE   0
 *   ASKED  a process and its last request
 *
 *   FREE --a handler's CAS--> ASKED --a handler's CAS, of the same process--> ASKED
 *   ASKED --the observer's xchg--> FREE
 *
 * Writers
 *   asks  put, wefti_recording_answer, wefti_recording_forget
 *
 * Invariants
 *   I1  The requests of one process are applied in their order. A later one replaces an
 *       earlier one, or is in a slot in front of it. Then a round has already passed
 *       that slot, so the same round takes the earlier one, and the next round the later.
 *
 * Linearization
 *   A request: at the handler's CAS. It is taken at the observer's xchg.
 *
 * Progress
 *   The observer is wait-free. The handler is lock-free: a CAS fails because the observer
 *   has taken the slot, or another handler has filled it. A request that finds no slot is
 *   dropped; the asking process asks again.
 *
 * ABA and reclamation
 *   A slot has a value and no pointer.
 *
 * Pairs
 *   All seq_cst.
 *
 * Source
 *   Ours.
 */
#include "observe/recording.h"

#include <errno.h>

#include "lockfree/atomic.h"
#include "observe/trace.h"
#include "os/call/clock.h"
#include "record/memory.h"
#include "weft/trace.h"

#define MOST		8	/* readers at one time; others ask again */
#define MS		INT64_C(1000000)
#define AGAIN_NS	(10 * MS)

/* Each: the asking process above, its request + 1 below; 0: none. */
static _Atomic uint64_t asks[MOST];

/* The observer's: which processes read, and until when. */
static struct lease {
	uint32_t pid;		/* 0: none */
	int64_t until;
} leases[MOST];
static uint32_t ours;		/* head.starts, when the observer has switched it on; or 0 */

/* A request in the place of the same process's last one, or in an empty one. */
static void put(uint64_t request)
{
	for (int i = 0; i < MOST; i++) {
		uint64_t is = load_seq_cst(&asks[i]);

		/* A CAS that fails has found what another handler has just put there. */
		while (is == 0 || is >> 32 == request >> 32)
			if (cas_seq_cst(&asks[i], &is, request))
				return;
	}
}

int wefti_recording_note(const siginfo_t *info)
{
	const uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;

	if (info->si_code != SI_QUEUE || value >> 32 != WEFTI_RECORDING_MARK ||
	    info->si_pid <= 0)
		return 0;
	put((uint64_t)info->si_pid << 32 | ((uint32_t)value + 1));
	return 1;
}

static struct lease *lease_of(uint32_t pid)
{
	struct lease *free = NULL;

	for (int i = 0; i < MOST; i++) {
		if (leases[i].pid == pid)
			return &leases[i];
		if (!leases[i].pid)
			free = &leases[i];
	}
	return free;
}

/* Returns 0 if nothing is recorded: it could not be made, or the program changes it now. */
static int switch_on(uint64_t bytes)
{
	const int error = wefti_recorder_asked(bytes);

	if (error == 0)
		ours = load_relaxed(&wefti_record_head()->starts);
	return error == 0 || error == -EALREADY;
}

/*
 * Only a process's first request switches on: the program may have stopped since. One
 * that had no success does not count, and the process asks again.
 */
static void apply(uint64_t asked)
{
	const uint32_t pid = (uint32_t)(asked >> 32), request = (uint32_t)asked - 1;
	struct lease *lease = lease_of(pid);

	if (!lease)
		return;
	if ((request & 0xffff) == 0) {
		lease->pid = 0;
		return;
	}
	if (lease->pid != pid && !switch_on((uint64_t)(request >> 16) << 20))
		return;
	lease->pid = pid;
	lease->until = wefti_os_now_ns() + (request & 0xffff) * MS;
}

/* Returns when to try again: another thread is switching it on or off now. */
static int64_t switch_off(int64_t now)
{
	/* Else the program has switched it off, and on again. */
	if (load_relaxed(&wefti_record_head()->starts) == ours &&
	    weft_trace_stop() == -EBUSY)
		return now + AGAIN_NS;
	ours = 0;
	return INT64_MAX;
}

int64_t wefti_recording_answer(void)
{
	int64_t next = INT64_MAX, now;

	for (int i = 0; i < MOST; i++) {
		uint64_t asked = xchg_seq_cst(&asks[i], (uint64_t)0);

		if (asked)
			apply(asked);
	}
	now = wefti_os_now_ns();
	for (int i = 0; i < MOST; i++) {
		if (leases[i].until <= now)
			leases[i].pid = 0;
		if (leases[i].pid && leases[i].until < next)
			next = leases[i].until;
	}
	return next == INT64_MAX && ours ? switch_off(now) : next;
}

void wefti_recording_forget(void)
{
	for (int i = 0; i < MOST; i++) {
		store_seq_cst(&asks[i], (uint64_t)0);
		leases[i].pid = 0;
	}
	ours = 0;
}
