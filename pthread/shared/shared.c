/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/shared.c - our identity for other processes, and waiting for them
 *
 * Writers
 *   guard  wefti_guard_begin, wefti_guard_forget
 */
#include "pthread/shared/shared.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "os/call/futex.h"
#include "os/call/tid.h"
#include "pthread/core/started.h"
#include "pthread/core/time.h"
#include "pthread/shared/pi.h"
#include "pthread/shared/robust.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/lot.h"
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
	wefti_pi_forget();
}

int wefti_guard(void)
{
	return wefti_pt_is_started() ? load_relaxed(&guard) : 0;
}

int wefti_shared_wait_kernel(_Atomic uint32_t *word, uint32_t value,
			     int64_t deadline)
{
	const long error = wefti_os_futex_sleep(word, FUTEX_WAIT_BITSET, value,
						deadline);

	return error == -ETIMEDOUT ? ETIMEDOUT : 0;
}

/* Wakes in the kernel. By now the address may hold something else. */
void wefti_shared_wake_kernel(const _Atomic uint32_t *word, int most)
{
	(void)wefti_arch_syscall(SYS_futex, (long)word, FUTEX_WAKE, most, 0, 0,
				 0);
}

static int wait_in_region(_Atomic uint32_t *word, uint32_t value,
			  int64_t deadline)
{
	int error;

	wefti_region_begin();
	error = wefti_shared_wait_kernel(word, value, deadline);
	wefti_region_end();
	wefti_signals_run_any();
	return error;
}

struct wait {
	_Atomic uint32_t *word;
	uint32_t value;
	struct wefti_watch *watch;
};

static int is_as_seen(void *arg)
{
	const struct wait *w = arg;

	return load_seq_cst(w->word) == w->value;
}

static void queued(void *arg)
{
	const struct wait *w = arg;

	wefti_watch_queued(w->watch);
}

int wefti_shared_wait(struct wefti_watch **watch, enum wefti_watch_kind kind,
		      _Atomic uint32_t *word, uint32_t value, int64_t deadline)
{
	struct wait wait = { word, value, NULL };
	struct wefti_lot_wait w = {
		.key = word, .check = is_as_seen, .queued = queued,
		.arg = &wait, .deadline = deadline,
		.why = kind == WEFTI_WATCH_LOCK ? WEFTI_WHY_MUTEX : WEFTI_WHY_FUTEX,
		.urgent = kind == WEFTI_WATCH_LOCK ? wefti_cancel_urgent() :
						     WEFTI_URGENT_SIGNAL,
	};
	enum wefti_lot_end end;

	if (*watch && !wefti_watcher_runs()) {
		wefti_watch_end(*watch);
		*watch = NULL;
	}
	if (!*watch)
		return wait_in_region(word, value, deadline);
	wait.watch = *watch;
	w.count = wefti_watch_count(*watch);
	end = wefti_lot_wait(&w);
	if (end == WEFTI_LOT_TIMEDOUT)
		return ETIMEDOUT;
	/* Before the caller takes the lock: a handler may jump out. */
	if (wefti_pt_is_urgent(w.urgent)) {
		if (end == WEFTI_LOT_WOKEN)
			wefti_shared_wake(word);
		wefti_watch_end(*watch);
		if (kind == WEFTI_WATCH_LOCK)
			wefti_cancel_point_async();
		wefti_signals_run();
		*watch = wefti_watch_begin(word, kind);
	}
	return 0;
}

void wefti_shared_wake(const _Atomic uint32_t *word)
{
	if (!wefti_watch_wake(word))
		wefti_shared_wake_kernel(word, INT32_MAX);
}
