/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/signal_list.h - the signals that wait, in order
 *
 * All calls are under the lock of pthread/signal/signal_queue.c. A set is a mask with one
 * bit for each signal.
 */
#ifndef WEFT_PTHREAD_SIGNAL_SIGNAL_LIST_H
#define WEFT_PTHREAD_SIGNAL_SIGNAL_LIST_H

#include "pthread/signal/signal.h"

/* Called once, before the runtime starts: finds out how many signals may wait. */
void wefti_signal_list_begin(void);

/*
 * Adds a signal for `to`, or (NULL) for the process. Returns 0, or EAGAIN: too many wait.
 * A signal that was received gets no EAGAIN if has_room() was true before.
 */
int wefti_signal_list_put(struct wefti_thread *to, const siginfo_t *info,
			  int is_received);
int wefti_signal_list_has_room(void);

/*
 * Takes the first signal of the set that waits for t, and returns its number, or 0. The
 * thread's own come before the process's, then the lowest number, then the oldest.
 */
int wefti_signal_list_get(const struct wefti_thread *t, uint64_t set,
			  siginfo_t *info);

/* The signals that wait for t, the process's included; those that wait for any thread. */
uint64_t wefti_signal_list_for(const struct wefti_thread *t);
uint64_t wefti_signal_list_for_process(void);

/* The signal is ignored from now on: drops those that wait. */
void wefti_signal_list_discard(int signal);

/* Drops the signals that were sent to t alone. */
void wefti_signal_list_end_thread(const struct wefti_thread *t);
void wefti_signal_list_forget(void);

#endif
