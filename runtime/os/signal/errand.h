/* SPDX-License-Identifier: MIT */
/*
 * os/signal/errand.h - a call on another kernel thread
 *
 * Some things the kernel does for one kernel thread alone, or lets only that do: a
 * tracer's requests, say. Who wants one of another sends it on an errand, by the
 * preemption signal.
 */
#ifndef WEFT_OS_SIGNAL_ERRAND_H
#define WEFT_OS_SIGNAL_ERRAND_H

/* In a signal handler, on top of anything: system calls, and nothing of weft's. */
typedef long wefti_os_errand_fn(void *arg);

/*
 * Has `tid`, which is not the caller, call fn(arg), and waits for it in the kernel:
 * some microseconds, or where tid does not run as long as it does not. One errand at a
 * time: others wait for its end. Needs wefti_os_signal_preempt(); inside the runtime,
 * or with signals blocked. Returns 0: *result is what fn has returned; -ESRCH: tid is
 * none of this process's; -ETIME: tid did not come for it in `tries` times 10 ms.
 */
int wefti_os_errand(int tid, wefti_os_errand_fn *fn, void *arg, unsigned tries,
		    long *result);

/*
 * By os/signal/signal.c, in the handler, or by who takes that signal without one; and in
 * the child of a fork, which has none.
 */
void wefti_os_errand_look(void);
void wefti_os_errand_forget(void);

#endif
