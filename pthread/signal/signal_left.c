/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/signal_left.c - signals that all threads block, and signalfd()
 *
 * If no thread wants a signal, at most one of its number is received. From then on the
 * receiver leaves signals of that number in the kernel. A thread that lets the signal in,
 * or waits for it, takes all of them from the kernel itself, before its call returns. The
 * one that was received goes back to the kernel, where signalfd() finds it. But a
 * real-time signal waits here, because in the kernel it would come behind those that were
 * sent after it. If the program has a signalfd() for a signal, none is received as long
 * as no thread wants it.
 *
 * Writers
 *   left  leave_for_fd, wefti_signal_give_to_fd, wefti_signal_keep_in_kernel,
 *       wefti_signals_left_begin, wefti_signals_want;
 *       signal_queue.c: wefti_signals_fetch
 *   with_fd  signalfd
 */
#include <sys/signalfd.h>

#include "pthread/core/hold.h"
#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/signal_queue.h"

static _Atomic uint64_t left;		/* all threads block these: not received */
static _Atomic uint64_t with_fd;	/* there is, or was, a signalfd() for these */

uint64_t wefti_signals_in_kernel(void)
{
	return load_seq_cst(&left);
}

void wefti_signals_left_begin(uint64_t mask)
{
	store_seq_cst(&left, load_seq_cst(&with_fd) & mask);
}

void wefti_signals_want(uint64_t signals)
{
	signals &= load_seq_cst(&left);
	if (likely(!signals))
		return;
	wefti_signals_fetch(&left, signals);
	wefti_signals_wake_receiver();
}

/* A thread that let the signal in since the last look may not have seen the bit. */
static void offer_again(uint64_t bit)
{
	if (!wefti_signal_choose(bit))
		return;
	wefti_signals_want(bit);
	wefti_signals_pass_on(bit);
}

void wefti_signal_keep_in_kernel(siginfo_t *info)
{
	const uint64_t bit = WEFTI_SIGNAL_BIT(info->si_signo);

	if (info->si_signo >= SIGRTMIN && !wefti_signal_has_fd(info->si_signo))
		wefti_signal_received(info);	/* before any that comes later */
	else
		wefti_signal_give_back(info);
	fetch_or_seq_cst(&left, bit);
	offer_again(bit);
}

int wefti_signal_has_fd(int signal)
{
	return (load_seq_cst(&with_fd) & WEFTI_SIGNAL_BIT(signal)) != 0;
}

int wefti_signal_give_to_fd(siginfo_t *info)
{
	const uint64_t bit = WEFTI_SIGNAL_BIT(info->si_signo);
	struct wefti_hold h;

	if (!wefti_signal_has_fd(info->si_signo) || wefti_signal_choose(bit))
		return 0;
	fetch_or_seq_cst(&left, bit);
	h = wefti_hold_begin();
	wefti_signal_give_back(info);
	wefti_hold_end(h);
	offer_again(bit);
	return 1;
}

/* From here on the receiver leaves those of the signals that no thread wants now. */
static void leave_for_fd(uint64_t signals)
{
	for (; signals; signals &= signals - 1) {
		const uint64_t bit = signals & -signals;

		if (wefti_signal_choose(bit))
			continue;
		fetch_or_seq_cst(&left, bit);
		offer_again(bit);
	}
	wefti_signals_wake_receiver();
}

EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
	int result = REAL(signalfd)(fd, set, flags);
	uint64_t signals;

	if (result < 0)
		return result;
	signals = wefti_signal_mask(set) & WEFTI_SIGNALS_RECEIVABLE &
		  ~WEFTI_SIGNAL_BIT(SIGURG);
	fetch_or_seq_cst(&with_fd, signals);
	if (wefti_pt_is_started())
		leave_for_fd(signals);
	return result;
}
