/* SPDX-License-Identifier: MIT */
/*
 * pthread/process/vfork.c - around vfork(), which is in arch/
 *
 * Until the child executes a program or ends, it uses its parent's memory, TLS included,
 * and has only its own kernel thread. The child must not enter the runtime: the VCPU
 * may be taken from its thread, and the child would go on with another thread's stack. So
 * the parent stays inside the runtime until vfork() returns there, with the mask that the
 * child has to have. The child's calls then find no green thread, and are libc's own. The
 * parent keeps its VCPU for as long as it takes to start a program.
 *
 * Rejected: fork() instead. Programs hand results back to the parent in its memory, and a
 * large parent cannot always be copied.
 */
#include <errno.h>

#include "pthread/kthread/schedule.h"
#include "pthread/signal/lend.h"

pid_t wefti_vfork_end(long result);
void wefti_vfork_begin(void);

/* This thread's own. A child of its child must not overwrite it. */
static _Thread_local struct wefti_lent lent
	__attribute__((tls_model("initial-exec")));
static _Thread_local struct wefti_schedule_lent lent_schedule
	__attribute__((tls_model("initial-exec")));

void wefti_vfork_begin(void)
{
	if (wefti_pt_green() && getpid() == wefti_pt_pid()) {
		lent = wefti_lend();
		wefti_schedule_lend(&lent_schedule);
	}
}

/* Called in the parent, which may itself be such a child. */
pid_t wefti_vfork_end(long result)
{
	if (lent.self && getpid() == wefti_pt_pid()) {
		struct wefti_lent l = lent;

		lent.self = NULL;
		wefti_schedule_take_back(&lent_schedule);
		wefti_take_back(l);
	}
	if (result >= 0)
		return (pid_t)result;
	errno = (int)-result;
	return -1;
}
