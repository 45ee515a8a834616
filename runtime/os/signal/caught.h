/* SPDX-License-Identifier: MIT */
/*
 * os/signal/caught.h - a program's handlers are called by the runtime, not by the kernel
 *
 * The kernel has an entry of the runtime's for a signal that is caught; what the
 * program has set is kept beside it. The entry asks the layer above (the catcher)
 * what to do on this kernel thread.
 */
#ifndef WEFT_OS_SIGNAL_CAUGHT_H
#define WEFT_OS_SIGNAL_CAUGHT_H

#include "os/signal/signal.h"

struct wefti_os_catcher {
	/*
	 * A signal has come to this kernel thread, by a call or by another. The
	 * function runs with all signals blocked but faults, on a stack that no thread
	 * keeps. Returns 1: the preemption handler is to be called with the signal,
	 * where it would be called for its own. 0: the catcher has seen to it.
	 */
	int (*comes)(siginfo_t *info, ucontext_t *uc);

	/* The preemption handler could not be called here, or gives the signal back. */
	void (*later)(const siginfo_t *info);

	/*
	 * An instruction has caused it. Returns below which address the frame is to
	 * go, which has that many bytes; then handle() is called there, and returns
	 * from the signal. 0: the catcher has seen to it.
	 */
	uintptr_t (*place)(siginfo_t *info, ucontext_t *uc, size_t bytes);
	wefti_os_handler *handle;
};

/* Once, before the first catch. */
void wefti_os_catcher_set(const struct wefti_os_catcher *catcher);

/*
 * The kernel's action becomes the entry, and the program's is kept beside it.
 * Calls for one signal are in turn, those of the others may be meanwhile.
 */
void wefti_os_catch(int signal, const struct sigaction *programs);

/* The same in two steps, for what the program has set before. */
void wefti_os_catch_note(int signal, const struct sigaction *programs);
void wefti_os_catch_noted(int signal);

/* What is kept, from any handler. */
void wefti_os_caught(int signal, struct sigaction *programs);

/* The program's is the kernel's again, for all that are caught. */
void wefti_os_caught_end(void);

/* Of what the kernel has for it, the program's. Returns 1 if it is caught. */
int wefti_os_caught_hides(int signal, struct sigaction *now);

/* By the preemption handler, of a signal that it cannot give to the thread now. */
void wefti_os_caught_later(const siginfo_t *info);

/* Has a system call of the interrupted thread's raised it: SIGPIPE, SIGXFSZ, abort()? */
int wefti_os_signal_is_of_call(const siginfo_t *info, const ucontext_t *uc);

/* os/signal/preempt_signal.c: the entries. */
wefti_os_handler wefti_os_caught_entry, wefti_os_fault_entry;

#endif
