/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/robust_end.c - what a thread that holds robust mutexes does at its end
 *
 * Writers
 *   key_plus_1  wefti_robust_watch_end
 */
#include "lockfree/atomic.h"
#include "pthread/core/self.h"
#include "pthread/shared/pi.h"
#include "pthread/shared/robust.h"

#define ROUNDS	4	/* PTHREAD_DESTRUCTOR_ITERATIONS */

static _Atomic uint32_t key_plus_1;

/* Our key's destructor. It waits for the last round: the program's may still unlock. */
static void key_ends(void *round)
{
	uintptr_t n = (uintptr_t)round;

	if (!wefti_pt.robust_held && !wefti_pt.pi_held)
		return;
	if (n < ROUNDS) {
		pthread_setspecific(load_relaxed(&key_plus_1) - 1,
				    (void *)(n + 1));
		return;
	}
	wefti_robust_thread_ends();
	wefti_pi_thread_ends();
}

/* The key is created when it is first needed, because a process has only a few keys. */
void wefti_robust_watch_end(void)
{
	uint32_t known = load_seq_cst(&key_plus_1), none = 0;
	pthread_key_t key;

	if (!known) {
		if (pthread_key_create(&key, key_ends) != 0)
			return;
		known = key + 1;
		if (!cas_seq_cst(&key_plus_1, &none, known)) {
			pthread_key_delete(key);
			known = none;
		}
	}
	pthread_setspecific(known - 1, (void *)1);
}
