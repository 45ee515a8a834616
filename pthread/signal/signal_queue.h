/* SPDX-License-Identifier: MIT */
/* pthread/signal/signal_queue.h - signals wait for a thread, and whom they wait for */
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
 * The caller takes a signal, until it blocks what its handler does: were another
 * handled between, on top of that, it would come first. taken() returns 1 if the
 * caller is to look for another.
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

/* Who should get a signal of the process; NULL: all block it. */
struct wefti_thread *wefti_signal_choose(uint64_t bit);

/* The same; what a clock of the CPUs sends is for a thread that runs. */
struct wefti_thread *wefti_signal_choose_for(const siginfo_t *info);

/* The receiver's: one for the process that the kernel has given to it. */
void wefti_signal_received(const siginfo_t *info);

/* One that has come to the caller's kernel thread, for the caller. */
void wefti_signal_received_here(const siginfo_t *info);

/* Is there room for what is queued? If not, the receiver is kicked when there is. */
int wefti_signal_may_receive(void);

/*
 * The first in the set that waits for the caller (pthread/signal/signal_list.h) leaves
 * the queue; returns its number, or 0. waits: the caller waits for the set if there is
 * none.
 */
int wefti_signal_get(uint64_t set, int waits, siginfo_t *info);

/* pthread/signal/signal_act.c: does to the process what a signal does by its action. */
void wefti_signal_act(siginfo_t *info);

/* One that kills or stops the process: is not blocked, or has no handler. */
void wefti_signal_by_kernel(int signal);

/* It is ignored from now on. */
void wefti_signals_discard(int signal);

/* These wait for the process: who may have them is told. */
void wefti_signals_pass_on(uint64_t numbers);

/* What is left in the kernel of these comes into the queue, and is left no more. */
void wefti_signals_fetch(_Atomic uint64_t *left, uint64_t signals);

/*
 * pthread/signal/signal_left.c. The caller lets these in, or waits for them: what was
 * left of them in the kernel waits for it in the queue, and they are received again.
 */
void wefti_signals_want(uint64_t signals);
uint64_t wefti_signals_left(void);		/* not to be received */
void wefti_signals_left_begin(uint64_t mask);	/* main's, which alone is there */

/* The receiver's: one that all block. */
void wefti_signal_leave(siginfo_t *info);

/* The program may look for it by signalfd(). */
int wefti_signal_has_fd(int signal);

/*
 * One to the caller alone. Returns 1 if that may look for it by signalfd(), and all
 * block it: it waits in the kernel, as one of the process.
 */
int wefti_signal_give_to_fd(siginfo_t *info);

void wefti_signal_queue_forget(void);

#endif
