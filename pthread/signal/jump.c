/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/jump.c - sigsetjmp() and siglongjmp(), by which handlers leave
 *
 * libc saves and restores the mask of the kernel thread. Beside it stands our note: the
 * thread's own mask, how many regions it was in, and what memory of waits it had. For a
 * handler that interrupted a blocked call leaves that call, too. The note has room in
 * what sigsetjmp() fills: a sigset_t has 128 bytes, the kernel writes 8 of them, and libc
 * only a shadow stack's pointer at the end.
 *
 * The saved mask of the kernel thread fits only where it was saved. A green thread saves
 * the mask of kernel threads that carry threads; any other caller saves that of a process
 * without them. If the jump goes from the one to the other (threads were made since, or
 * this is the child of a fork), libc is given another mask to restore.
 *
 * A jump without a saved mask is libc's alone. The setjmp() of the headers saves no mask,
 * and leaves no note. A handler that leaves by such a jump keeps the mask that it has, as
 * POSIX requires, and its regions. The function setjmp() saves a mask.
 *
 * Writers
 *   pt.waited  go_back; signal_act.c: call; signal_queue.c: wefti_signal_get;
 *       sigwait.c: wait_signal
 */
#include <setjmp.h>

#include "os/signal/signal.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "pthread/signal/altstack.h"
#include "pthread/signal/room.h"
#include "pthread/signal/signal.h"
#include "pthread/signal/signal_queue.h"
#include "sched/vcpu.h"
#include "thread/thread.h"
#include "weft/runtime.h"

#define NOTED	UINT64_C(0x77656674206a6d70)

/* In __saved_mask: the kernel's 8 bytes, then ours. */
struct note {
	uint64_t kernels;
	uint64_t mask;
	uint32_t regions, rooms;
	uint64_t check;		/* over our fields, with NOTED */
};

typedef int sigsetjmp_fn(struct __jmp_buf_tag *env, int saves);

sigsetjmp_fn *wefti_jump_note(struct __jmp_buf_tag *env, int saves);

static int is_threads(void)
{
	return wefti_pt_is_started() && wefti_pt_green();
}

static struct note *note_in(struct __jmp_buf_tag *env)
{
	_Static_assert(sizeof(env->__saved_mask) > 2 * sizeof(struct note),
		       "room for a note, and for a pointer behind");
	return (struct note *)(void *)&env->__saved_mask;
}

static uint64_t check_of(const struct note *n)
{
	return NOTED ^ n->mask ^ (uint64_t)n->regions << 32 ^ n->rooms;
}

static int is_noted(const struct note *n)
{
	return n->check == check_of(n);
}

/* Called by __sigsetjmp() in arch/. env may be shorter if the mask is not saved. */
sigsetjmp_fn *wefti_jump_note(struct __jmp_buf_tag *env, int saves)
{
	if (saves) {
		struct note *n = note_in(env);

		n->check = 0;
		if (is_threads()) {
			n->mask = load_relaxed(&wefti_pt.mask);
			n->regions = wefti_self()->cold->block_depth;
			n->rooms = wefti_pt.rooms_used;
			n->check = check_of(n);
		}
	}
	return REAL(__sigsetjmp);
}

/* Is the caller on the kernel thread's stack for faults? Nothing else may run there. */
static int is_handling_a_fault(void)
{
	stack_t s;

	return REAL(sigaltstack)(NULL, &s) == 0 && (s.ss_flags & SS_ONSTACK);
}

/* A copy of env with another mask for the kernel thread. */
static struct __jmp_buf_tag *with_mask(const struct __jmp_buf_tag *env,
				       struct __jmp_buf_tag *copy, uint64_t mask)
{
	*copy = *env;
	note_in(copy)->kernels = mask;
	return copy;
}

static uint64_t carriers_mask(void)
{
	struct wefti_thread *self = wefti_enter();
	uint64_t mask = self->vcpu->kthread->mask;

	wefti_leave(self);
	return mask;
}

/* Signals that the restored mask lets in are handled here, as in libc's own call. */
static void go_back(const struct note *n)
{
	while (wefti_self()->cold->block_depth > n->regions)
		weft_block_end();
	wefti_rooms_left(n->rooms);
	store_seq_cst(&wefti_pt.waited, (uint64_t)0);
	wefti_pt.ends = 0;
	wefti_pt.interrupted = NULL;
	wefti_self()->cold->over_malloc = 0;
	wefti_pt.cancel_held = 0;
	wefti_os_signal_preempt_left();
	if (is_handling_a_fault()) {
		store_seq_cst(&wefti_pt.mask, n->mask);
		fetch_or_seq_cst(&wefti_pt.urgent, WEFTI_URGENT_SIGNAL);
		wefti_signals_want(~n->mask);
	} else {
		wefti_signals_set_mask(n->mask);
	}
}

/*
 * Called before libc's function. Returns what to pass to it: env, or the copy. The copy
 * is changed and not env, because the program may use env again.
 */
static struct __jmp_buf_tag *begin(struct __jmp_buf_tag *env,
				   struct __jmp_buf_tag *copy)
{
	struct note n;

	if (!env->__mask_was_saved)
		return env;
	n = *note_in(env);
	if (!wefti_pt_is_started())
		return is_noted(&n) ? with_mask(env, copy, n.mask) : env;
	if (!wefti_pt_green())
		return env;
	if (is_noted(&n)) {
		go_back(&n);
		return env;
	}
	n = (struct note){ .mask = n.kernels };
	go_back(&n);
	return with_mask(env, copy, carriers_mask());
}

EXPORT void longjmp(struct __jmp_buf_tag env[1], int value)
{
	struct __jmp_buf_tag copy;

	env = begin(env, &copy);
	REAL(longjmp)(env, value);
	__builtin_unreachable();
}

EXPORT void _longjmp(struct __jmp_buf_tag env[1], int value)
{
	struct __jmp_buf_tag copy;

	env = begin(env, &copy);
	REAL(_longjmp)(env, value);
	__builtin_unreachable();
}

EXPORT void siglongjmp(sigjmp_buf env, int value)
{
	struct __jmp_buf_tag copy;

	env = begin(env, &copy);
	REAL(siglongjmp)(env, value);
	__builtin_unreachable();
}

/*
 * libc's own ends the program if the jump goes up a stack, unless the kernel says that
 * the jump leaves the alternate stack. The kernel does not know a green thread's
 * alternate stack.
 */
EXPORT void __longjmp_chk(struct __jmp_buf_tag env[1], int value)
{
	struct __jmp_buf_tag copy;

	env = begin(env, &copy);
	if (is_threads() && wefti_altstack_tell().ss_flags == SS_ONSTACK)
		REAL(siglongjmp)(env, value);
	else
		REAL(__longjmp_chk)(env, value);
	__builtin_unreachable();
}
