/* SPDX-License-Identifier: MIT */
/*
 * os/signal/preempt_signal.c - the signal that stops a thread between two instructions
 *
 * The installed handler has the signal blocked until it has noted that it runs. It is in
 * a section of its own. So a second signal that comes after the handler has noted that
 * it is done is recognized by the program counter. Otherwise the second handler would
 * take the first handler's code for the program's, and switch away from a thread that
 * the first signal interrupted inside libc, with a lock of libc held. The first handler
 * looks at its end for the reason of the second signal: no sender repeats it for a
 * thread that has lost its VCPU. Only in the last few instructions is the signal lost,
 * if the VCPU was taken within them too.
 *
 * A program may run on stacks that the runtime does not know, with no room for a frame of
 * the kernel: coroutines, or generated machine code that keeps data right below the stack
 * pointer. So the signal comes to the kernel thread's alternate stack. No thread may stay
 * there, because others use it next. So the frame is moved to a place that the layer
 * above gives, and the handler runs and returns there. Sanitizers call handlers by their
 * own. With them, and without an alternate stack, the signal is handled on the stack in
 * use.
 *
 * Writers
 *   other_handler  wefti_os_signal_others
 */
#include "os/signal/signal.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/compiler.h"
#include "interrupted.h"
#include "lockfree/atomic.h"
#include "os/signal/caught.h"
#include "os/signal/cpu_timer.h"
#include "os/signal/errand.h"
#include "os/signal/retry.h"
#include "signal_frame.h"
#include "syscall.h"

#define ROOM	2048	/* below the frame, for the handler */

static wefti_os_handler *preempt_handler;
static wefti_os_place_fn *preempt_place;
static const struct wefti_os_catcher *catcher;
static wefti_os_handler *look_handler;	/* its address marks the signal */
static struct sigaction preempt_before;	/* the program's */
static int preempt_shared;		/* the program also gets the signals we send */
static _Atomic(wefti_os_other_fn *) other_handler[WEFTI_OS_OTHERS];

/* In the handler no access may allocate. The attribute applies to one name only. */
static _Thread_local volatile int preempt_runs
	__attribute__((tls_model("initial-exec")));
static _Thread_local volatile int preempt_again
	__attribute__((tls_model("initial-exec")));

extern const char __start_weft_preempt[]
	__attribute__((visibility("hidden")));
extern const char __stop_weft_preempt[]
	__attribute__((visibility("hidden")));

/* Not libc's or a program's getpid(): its code would be outside the section. */
static ALWAYS_INLINE pid_t own_pid(void)
{
	return (pid_t)wefti_arch_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* Has one of the others taken the signal? */
static int is_taken(const siginfo_t *info)
{
	for (int i = 0; i < WEFTI_OS_OTHERS; i++) {
		wefti_os_other_fn *fn = load_relaxed(&other_handler[i]);

		if (fn && fn(info))
			return 1;
	}
	return 0;
}

static ALWAYS_INLINE int is_own(const siginfo_t *info)
{
	return (info->si_code == SI_TKILL && info->si_pid == own_pid()) ||
	       wefti_os_retry_is(info) || wefti_os_cpu_timer_is(info);
}

/*
 * All signals are blocked until this has noted that it runs. A timer's signal is one of
 * ours: another one that was sent meanwhile is lost, and may have said that the thread
 * has lost its VCPU.
 */
__attribute__((section("weft_preempt"), noinline))
static void preempt_run(int signal, siginfo_t *info, void *context)
{
	int is_ours = signal != wefti_os_preempt_signal() || is_own(info);

	/*
	 * A sender that repeats the signal is as fast as the kernel. If signals were let
	 * in from the first instruction on, each would be on top of the one before.
	 */
	preempt_runs = 1;
	wefti_os_signals_restore(wefti_os_ucontext_mask(context));
	do {
		preempt_runs = 1;
		preempt_again = 0;
		compiler_barrier();
		if (is_ours)
			preempt_handler(signal, info, context);
		else if (preempt_before.sa_handler != SIG_DFL)
			wefti_os_signal_forward(signal, info, context,
						&preempt_before);
		is_ours = 1;
		signal = wefti_os_preempt_signal();
		compiler_barrier();
		preempt_runs = 0;
	} while (preempt_again);
}

static ALWAYS_INLINE int is_on(uintptr_t sp, const stack_t *stack)
{
	return wefti_os_is_on_stack(sp, (uintptr_t)stack->ss_sp, stack->ss_size);
}

/* Does not return: the interrupted thread goes on from the copy of the frame. */
static void run_below(uintptr_t top, wefti_os_handler *run, uintptr_t link,
		      int signal, siginfo_t *info, ucontext_t *uc)
{
	const uintptr_t low = wefti_arch_frame_low(info, uc);
	const size_t bytes = wefti_arch_frame_end(info, uc) - low;
	uintptr_t to = top - bytes;
	ucontext_t *moved;

	to -= (to - low) % WEFTI_ARCH_FRAME_ALIGN;
	moved = (void *)((uintptr_t)uc - low + to);
	memcpy((void *)to, (void *)low, bytes);
	wefti_arch_frame_moved(moved, to - low);
	wefti_arch_frame_call(to, to + bytes, link, run, signal,
			      (void *)((uintptr_t)info - low + to), moved);
}

static size_t room_for(const siginfo_t *info, const ucontext_t *uc)
{
	return wefti_arch_frame_end(info, uc) - wefti_arch_frame_low(info, uc) +
	       WEFTI_ARCH_FRAME_ALIGN + ROOM;
}

/* The frame is on the alternate stack, and the thread was not. */
static int is_to_be_moved(const ucontext_t *uc)
{
	return is_on((uintptr_t)__builtin_frame_address(0), &uc->uc_stack) &&
	       !is_on(wefti_arch_ucontext_sp(uc), &uc->uc_stack);
}

/* Leaves the alternate stack. Returns if there is nothing to do. */
static void move_and_run(int is_ours, int signal, siginfo_t *info,
			 ucontext_t *uc, uintptr_t link)
{
	uintptr_t top = wefti_arch_ucontext_sp(uc) - WEFTI_ARCH_RED_ZONE;

	if (is_ours && preempt_place)
		top = preempt_place(uc, room_for(info, uc));
	if (top && is_on(wefti_arch_frame_end(info, uc), &uc->uc_stack))
		run_below(top, preempt_run, link, signal, info, uc);
}

/* Is the handler running in this thread, or has it just begun or ended? */
static ALWAYS_INLINE int is_handling(const ucontext_t *uc)
{
	const uintptr_t pc = wefti_arch_ucontext_pc(uc);

	return preempt_runs || (pc >= (uintptr_t)__start_weft_preempt &&
				pc < (uintptr_t)__stop_weft_preempt);
}

__attribute__((section("weft_preempt"), noinline))
static void preempt_entry(int signal, siginfo_t *info, void *context)
{
	int is_ours;

	wefti_os_errand_run();
	if (info->si_code == SI_QUEUE && info->si_pid == own_pid() &&
	    info->si_value.sival_ptr == &look_handler) {
		look_handler(signal, info, context);
		return;
	}
	if (wefti_os_cpu_timer_is(info))
		wefti_os_cpu_timer_run(signal, info, context);
	is_ours = is_own(info);
	if (is_ours && preempt_shared && preempt_before.sa_handler != SIG_DFL)
		wefti_os_signal_forward(signal, info, context, &preempt_before);
	if (!is_ours && is_taken(info))
		return;
	if (is_handling(context)) {
		if (is_ours)
			preempt_again = 1;
		return;
	}
	if (is_to_be_moved(context))
		move_and_run(is_ours, signal, info, context,
			     (uintptr_t)__builtin_return_address(0));
	else
		preempt_run(signal, info, context);
}

/* Like our own signal, but one that cannot be handled here is not lost. */
static ALWAYS_INLINE void caught(int signal, siginfo_t *info, ucontext_t *uc,
				 uintptr_t link)
{
	if (!catcher->comes(info, uc))
		return;
	if (!is_handling(uc)) {
		if (!is_to_be_moved(uc)) {
			preempt_run(signal, info, uc);
			return;
		}
		move_and_run(1, signal, info, uc, link);
	}
	catcher->later(info);
}

__attribute__((section("weft_preempt"), noinline))
void wefti_os_caught_entry(int signal, siginfo_t *info, void *context)
{
	caught(signal, info, context, (uintptr_t)__builtin_return_address(0));
}

/* A fault cannot wait: it is handled at once, whatever runs. */
__attribute__((section("weft_preempt"), noinline))
void wefti_os_fault_entry(int signal, siginfo_t *info, void *context)
{
	uintptr_t top;

	if (info->si_code <= 0) {
		caught(signal, info, context,
		       (uintptr_t)__builtin_return_address(0));
		return;
	}
	top = catcher->place(info, context, room_for(info, context));
	if (top && is_to_be_moved(context))
		run_below(top, catcher->handle,
			  (uintptr_t)__builtin_return_address(0), signal, info,
			  context);
	else if (top)
		catcher->handle(signal, info, context);
}

void wefti_os_caught_later(const siginfo_t *info)
{
	catcher->later(info);
}

void wefti_os_catcher_set(const struct wefti_os_catcher *to)
{
	catcher = to;
}

int wefti_os_signal_preempt_hold(void)
{
	int before = preempt_runs;

	preempt_runs = 1;
	return before;
}

void wefti_os_signal_preempt_let(int before)
{
	preempt_runs = before;
}

void wefti_os_signal_preempt_left(void)
{
	preempt_runs = 0;
}

void wefti_os_signal_preempt(wefti_os_handler *handler, wefti_os_place_fn *place)
{
	struct sigaction before;

	preempt_handler = handler;
	preempt_place = place;
	wefti_os_signal_install(wefti_os_preempt_signal(), preempt_entry,
				WEFTI_OS_ON_STACK | WEFTI_OS_SA_ALONE, &before);
	if (before.sa_sigaction != preempt_entry)
		preempt_before = before;
}

void wefti_os_signal_preempt_share(void)
{
	preempt_shared = 1;
}

void wefti_os_signal_preempt_end(void)
{
	wefti_os_signal_remove(wefti_os_preempt_signal(), preempt_entry, &preempt_before);
}

void wefti_os_signal_preempt_hides(struct sigaction *now)
{
	if (now->sa_sigaction == preempt_entry)
		*now = preempt_before;
}

void wefti_os_signal_others(enum wefti_os_other who, wefti_os_other_fn *fn)
{
	store_relaxed(&other_handler[who], fn);
}

void wefti_os_signal_preempt_action(const struct sigaction *new,
				    struct sigaction *old)
{
	const struct sigaction before = preempt_before;

	if (new)
		preempt_before = *new;
	if (old)
		*old = before;
}

/*
 * Uses the same signal, because no kernel thread blocks that one. It is sent with a value
 * that identifies it.
 */
void wefti_os_look_handler(wefti_os_handler *handler)
{
	look_handler = handler;
}

int wefti_os_look_send(int tid)
{
	siginfo_t info = { .si_code = SI_QUEUE };
	long pid = wefti_arch_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);

	info.si_signo = wefti_os_preempt_signal();
	info.si_pid = (pid_t)pid;
	info.si_value.sival_ptr = &look_handler;
	return (int)wefti_arch_syscall(SYS_rt_tgsigqueueinfo, pid, tid,
				       wefti_os_preempt_signal(), (long)&info, 0, 0);
}
