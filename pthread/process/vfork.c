/* SPDX-License-Identifier: MIT */
/*
 * pthread/process/vfork.c - around vfork(), which is in arch/
 *
 * Until the child becomes a program or ends, it has its parent's memory, TLS
 * and all, and only its own kernel thread. It must not enter the runtime: it
 * would find its VCPU taken, and go on with another thread's stack. So the
 * parent is inside the runtime meanwhile, with the mask that the child is to
 * have. For the child's calls it is then no green thread: they are libc's own.
 * And its VCPU stays with it, for as long as it takes to start a program.
 *
 * Rejected: fork() in its place. Programs hand results back to the parent by
 * its memory, and a large parent cannot always be copied.
 */
#include <errno.h>

#include "pthread/signal/lend.h"

pid_t wefti_vfork_end(long result);
void wefti_vfork_begin(void);

/* Of the thread, which the child of its child must not overwrite. */
static _Thread_local struct wefti_lent lent
	__attribute__((tls_model("initial-exec")));

void wefti_vfork_begin(void)
{
	if (wefti_pt_green() && getpid() == wefti_pt_pid())
		lent = wefti_lend();
}

/* In the parent, which may itself be such a child. */
pid_t wefti_vfork_end(long result)
{
	if (lent.self && getpid() == wefti_pt_pid()) {
		struct wefti_lent l = lent;

		lent.self = NULL;
		wefti_take_back(l);
	}
	if (result >= 0)
		return (pid_t)result;
	errno = (int)-result;
	return -1;
}
