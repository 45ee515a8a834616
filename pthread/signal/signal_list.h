/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/signal_list.h - the signals that wait, in order
 *
 * All under the lock of pthread/signal/signal_queue.c. Sets are masks, one bit a signal.
 */
#ifndef WEFT_PTHREAD_SIGNAL_SIGNAL_LIST_H
#define WEFT_PTHREAD_SIGNAL_SIGNAL_LIST_H

#include "pthread/signal/signal.h"

/* Once, before the runtime starts: how many may wait. */
void wefti_signal_list_begin(void);

/*
 * For `to`, or (NULL) the process. Returns 0, or EAGAIN: too many wait. That is not
 * said of one that was received, if there was room() before.
 */
int wefti_signal_list_put(struct wefti_thread *to, const siginfo_t *info,
			  int is_received);
int wefti_signal_list_has_room(void);

/*
 * Of those of the set that wait for t: its own before the process's, of them the
 * lowest number, of that the oldest. Returns its number, or 0.
 */
int wefti_signal_list_get(const struct wefti_thread *t, uint64_t set,
			  siginfo_t *info);

/* Which wait for t, and which of these for any thread. */
uint64_t wefti_signal_list_for(const struct wefti_thread *t);
uint64_t wefti_signal_list_for_process(void);

/* The number is ignored from now on. */
void wefti_signal_list_discard(int signal);

/* What was sent to it alone is lost. */
void wefti_signal_list_end_thread(const struct wefti_thread *t);
void wefti_signal_list_forget(void);

#endif
