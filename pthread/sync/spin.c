/* SPDX-License-Identifier: MIT */
/*
 * pthread/sync/spin.c - spin locks
 *
 * These are libc's, except that a green thread that finds the lock taken yields: the
 * owner may be waiting for this very VCPU.
 */
#include <errno.h>

#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/signal/signal.h"
#include "weft/thread.h"

#define TRIES	64	/* before it yields */

EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
	int error;

	for (unsigned i = 1;; i++) {
		error = pthread_spin_trylock(lock);
		if (error != EBUSY)
			return error;
		if (i % TRIES == 0) {
			if (wefti_pt_green())
				weft_yield();
			else
				REAL(sched_yield)();
			wefti_signals_run_any();
		} else {
			wefti_arch_pause();
		}
	}
}
