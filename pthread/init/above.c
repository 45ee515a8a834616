/* SPDX-License-Identifier: MIT */
/* pthread/init/above.c - the functions of higher rooms that lower ones call */
#include "pthread/core/above.h"

#include <stddef.h>

#include "pthread/init/allocator.h"
#include "pthread/init/start.h"
#include "pthread/init/trapped.h"
#include "pthread/io/owner.h"
#include "pthread/kthread/cpu_clock.h"
#include "pthread/kthread/tied.h"
#include "pthread/process/ptrace.h"
#include "pthread/shared/deputy.h"
#include "pthread/shared/shared.h"
#include "pthread/shared/watch.h"

static wefti_above_fn *const receiver_woken[] = {
	wefti_death_signal_serve, wefti_watcher_make, wefti_trace_pass_on,
	wefti_deputies_make, NULL,
};

const struct wefti_above wefti_above = {
	.libc_is_found = wefti_allocator_bind,
	.start = wefti_start,
	.receiver_begins = wefti_guard_begin,
	.receiver_woken = receiver_woken,
	.owner_signalled = wefti_owner_signalled,
	.thread_interrupted = wefti_cpu_clock_count_self,
	.handlers_ran = wefti_trapped_again,
	.becomes_process = wefti_privileges_hand_on,
};
