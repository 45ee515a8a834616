/* SPDX-License-Identifier: MIT */
/*
 * os/signal/trap.h - system calls that a library makes by its own instructions
 *
 * No function can be interposed for such calls. But the kernel can send a signal instead
 * of each call that comes from a range of code (PR_SET_SYSCALL_USER_DISPATCH, which
 * supports such ranges since Linux 6.17, and on x86-64). It does so for one range, and
 * for each kernel thread that has asked for it, until that makes a process or executes a
 * program. Calls from elsewhere cost no more than before. A trapped call costs 3 us.
 */
#ifndef WEFT_OS_SIGNAL_TRAP_H
#define WEFT_OS_SIGNAL_TRAP_H

#include "os/signal/signal.h"

/*
 * Does what the kernel would have done, and returns its result or negative errno value.
 */
typedef long wefti_os_trap_fn(long number, const long *six);

/*
 * Begins for the calling kernel thread, if a library is loaded that gains by it
 * (libgomp). Several kernel threads may be in fn at once, and fn may return on another
 * kernel thread than it was called on. Returns 0; -ENOENT: there is no such library;
 * -EBUSY: the program has a handler for SIGSYS; or the error of a kernel that cannot
 * trap.
 */
int wefti_os_trap_begin(wefti_os_trap_fn *fn);
void wefti_os_trap_here(void);	/* for this kernel thread too, if begin() succeeded */

/* Turns trapping on or off for all these kernel threads. It is on from begin() on. */
void wefti_os_trap_set(int on);
int wefti_os_trap_is_set(void);

/*
 * Ends trapping. SIGSYS is the program's again, because it wants that signal for itself.
 * Waits, by errands, until each kernel thread that has been sent the signal for a call is
 * in the handler. Called inside the runtime, or with signals blocked, unless there is no
 * other kernel thread. Needs wefti_os_signal_preempt(), too. Returns 1 if it had begun.
 */
int wefti_os_trap_end(void);

/*
 * The program's action for SIGSYS, to be reported. Returns 0 if trapping has not begun.
 */
int wefti_os_trap_action(struct sigaction *old);

#endif
