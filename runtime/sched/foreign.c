/* SPDX-License-Identifier: MIT */
/*
 * sched/foreign.c - a kernel thread that weft did not make calls the runtime
 *
 * It gets a thread struct of kind FOREIGN and keeps it until it ends. Such a thread has
 * no VCPU and parks on a futex.
 */
#include <stdlib.h>

#include "base/check.h"
#include "os/call/tasks.h"
#include "os/call/tid.h"
#include "os/libc/kthread_end.h"
#include "sched/sanitizer.h"
#include "sched/seat.h"
#include "sched/timer.h"
#include "thread/bare.h"

static void foreign_ends(void *arg)
{
	struct wefti_thread *t = arg;
	struct wefti_cold *cold = t->cold;

	if (cold->keys)
		cold->keys_end(t);
	wefti_thread_turn(t);
	wefti_thread_bare_free(t);
	free(cold);
	wefti_self_set(NULL);
}

COLD struct wefti_thread *wefti_foreign_self(void)
{
	struct wefti_cold *cold = calloc(1, sizeof(*cold));
	struct wefti_thread *t = cold ?
		wefti_thread_bare(WEFTI_KIND_FOREIGN, cold) : NULL;

	WEFT_CHECK(t, "no memory for a foreign thread's struct");
	wefti_sanitizer_keep(cold);
	wefti_timer_init(&cold->timer);
	/* For dumps: the name that its maker gave it. */
	wefti_os_task_line(wefti_os_gettid(), "comm", cold->name,
			   sizeof(cold->name));
	wefti_thread_begins(t, WEFTI_JOIN_DETACHED);
	wefti_self_set(t);
	WEFT_CHECK(wefti_os_at_kthread_end(foreign_ends, t) == 0,
		   "no pthread key is left");
	return t;
}
