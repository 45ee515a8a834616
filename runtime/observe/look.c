/* SPDX-License-Identifier: MIT */
/*
 * observe/look.c - copies the registers and the stack of a thread
 *
 * Structure
 *   word   number:30 | phase:2, a futex
 *   The dump sends a signal to the kernel thread that runs a thread. The handler copies
 *   what the signal interrupted into the single struct, and the thread goes on.
 *
 * States
 *   FREE --dump asks--> ASKED --handler of the kernel thread asked--> COPYING
 *   COPYING --handler--> DONE --dump--> FREE
 *   ASKED --dump, time is over--> FREE
 *
 * Writers
 *   asked  wefti_look_copy_kthread
 *   crashed  wefti_look_crashed
 *   crashed_at  wefti_look_crashed
 *   word  answer, wefti_look_copy_kthread, wefti_look_forget
 *
 * Invariants
 *   I1  The struct is written only by the dump, or by the one handler that changed
 *       ASKED to COPYING.
 *   I2  A dump that gave up on a handler in COPYING leaves the struct to the handler: no
 *       other look is made until the phase is DONE.
 *
 * Linearization
 *   Each edge at its CAS or store.
 *
 * Progress
 *   The handler is wait-free. The dump waits for at most 50 ms in each phase.
 *
 * ABA and reclamation
 *   The number makes a late handler of an older request fail.
 *
 * Pairs
 *   All seq_cst.
 *
 * Source
 *   Ours.
 */
#include "observe/look.h"

#include <errno.h>

#include "cpu.h"
#include "interrupted.h"
#include "lockfree/atomic.h"
#include "os/call/clock.h"
#include "os/call/copy.h"
#include "os/call/futex.h"
#include "os/call/tid.h"
#include "os/signal/signal.h"

#define FREE	0u
#define ASKED	1u
#define COPYING	2u
#define DONE	3u
#define PHASE	3u

#define PATIENCE_NS	50000000
#define AGAIN_NS	10000000	/* the signal may have been lost */

struct wefti_look wefti_look TABLE;

static _Atomic uint32_t word;
static _Atomic int asked;	/* the asked kernel thread; set before ASKED */
static _Atomic(const struct wefti_thread *) crashed;	/* NULL: none has */
static _Atomic(const void *) crashed_at;	/* its registers; set before crashed */

static void copy_stack(uintptr_t from, size_t most)
{
	struct wefti_stack_copy *s = &wefti_look.stack;

	if (most > sizeof(s->text))
		most = sizeof(s->text);
	s->from = from;
	s->bytes = wefti_os_copy(s->text, (void *)from, most);
}

/* Runs in the kernel thread that was asked. */
static void answer(int signal, siginfo_t *info, void *context)
{
	uint32_t w = load_seq_cst(&word);
	const ucontext_t *uc = context;

	(void)signal;
	(void)info;
	if ((w & PHASE) != ASKED || load_seq_cst(&asked) != wefti_os_gettid() ||
	    !cas_seq_cst(&word, &w, w - ASKED + COPYING))
		return;
	wefti_arch_copy_registers(&wefti_look.context, uc);
	wefti_look.self = wefti_self();
	copy_stack(wefti_arch_ucontext_sp(uc), SIZE_MAX);
	store_seq_cst(&word, w - ASKED + DONE);
	wefti_os_futex_wake(&word, 1);
}

void wefti_look_init(void)
{
	wefti_os_look_handler(answer);
}

void wefti_look_forget(void)
{
	store_seq_cst(&word, FREE);
}

/* Waits while word is w; signals tid again meanwhile, unless it is 0. */
static void wait_while(uint32_t w, int tid)
{
	int64_t now = wefti_os_now_ns(), until = now + PATIENCE_NS;

	while (load_seq_cst(&word) == w && now < until) {
		if (tid && wefti_os_look_send(tid) == -ESRCH)
			return;
		wefti_os_futex_wait(&word, w, now + AGAIN_NS < until ?
					      now + AGAIN_NS : until);
		now = wefti_os_now_ns();
	}
}

int wefti_look_copy_kthread(int tid)
{
	uint32_t w = load_seq_cst(&word);

	wefti_look.answered = 0;
	if ((w & PHASE) == COPYING) {
		wait_while(w, 0);
		w = load_seq_cst(&word);
		if ((w & PHASE) == COPYING)
			return -ETIMEDOUT;	/* I2 */
	}
	store_seq_cst(&asked, tid);
	w = ((w | PHASE) + 1) | ASKED;
	store_seq_cst(&word, w);
	wait_while(w, tid);
	if (cas_seq_cst(&word, &w, w - ASKED + FREE))
		return -ETIMEDOUT;
	wait_while(w - (w & PHASE) + COPYING, 0);
	if ((load_seq_cst(&word) & PHASE) != DONE)
		return -ETIMEDOUT;		/* I2 */
	wefti_look.answered = 1;
	return 0;
}

void wefti_look_copy_context(const struct wefti_context *ctx, uintptr_t top)
{
	uintptr_t sp = (uintptr_t)ctx->sp;

	wefti_look.stack.bytes = 0;
	wefti_look.answered = 0;
	if ((load_seq_cst(&word) & PHASE) == COPYING)
		return;				/* I2 */
	copy_stack(sp, top > sp ? top - sp : 0);
	if (wefti_look.stack.bytes < FRAME_BYTES)
		return;

	/* The frame is read in the copy; the addresses in it are the original ones. */
	struct wefti_context copied = { wefti_look.stack.text };
	uintptr_t shift = (uintptr_t)wefti_look.stack.text - sp;

	wefti_arch_fill_ucontext(&copied, &wefti_look.context);
	wefti_arch_move_sp(&wefti_look.context, 0 - shift);
	wefti_look.answered = 1;
}

void wefti_look_crashed(const struct wefti_thread *t, const void *context)
{
	store_seq_cst(&crashed_at, context);
	store_seq_cst(&crashed, t);
}

int wefti_look_copy_crashed(const struct wefti_thread *t)
{
	const ucontext_t *uc = load_seq_cst(&crashed_at);

	if (!t || load_seq_cst(&crashed) != t || (load_seq_cst(&word) & PHASE) == COPYING)
		return 0;
	wefti_arch_copy_registers(&wefti_look.context, uc);
	wefti_look.self = (struct wefti_thread *)(uintptr_t)t;
	copy_stack(wefti_arch_ucontext_sp(uc), SIZE_MAX);
	wefti_look.answered = 1;
	return 1;
}
