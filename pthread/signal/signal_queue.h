/* SPDX-License-Identifier: MIT */
/* pthread/signal/signal_queue.h - waiting signals, and which thread is to get them */
#ifndef WEFT_PTHREAD_SIGNAL_SIGNAL_QUEUE_H
#define WEFT_PTHREAD_SIGNAL_SIGNAL_QUEUE_H

#include "pthread/signal/signal.h"

enum wefti_liking {
	WEFTI_IS_GONE,
	WEFTI_BLOCKS,
	WEFTI_LETS_IN,
	WEFTI_WAITS,		/* in sigwait() */
};

/*
 * The caller is taking a signal, until it has blocked what the handler blocks. No other
 * signal may be handled on top of it in between, because that one would come first.
 * taken() returns 1 if the caller has to look for another signal.
 */
static inline void wefti_signal_taking(void)
{
	store_relaxed(&wefti_pt.taking, 1);
	compiler_barrier();		/* with the hook, in this thread */
}

static inline int wefti_signal_taken(void)
{
	compiler_barrier();
	store_relaxed(&wefti_pt.taking, 0);
	compiler_barrier();
	if (likely(!load_relaxed(&wefti_pt.told)))
		return 0;
	store_relaxed(&wefti_pt.told, 0);
	return 1;
}

enum wefti_liking wefti_signal_likes(const struct wefti_thread *t,
				     uint64_t bit);

/* The thread that should get a signal of the process; NULL: all threads block it. */
struct wefti_thread *wefti_signal_choose(uint64_t bit);

/* The same, but a signal of a CPU-time clock is for a running thread. */
struct wefti_thread *wefti_signal_choose_for(const siginfo_t *info);

/* By the receiver: queues a signal for the process that the kernel has delivered. */
void wefti_signal_received(const siginfo_t *info);

/* Queues a signal that has come to the caller's kernel thread, for the caller. */
void wefti_signal_received_here(const siginfo_t *info);

/* Is there room for queued signals? If not, the receiver is woken when there is. */
int wefti_signal_may_receive(void);

/*
 * Takes from the queue the first signal of the set that waits for the caller
 * (pthread/signal/signal_list.h). Returns its number, or 0. waits: if there is none, the
 * caller is marked as waiting for the set.
 */
int wefti_signal_get(uint64_t set, int waits, siginfo_t *info);

/* pthread/signal/signal_act.c: runs the handler, or does the signal's default action. */
void wefti_signal_act(siginfo_t *info);

/* For any kernel thread: the same if the signal has no handler; else returns 0. */
int wefti_signal_act_if_default(int signal);

/* The kernel acts on a signal that kills or stops the process, and has no handler. */
void wefti_signal_by_kernel(int signal);

/* The signal is ignored from now on: drops those that wait. */
void wefti_signals_discard(int signal);

/* These wait for the process: tells, for each, a thread that may have it. */
void wefti_signals_pass_on(uint64_t numbers);

/* Moves signals of these numbers from the kernel to the queue, and clears their bits. */
void wefti_signals_fetch(_Atomic uint64_t *left, uint64_t signals);

/*
 * pthread/signal/signal_left.c. The caller lets these in, or waits for them: those that
 * were left in the kernel are moved to the queue, and they are received again.
 */
void wefti_signals_want(uint64_t signals);
uint64_t wefti_signals_in_kernel(void);		/* not to be received */
void wefti_signals_left_begin(uint64_t mask);	/* of main, the only thread then */

/* By the receiver: leaves a signal that all threads block. */
void wefti_signal_keep_in_kernel(siginfo_t *info);

/* May the program read the signal from a signalfd()? */
int wefti_signal_has_fd(int signal);

/*
 * A signal to the caller alone. Returns 1 if the program may read it from a signalfd(),
 * and all threads block it: then it waits in the kernel, as a signal of the process.
 */
int wefti_signal_give_to_fd(siginfo_t *info);

void wefti_signal_queue_forget(void);

#endif
