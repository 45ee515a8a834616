/* SPDX-License-Identifier: MIT */
/*
 * sched/stacks.c - the stacks of threads that have waited or spawn, for the recorder
 *
 * A stack is copied as it is, and `weft profile` finds the calls in it. The tables that
 * tell them are in the program's files, so nothing is unwound in the program: no lock of
 * the loader's or of malloc's is taken, and a damaged stack is only copied. Frame
 * pointers would be cheaper, but neither libc nor most programs keep them.
 *
 * A thread may wait on a stack that is not its own: a coroutine's, or the alternate stack
 * of a signal. Where that stack ends is not known, and no memory may be behind it. So only
 * the thread's own stack is read by loads. Another stack is copied by wefti_os_copy(), a
 * system call that stops where the memory ends.
 *
 * The copy is made when the thread goes on, not when it parks. Its stack is the same, and
 * by then it is known for how long the thread has waited. So each long wait has a stack,
 * and of the short ones, which may come by the million, one in `every`. Such a stack
 * stands for `every` waits, so sums over stacks are those over all waits, on average.
 *
 * A wait is long if the coarse clock has advanced in it: after a few milliseconds surely,
 * and by chance earlier. The chance does not depend on the stack.
 *
 * A spawn has the stack of the thread that spawns, also one in `every`: it runs, so the
 * copy begins in this file.
 *
 * Writers
 *   stacks.bytes  profile.c: apply
 *   stacks.every  profile.c: apply
 */
#include "sched/stacks.h"

#include "os/call/copy.h"
#include "sched/busy.h"
#include "thread/peek.h"

#define CHUNK	48u	/* words; a multiple of 3. The caller's stack may be small. */

struct wefti_stacks wefti_stacks;

size_t wefti_stack_bytes(const struct wefti_thread *t, uintptr_t sp)
{
	const size_t most = load_relaxed(&wefti_stacks.bytes);
	struct wefti_preempt_room own;
	uintptr_t end;

	if (!t || !t->cold || !t->cold->stack_low)
		return most;
	own = wefti_own_stack(t);
	if (!wefti_is_in_room(&own, sp))
		return most;
	end = own.low + own.bytes;
	/* A body is at the top of its stack, below its TLS. */
	if ((uintptr_t)t->cold > sp && (uintptr_t)t->cold < end)
		end = (uintptr_t)t->cold;
	return end - sp < most ? end - sp : most;
}

/* Sanitizers would report it: it is not the caller's memory. */
static NOINLINE __attribute__((no_sanitize("thread", "address"))) void
load_words(uint64_t *to, const volatile uintptr_t *from, unsigned words)
{
	for (unsigned i = 0; i < words; i++)
		to[i] = from[i];
}

/* Returns how many words there were; fewer than asked for: another stack ends there. */
static unsigned copy(const struct wefti_thread *t, uint64_t *to, const uintptr_t *from,
		     unsigned words)
{
	const struct wefti_preempt_room own = wefti_own_stack(t);

	if (!wefti_is_in_room(&own, (uintptr_t)from))
		return (unsigned)(wefti_os_copy(to, from, words * sizeof(*to)) / sizeof(*to));
	load_words(to, from, words);
	return words;
}

static void put(struct wefti_vcpu *v, const struct wefti_thread *t,
		const struct wefti_record_stack *head)
{
	uint64_t words[CHUNK];
	unsigned left, n, got;

	_Static_assert(WEFTI_RECORD_STACK_WORDS % 3 == 0, "whole events");
	wefti_record_put_words(&v->recorder, (const uint64_t *)head,
			       WEFTI_RECORD_STACK_WORDS);
	left = (unsigned)(wefti_stack_bytes(t, (uintptr_t)head->sp) / sizeof(uint64_t));
	for (const uintptr_t *from = (const uintptr_t *)head->sp; left; left -= n) {
		n = left < CHUNK ? left : CHUNK;
		got = copy(t, words, from, n);
		wefti_record_put_words(&v->recorder, words, got);
		if (got < n)
			break;
		from += n;
	}
}

static void put_of_wait(struct wefti_vcpu *v, const struct wefti_thread *t,
			uint32_t stands_for)
{
	struct wefti_arch_regs regs;
	struct wefti_record_stack head;

	wefti_arch_context_regs(&t->ctx, &regs);
	head = (struct wefti_record_stack){
		.why = (uint64_t)wefti_peek_why(t) << 32 | stands_for,
		.object = (uintptr_t)load_relaxed(&t->waits_for),
		.pc = regs.pc, .sp = regs.sp, .fp = regs.fp,
	};
	put(v, t, &head);
}

void wefti_stacks_of_wait(struct wefti_vcpu *v, const struct wefti_thread *to)
{
	const uint32_t every = load_relaxed(&wefti_stacks.every);

	if (to->kind == WEFTI_KIND_SCHED || !to->cold || !to->cold->stack_low ||
	    wefti_peek_why(to) == WEFTI_WHY_NOTHING || every == 0)
		return;
	if (load_relaxed(&wefti_rt.coarse_now) - to->cold->since > 0) {
		put_of_wait(v, to, 1);
	} else if (++v->stack_turn >= every) {
		v->stack_turn = 0;
		put_of_wait(v, to, every);
	}
}

/* Not inlined: the words from sp on are then those of its own call, and its callers'. */
NOINLINE void wefti_stacks_of_spawn(struct wefti_vcpu *v)
{
	const uint32_t every = load_relaxed(&wefti_stacks.every);
	const struct wefti_record_stack head = {
		.why = every, .pc = wefti_arch_pc_get(), .sp = wefti_arch_sp_get(),
		.fp = (uintptr_t)__builtin_frame_address(0),
	};

	if (every == 0 || ++v->spawn_turn < every)
		return;
	v->spawn_turn = 0;
	put(v, wefti_self(), &head);
}
