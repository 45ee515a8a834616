/* SPDX-License-Identifier: MIT */
/* pthread/wait/lot_thread.h - the thread that waits: is woken, and recorded; for lot.c alone */
#ifndef WEFT_PTHREAD_WAIT_LOT_THREAD_H
#define WEFT_PTHREAD_WAIT_LOT_THREAD_H

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "os/call/futex.h"
#include "pthread/core/number.h"
#include "pthread/wait/lot.h"
#include "pthread/wait/lot_list.h"
#include "sched/park.h"
#include "sched/ready.h"
#include "sched/record.h"
#include "syscall.h"

/* The memory may be reused by now. Then another sleeper may wake for no reason. */
static inline void wake_sleeper(_Atomic uint32_t *state)
{
	(void)wefti_arch_syscall(SYS_futex, (long)state, FUTEX_WAKE_PRIVATE, 1,
				 0, 0, 0);
}

/* A kernel thread's wait. Returns how it ended, unless it was woken. */
static inline enum wefti_lot_end sleep_until_woken(struct entry *e,
						   const struct wefti_lot_wait *w)
{
	while (load_seq_cst(&e->state) == QUEUED) {
		const long error = wefti_os_futex_sleep(
			&e->state, FUTEX_WAIT_BITSET_PRIVATE, QUEUED, w->deadline);

		if (error == -ETIMEDOUT)
			return WEFTI_LOT_TIMEDOUT;
		if (error == -EINTR && w->urgent)
			return WEFTI_LOT_INTERRUPTED;
	}
	return WEFTI_LOT_WOKEN;
}

/* A foreign thread can do this without a struct of its own. */
static inline void unpark(struct wefti_thread *t, uint64_t seq)
{
	if (wefti_self())
		wefti_unpark(t, seq, WEFTI_CAUSE_WOKEN);
	else if (wefti_wait_resolve(t, seq, WEFTI_CAUSE_WOKEN) ==
		 WEFTI_WAS_PARKED)
		wefti_inject(t);
}

/*
 * The caller is about to park: the recorder is told which thread has the lock. heir: the
 * thread that it was handed to, and that may not have run since; NULL: none.
 */
static inline void record_owner(const struct wefti_thread *self, const struct wefti_lot_wait *w,
			 const struct wefti_thread *heir)
{
	int number;

	WEFTI_PROBE_THREAD(WEFTI_EVENT_OWNER, self, w->key);
	if (!wefti_records(self->vcpu))
		return;
	number = load_relaxed(w->owner);
	wefti_recorded_owner(self->vcpu, number ? wefti_pt_by_number(number) : heir, w->key);
}

#endif
