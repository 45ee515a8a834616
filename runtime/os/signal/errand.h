/* SPDX-License-Identifier: MIT */
/*
 * os/signal/errand.h - a call on another kernel thread
 *
 * Some operations the kernel does only for the calling kernel thread, or allows only to
 * it: a tracer's requests, for example. A caller that needs such an operation on another
 * kernel thread sends that on an errand, by the preemption signal.
 */
#ifndef WEFT_OS_SIGNAL_ERRAND_H
#define WEFT_OS_SIGNAL_ERRAND_H

/* Runs in a signal handler, on top of anything: it makes only system calls. */
typedef long wefti_os_errand_fn(void *arg);

/*
 * Makes `tid`, which is not the caller, call fn(arg), and waits for it in the kernel.
 * That takes some microseconds, or longer if tid does not run. There is one errand at a
 * time: other senders wait for its end. Needs wefti_os_signal_preempt(). Called inside
 * the runtime, or with signals blocked. Returns 0: *result is fn's result; -ESRCH: tid
 * is not a kernel thread of this process; -ETIME: tid did not take it in `tries` times
 * 10 ms.
 */
int wefti_os_errand(int tid, wefti_os_errand_fn *fn, void *arg, unsigned tries,
		    long *result);

/*
 * run(): called by os/signal/preempt_signal.c in the handler, or by a kernel thread that
 * takes the signal without a handler. forget(): in the child of a fork: there is no
 * errand.
 */
void wefti_os_errand_run(void);
void wefti_os_errand_forget(void);

#endif
