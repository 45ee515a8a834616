/* SPDX-License-Identifier: MIT */
/* pthread/shared.c - who we are to other processes, and waiting for them */
#include "pthread/shared.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "os/futex.h"
#include "os/kthread.h"
#include "pthread/region.h"
#include "pthread/robust.h"
#include "pthread/signal.h"
#include "pthread/start.h"
#include "pthread/time.h"
#include "syscall.h"

static _Atomic int guard;

void wefti_guard_begin(void)
{
	wefti_robust_guard();
	store_seq_cst(&guard, wefti_os_gettid());
}

void wefti_guard_forget(void)
{
	store_seq_cst(&guard, 0);
	wefti_robust_forget();
}

int wefti_guard(void)
{
	return wefti_pt_is_started() ? load_relaxed(&guard) : 0;
}

int wefti_shared_wait(_Atomic uint32_t *word, uint32_t value, int64_t deadline)
{
	struct timespec until, *end = NULL;
	long error;

	if (deadline != INT64_MAX) {
		if (deadline < 0)
			deadline = 0;
		until.tv_sec = deadline / WEFTI_NS;
		until.tv_nsec = deadline % WEFTI_NS;
		end = &until;
	}
	wefti_region_begin();
	error = wefti_arch_syscall(SYS_futex, (long)word, FUTEX_WAIT_BITSET,
				   value, (long)end, 0,
				   (long)FUTEX_BITSET_MATCH_ANY);
	wefti_region_end();
	wefti_signals_look();
	return error == -ETIMEDOUT ? ETIMEDOUT : 0;
}

void wefti_shared_wake(_Atomic uint32_t *word)
{
	wefti_os_futex_wake_shared(word, 1);
}
