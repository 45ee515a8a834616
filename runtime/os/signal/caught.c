/* SPDX-License-Identifier: MIT */
/*
 * os/signal/caught.c - a program's handlers are called by the runtime, not by the kernel
 *
 * A reader may be a handler that interrupts anything, and the child of a fork goes on at
 * any moment of a change. So the table has no lock, and no reader waits for a writer. An
 * entry has two places for values, and a turn. The lowest bit of the turn says which place
 * is in force. A writer fills the other one, then advances the turn.
 *
 * Writers
 *   kept.turn  wefti_os_catch_note (of one signal one caller at a time)
 *   values.flags  wefti_os_catch_note
 *   values.handler  wefti_os_catch_note
 *   values.mask  wefti_os_catch_note
 *
 * Invariants
 *   I1  Values that are read between two reads of the same turn were written together: a
 *   writer changes a place only while the turn names the other.
 *
 * Progress: a writer is wait-free. A reader is lock-free: it tries again only if an entry
 * has changed meanwhile.
 *
 * Rejected: one place, and a turn that is odd while it changes. A child that was forked
 * during a change waited for ever.
 *
 * All accesses are seq_cst.
 */
#include "os/signal/caught.h"

#include <string.h>
#include <unistd.h>

#include "interrupted.h"
#include "lockfree/atomic.h"

#define SIGNALS		64

/* The program's flags that only the kernel can act on. */
#define KERNELS		(SA_NOCLDSTOP | SA_NOCLDWAIT)

#define FLAGS		(SA_SIGINFO | SA_RESTART | SA_ONSTACK)

struct kept {
	_Atomic uint32_t turn;
	struct values {
		_Atomic int flags;
		_Atomic uint64_t mask;
		_Atomic(sighandler_t) handler;
	} of[2];
};

static struct kept table[SIGNALS + 1] TABLE;

static int is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE ||
	       signal == SIGILL || signal == SIGTRAP || signal == SIGSYS;
}

static wefti_os_handler *entry_of(int signal)
{
	return is_fault(signal) ? wefti_os_fault_entry : wefti_os_caught_entry;
}

void wefti_os_catch_note(int signal, const struct sigaction *programs)
{
	struct kept *k = &table[signal];
	const uint32_t turn = load_seq_cst(&k->turn) + 1;
	struct values *to = &k->of[turn & 1];
	uint64_t mask;

	memcpy(&mask, &programs->sa_mask, sizeof(mask));
	store_seq_cst(&to->flags, programs->sa_flags);
	store_seq_cst(&to->mask, mask);
	store_seq_cst(&to->handler, programs->sa_handler);
	store_seq_cst(&k->turn, turn);
}

void wefti_os_caught(int signal, struct sigaction *programs)
{
	struct kept *k = &table[signal];
	uint64_t mask;
	uint32_t turn;

	*programs = (struct sigaction){ .sa_flags = 0 };
	do {
		const struct values *from;

		turn = load_seq_cst(&k->turn);
		from = &k->of[turn & 1];
		programs->sa_flags = load_seq_cst(&from->flags);
		mask = load_seq_cst(&from->mask);
		programs->sa_handler = load_seq_cst(&from->handler);
	} while (load_seq_cst(&k->turn) != turn);
	memcpy(&programs->sa_mask, &mask, sizeof(mask));
}

void wefti_os_catch_noted(int signal)
{
	struct sigaction programs;
	int flags = WEFTI_OS_SA_ALONE | WEFTI_OS_ON_STACK;

	wefti_os_caught(signal, &programs);
	flags |= programs.sa_flags & KERNELS;
	if (is_fault(signal))
		flags |= SA_NODEFER;
	wefti_os_signal_install(signal, entry_of(signal), flags, NULL);
}

/* The flags that libc adds are kept too. */
void wefti_os_catch(int signal, const struct sigaction *programs)
{
	struct sigaction all = *programs, now;

	wefti_os_catch_note(signal, programs);
	wefti_os_catch_noted(signal);
	if (!wefti_os_signal_action(signal, &now))
		return;
	all.sa_flags |= now.sa_flags & ~(FLAGS | SA_NODEFER | KERNELS);
	wefti_os_catch_note(signal, &all);
}

int wefti_os_caught_hides(int signal, struct sigaction *now)
{
	struct sigaction programs;

	if (signal < 1 || signal > SIGNALS ||
	    now->sa_sigaction != entry_of(signal))
		return 0;
	wefti_os_caught(signal, &programs);
	programs.sa_restorer = now->sa_restorer;
	*now = programs;
	return 1;
}

void wefti_os_caught_end(void)
{
	for (int s = 1; s <= SIGNALS; s++) {
		struct sigaction now;

		if (wefti_os_signal_action(s, &now) &&
		    wefti_os_caught_hides(s, &now))
			wefti_os_signal_restore(s, &now);
	}
}

int wefti_os_signal_is_of_call(const siginfo_t *info, const ucontext_t *uc)
{
	if (!wefti_arch_ucontext_is_behind_call(uc) || info->si_pid != getpid())
		return 0;
	if (info->si_signo == SIGABRT)
		return info->si_code == SI_TKILL;
	return info->si_code == SI_USER &&
	       (info->si_signo == SIGPIPE || info->si_signo == SIGXFSZ);
}
