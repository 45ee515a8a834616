/* SPDX-License-Identifier: MIT */
/*
 * os/signal/trap.h - system calls that a library makes by instructions of its own
 *
 * Nothing can be put in front of those. But the kernel can send a signal in place
 * of each that comes from a range of text (PR_SET_SYSCALL_USER_DISPATCH, which knows
 * such ranges since Linux 6.17, and on x86-64): of one range, for each kernel
 * thread that has asked for it, until that makes a process or becomes a program.
 * Calls from elsewhere cost no more than before; one that is trapped 3 us.
 */
#ifndef WEFT_OS_SIGNAL_TRAP_H
#define WEFT_OS_SIGNAL_TRAP_H

#include "os/signal/signal.h"

/* What the kernel would have done; returns what it would, a negative errno value too. */
typedef long wefti_os_trap_fn(long number, const long *six);

/*
 * For the calling kernel thread, if a library whose calls are worth it (libgomp) is
 * loaded. Several kernel threads may be in fn at once, and it may return on another
 * than it was called on. Returns 0; -ENOENT: there is none; -EBUSY: the program has
 * a handler for SIGSYS; or what the kernel says that cannot do it.
 */
int wefti_os_trap_begin(wefti_os_trap_fn *fn);
void wefti_os_trap_here(void);	/* for this kernel thread too, if it has begun */

/* For all of them at once: whether calls are trapped. They are from begin() on. */
void wefti_os_trap_set(int on);
int wefti_os_trap_is_set(void);

/*
 * No more, and SIGSYS is the program's again: it wants that for itself. Waits until each
 * kernel thread that has been sent the signal for a call is in the handler, by errands:
 * inside the runtime, or with signals blocked, unless there is no other kernel thread.
 * Needs wefti_os_signal_preempt(), too. Returns 1 if it had begun.
 */
int wefti_os_trap_end(void);

/* What the program had there, and is to be told. Returns 0 if none has begun. */
int wefti_os_trap_action(struct sigaction *old);

#endif
