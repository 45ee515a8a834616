/* SPDX-License-Identifier: MIT */
/*
 * pthread/init/atfork.c - in the child of a fork the runtime is turned off first
 *
 * A program's own fork handlers may make threads in the child. Handlers run in the order
 * in which they were registered. So the handlers of this library and of the runtime are
 * registered before the program's first one, however early that is: pthread_atfork() is
 * linked into each object that calls it, and calls the function here.
 *
 * Writers
 *   done  take_part
 */
#include "pthread/core/real.h"

#include "init/fork.h"
#include "lockfree/atomic.h"
#include "pthread/init/start.h"
#include "pthread/kthread/schedule.h"
#include "pthread/signal/signal.h"

/* For all objects, until the process ends. */
static void take_part(void)
{
	static _Atomic uint32_t done;

	if (load_relaxed(&done) || xchg_relaxed(&done, 1))
		return;
	(void)!REAL(__register_atfork)(wefti_schedule_before_fork, NULL,
				       wefti_pt_child_of_fork, NULL);
	(void)!wefti_fork_watch();
	(void)!REAL(__register_atfork)(NULL, NULL, wefti_signals_child_takes, NULL);
}

EXPORT int __register_atfork(void (*prepare)(void), void (*parent)(void),
			     void (*child)(void), void *object)
{
	take_part();
	return REAL(__register_atfork)(prepare, parent, child, object);
}

__attribute__((constructor)) static void load(void)
{
	take_part();
}
