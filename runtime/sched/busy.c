/* SPDX-License-Identifier: MIT */
/*
 * sched/busy.c - may an interrupted thread hold a lock of malloc's or the loader's?
 *
 * Such a thread must not wait, and must not run a handler of the program's, which may wait.
 * The exceptions are faults, abort(), and signals that a call raises for its caller. Their
 * handlers cannot come later. The thread is not preempted in them (over_malloc).
 *
 * How a thread inside malloc is recognized:
 * - malloc's text calls only libc. A thread whose program counter is outside libc is not
 *   in malloc.
 * - A thread inside libc is in malloc itself, or in a function that malloc called with its
 *   lock held: madvise(), sbrk() and the like. Their frames are small, so a return address
 *   of malloc's is in the link register or near the end of the stack.
 * - Such an address may be left over from an earlier call; then the thread is asked again.
 * - The other registers are not looked at: on AArch64 they keep the address of the last
 *   function of another library that was called.
 * - A thread that waits in a system call that is not malloc's would be found with the same
 *   stale words for ever. So its stack is not looked at.
 * - A thread that forks holds all of malloc's locks, wherever it is. So may a thread in a
 *   handler that interrupted malloc, for a fault or an abort() there.
 *
 * A thread that is still on its way back from a signal is judged at the place where the
 * signal came; its stack there is behind the signal's frame.
 */
#include "sched/busy.h"

#include "interrupted.h"
#include "os/call/copy.h"
#include "os/object/text.h"
#include "os/tls/loader.h"
#include "signal_frame.h"

#define FRAMES_BYTES	((size_t)256)	/* of functions that malloc has called */
#define FRAMES_MOST	4		/* of nested signals */

static const ucontext_t *goes_on_at(const ucontext_t *uc)
{
	for (int i = 0; i < FRAMES_MOST; i++) {
		const ucontext_t *next = wefti_arch_frame_returns(uc);

		if (!next)
			break;
		uc = next;
	}
	return uc;
}

/*
 * Reads memory that is not the function's own, which sanitizers would report. If the
 * kernel thread runs on a stack with unknown bounds, the words are copied by a system
 * call, as the memory may end.
 */
static NOINLINE __attribute__((no_sanitize("thread", "address"))) int
has_mallocs_word(const struct wefti_thread *self, const ucontext_t *uc)
{
	const struct wefti_preempt_room own = wefti_own_stack(self);
	uintptr_t sp = wefti_arch_ucontext_sp(uc) & ~(sizeof(sp) - 1);
	uintptr_t end = own.low + own.bytes, copy[FRAMES_BYTES / sizeof(sp)];
	const uintptr_t *word = (const uintptr_t *)sp;
	size_t bytes = end - sp < FRAMES_BYTES ? end - sp : FRAMES_BYTES;

	if (!self->cold->stack_low || !wefti_is_in_room(&own, sp)) {
		bytes = wefti_os_copy(copy, word, FRAMES_BYTES);
		word = copy;
	}
	for (size_t i = 0; i < bytes / sizeof(*word); i++)
		if (wefti_os_text_is_mallocs(word[i]))
			return 1;
	return 0;
}

static int is_marked(const struct wefti_thread *self)
{
	return self->cold->forks || self->cold->over_malloc;
}

static int looks_like_malloc(const struct wefti_thread *self, const ucontext_t *uc)
{
	if (wefti_os_text_is_mallocs(wefti_arch_ucontext_pc(uc)))
		return 1;
	if (wefti_os_text_waits(uc))
		return 0;
	return wefti_os_text_is_mallocs(wefti_arch_ucontext_link(uc)) ||
	       has_mallocs_word(self, uc);
}

int wefti_may_be_in_malloc(const struct wefti_thread *self, const ucontext_t *uc)
{
	return !self->cold->stack_low || is_marked(self) ||
	       looks_like_malloc(self, goes_on_at(uc));
}

int wefti_is_busy(const struct wefti_thread *self, const ucontext_t *uc)
{
	uc = goes_on_at(uc);
	if (is_marked(self) || wefti_os_loader_is_held(self->tp))
		return 1;
	return self->cold->block_depth == 0 &&
	       wefti_os_text_is_locked(wefti_arch_ucontext_pc(uc)) &&
	       looks_like_malloc(self, uc);
}
