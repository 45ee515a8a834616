/* SPDX-License-Identifier: MIT */
/*
 * os/signal/caught.h - a program's handlers are called by the runtime, not by the kernel
 *
 * For a caught signal the kernel has an entry of the runtime as its handler. What the
 * program has set is kept beside it. The entry asks the layer above (the catcher) what to
 * do on this kernel thread.
 */
#ifndef WEFT_OS_SIGNAL_CAUGHT_H
#define WEFT_OS_SIGNAL_CAUGHT_H

#include "os/signal/signal.h"

struct wefti_os_catcher {
	/*
	 * A signal has come to this kernel thread, raised by a call or sent by another
	 * thread. The function runs with all signals but faults blocked, on a stack that
	 * no thread keeps. Returns 1: the preemption handler has to be called with the
	 * signal, where it would be called for its own. 0: the catcher has handled it.
	 */
	int (*comes)(siginfo_t *info, ucontext_t *uc);

	/* The preemption handler could not be called here, or gave the signal back. */
	void (*later)(const siginfo_t *info);

	/*
	 * An instruction has caused the signal. Returns the address below which the frame
	 * of that many bytes goes. Then handle() is called there, and returns from the
	 * signal. 0: the catcher has handled it.
	 */
	uintptr_t (*place)(siginfo_t *info, ucontext_t *uc, size_t bytes);
	wefti_os_handler *handle;
};

/* Called once, before the first catch. */
void wefti_os_catcher_set(const struct wefti_os_catcher *catcher);

/*
 * The entry becomes the kernel's action, and the program's action is kept beside it.
 * Calls for one signal must not overlap; calls for different signals may.
 */
void wefti_os_catch(int signal, const struct sigaction *programs);

/* The same in two steps, for what the program has set before. */
void wefti_os_catch_note(int signal, const struct sigaction *programs);
void wefti_os_catch_noted(int signal);

/* The action that is kept. May be called from any handler. */
void wefti_os_caught(int signal, struct sigaction *programs);

/* For all caught signals, the program's action becomes the kernel's again. */
void wefti_os_caught_end(void);

/* Replaces the kernel's action in *now by the program's. Returns 1 if it is caught. */
int wefti_os_caught_hides(int signal, struct sigaction *now);

/* By the preemption handler, for a signal that it cannot give to the thread now. */
void wefti_os_caught_later(const siginfo_t *info);

/* Did a call of the interrupted thread raise it (SIGPIPE, SIGXFSZ, abort())? */
int wefti_os_signal_is_of_call(const siginfo_t *info, const ucontext_t *uc);

/* os/signal/preempt_signal.c: the entries. */
wefti_os_handler wefti_os_caught_entry, wefti_os_fault_entry;

#endif
