/* SPDX-License-Identifier: MIT */
/*
 * sched/preempt.c - stops a thread that computes past its slice
 *
 * The monitor sends a signal to the kernel thread that carries the VCPU. The signal's
 * handler runs on a stack of the thread's, sees the thread's own TLS, and yields from
 * there. The thread returns from the signal when it is scheduled again, perhaps on
 * another kernel thread. The handler yields only if
 *   - the thread is outside the runtime (in_runtime == 0, which covers the handler
 *     itself),
 *   - it has its seat (attention == 0),
 *   - its program counter is in the text of the program or of the program's libraries,
 *     but not in libc, the loader, libstdc++ or libweft, which may hold locks that the
 *     next thread wants. After STUBBORN requests in a row it yields in these too: a
 *     thread that spends its life in memcpy is no better. It never yields where it may
 *     be in a call of malloc's. The next thread would wait for malloc's lock inside the
 *     runtime, where no VCPU is taken, and so would the monitor, which makes kernel
 *     threads. If a thread is always found in malloc, its seat is taken: it goes on
 *     until it releases the lock,
 *   - the kernel thread's own signal mask is in force, with the same exception. A
 *     thread in a handler that the kernel has called never yields: the kernel thread
 *     would go on without that handler's signals, and below the handler the thread may
 *     be in malloc, behind the kernel's frame. Where the mask lets in signals that the
 *     kernel thread blocks (around system(), in the preload library), the mask is the
 *     thread's and moves with it. The kernel thread gets its own mask back first,
 *   - it is on its own stack, with room for the handler. If it is on an unknown stack
 *     (a coroutine's, say), the handler runs on the one that the layer above has for
 *     this, or on the unknown stack if that has room. Otherwise the thread's seat is
 *     taken.
 *
 * sigreturn restores the alternate stack of the kernel thread that was interrupted. So
 * the frame is patched to the alternate stack of the kernel thread that returns. A second
 * signal may come when the first handler has returned and sigreturn has not been called.
 * The thread may move there too, so the first frame is patched again. Otherwise two kernel
 * threads would have one alternate stack.
 *
 * A light thread shares its carrier's TLS and may hold addresses of it at any
 * instruction; it cannot move. The monitor takes its seat instead.
 * (Why a layer above may insist on a thread is in sched/preempt.h.)
 *
 * Structure (in the thread's body)
 *   preempt_asked    how many requests in a row were refused; only its thread writes it,
 *                    and the monitor peeks
 *   preempt_insists  the layer above wants the thread to come through the hook
 *
 * States of a slice that is over, by preempt_asked
 *   POLITE    below STUBBORN: it ends in the program's own text only
 *   STUBBORN  it ends in libc too, but not in malloc or the loader
 *   HOPELESS  4 * STUBBORN: the monitor takes the seat, if others wait
 *
 *   POLITE --a refusal--> STUBBORN --a refusal--> HOPELESS: one refusal a look
 *   POLITE --no room on the stack: place()--> HOPELESS
 *   any --end_slice, or the seat is lost (sched/seat.c)--> POLITE, with 0
 *
 * States of what the layer above wants
 *   QUIET    insists is 0
 *   INSISTS  the hook is to be called, or its work to be done by the thread itself
 *
 *   QUIET --wefti_preempt_insist, any thread--> INSISTS
 *   INSISTS --call_hook, or wefti_preempt_heard by the thread--> QUIET
 *
 * Writers
 *   cold.preempt_insists  wefti_preempt_heard, wefti_preempt_insist;
 *       spawn.c: unite
 *   vcpu.stat_preemptions  end_slice
 *   wefti_preempt_hook  pthread/init/start.c: start
 *   wefti_preempt_keeps  pthread/init/start.c: start
 *   wefti_preempt_room  pthread/init/start.c: start
 *
 * Invariants
 *   I1  The handler yields, waits for a seat, or calls the hook only outside the runtime.
 *       Only for a caught signal of the thread's own call or instruction does the hook
 *       run where malloc or the loader may be locked.
 *   I2  A signal that finds the thread elsewhere changes preempt_asked at most. It may
 *       be lost: the monitor asks again at its next look.
 *   I3  While a thread INSISTS and has its seat, the monitor sends the signal at each
 *       look. If it INSISTS and has lost its seat, one signal was sent to its carrier
 *       after both (P1); where that one was refused, the carrier asks again
 *       (sched/again.c).
 *   I4  INSISTS is cleared before the reasons are looked at. So a reason that is stored
 *       later finds QUIET, and insists anew. A hook may be called without a reason.
 *
 * Linearization
 *   A request is answered where INSISTS is cleared.
 *
 * Progress
 *   To insist and to ask are wait-free: a store, a look at each VCPU, system calls that do
 *   not block. The handler waits only for a seat, like a thread that comes back from a
 *   system call.
 *
 * ABA and reclamation
 *   The thread may have ended, and its slot may have another: bodies are type-stable, and
 *   a signal too many has no effect but I2's and an empty call of the hook.
 *
 * Pairs
 *   P1  insists is set; fence; load of attention. The seat is taken; fence; load
 *       of insists. One of the two sees the other.
 *   Model of P1: tests/model/loom/c/spare.c.
 *
 * Source
 *   Ours. Go's asynchronous preemption (1.14) sends a signal too, and yields from a frame
 *   that it pushes; its compiler says which instructions are safe. Here any is, outside of
 *   the texts above, since the thread's registers are in the signal's frame.
 */
#include "sched/preempt.h"

#include <errno.h>

#include "interrupted.h"
#include "os/call/tid.h"
#include "os/object/text.h"
#include "os/signal/caught.h"
#include "os/signal/signal.h"
#include "os/tls/loader.h"
#include "sched/again.h"
#include "sched/balance.h"
#include "sched/busy.h"
#include "sched/park.h"
#include "sched/seat.h"
#include "sched/slice.h"
#include "signal_frame.h"
#include "thread/peek.h"

#define STUBBORN	8
#define HOPELESS	(4 * STUBBORN)	/* requests in a row, all refused in malloc */

/* On a stack without a guard: room for the handlers that the hook may call. */
#define HANDLER_ROOM	((size_t)4096)

_Atomic(wefti_preempt_hook_fn *) wefti_preempt_hook;
_Atomic(wefti_preempt_keeps_fn *) wefti_preempt_keeps;
_Atomic(wefti_preempt_room_fn *) wefti_preempt_room;

static struct wefti_preempt_room other_stack(void)
{
	wefti_preempt_room_fn *fn = load_relaxed(&wefti_preempt_room);

	return fn ? fn() : (struct wefti_preempt_room){ 0, 0 };
}

static int can_stop(const struct wefti_thread *self)
{
	return self && !load_relaxed(&self->in_runtime) && !self->light &&
	       (self->kind == WEFTI_KIND_GREEN ||
		self->kind == WEFTI_KIND_MAIN);
}

static uintptr_t place(const ucontext_t *uc, size_t bytes)
{
	const uintptr_t sp = wefti_arch_ucontext_sp(uc);
	struct wefti_thread *self = wefti_self();
	struct wefti_preempt_room own, other;

	if (!can_stop(self))
		return 0;
	own = wefti_own_stack(self);
	if (wefti_is_in_room(&own, sp)) {
		if (sp - own.low > bytes + WEFTI_ARCH_RED_ZONE)
			return sp - WEFTI_ARCH_RED_ZONE;
	} else {
		other = other_stack();
		if (!wefti_is_in_room(&other, sp) && other.bytes > bytes)
			return other.low + other.bytes;
		if (wefti_is_in_room(&other, sp) &&
		    sp - other.low > bytes + HANDLER_ROOM + WEFTI_ARCH_RED_ZONE)
			return sp - WEFTI_ARCH_RED_ZONE;
	}
	self->cold->preempt_asked = HOPELESS;
	return 0;
}

/* The handler may have been called on a stack for which place() was not asked. */
static int is_at_its_place(const struct wefti_thread *self)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const struct wefti_preempt_room own = wefti_own_stack(self);
	const struct wefti_preempt_room other = other_stack();

	return wefti_is_in_room(&own, here) || wefti_is_in_room(&other, here);
}

static int is_bad_moment(const struct wefti_thread *self, const ucontext_t *uc)
{
	return wefti_os_text_is_locked(wefti_arch_ucontext_pc(uc)) ||
	       wefti_os_ucontext_mask(uc) != self->vcpu->kthread->mask;
}

/*
 * Is the thread in a handler that the kernel has called? That blocks more signals. (If
 * a layer above has a hook, it calls the program's handlers itself.)
 */
static int is_in_handler(const struct wefti_thread *self, const ucontext_t *uc)
{
	const uint64_t has = self->vcpu->kthread->mask;
	const uint64_t mask = wefti_os_ucontext_mask(uc);

	return !load_relaxed(&wefti_preempt_hook) && mask != has && !(has & ~mask);
}

/* May the thread yield where it is? */
static int is_willing(struct wefti_thread *self, const ucontext_t *uc)
{
	const int has_loader = wefti_os_loader_is_held(self->tp);

	if (!has_loader && !is_bad_moment(self, uc))
		return 1;
	return ++self->cold->preempt_asked >= STUBBORN && !has_loader &&
	       !is_in_handler(self, uc) && !wefti_may_be_in_malloc(self, uc);
}

/* Does the layer above let the thread keep its VCPU? */
static int keeps(void)
{
	wefti_preempt_keeps_fn *fn = load_relaxed(&wefti_preempt_keeps);

	return fn && fn();
}

/*
 * Called before the thread may leave k. If the thread's mask lets more in, k gets its
 * own mask back. Returns 1 in that case: the thread must set its mask wherever it goes
 * on.
 */
static int take_mask_along(const struct wefti_kthread *k, const ucontext_t *uc)
{
	if (!(k->mask & ~wefti_os_ucontext_mask(uc)))
		return 0;
	wefti_os_signals_restore(k->mask);
	return 1;
}

void wefti_preempt_heard(struct wefti_thread *self)
{
	store_seq_cst(&self->cold->preempt_insists, 0);
}

/*
 * The mark is cleared first: what is asked of the thread from now on is for next time.
 */
static void call_hook(struct wefti_thread *self, ucontext_t *uc,
		      const siginfo_t *info)
{
	wefti_preempt_hook_fn *hook = load_relaxed(&wefti_preempt_hook);

	wefti_preempt_heard(self);
	wefti_record_signal(self, info ? info->si_signo : 0);
	if (hook)
		hook(uc, info);
}

/*
 * The thread's VCPU was taken while it blocked in the kernel, and the hook wants it.
 * Waits here for a VCPU and goes on with it. If the thread blocks again, the monitor
 * finds it again.
 */
static int regain_seat(struct wefti_thread *self, const ucontext_t *uc)
{
	int along = take_mask_along(self->cold->carrier, uc);

	wefti_enter_as(self);
	return along;
}

/* The thread is in its VCPU, inside the runtime. Yields if it is to give way. */
static void end_slice(struct wefti_thread *self, const ucontext_t *uc)
{
	struct wefti_vcpu *v = self->vcpu;

	if (keeps() || !is_willing(self, uc))
		return;
	self->cold->preempt_asked = 0;
	wefti_slice_ends(self->cold, wefti_arch_ucontext_pc(uc));
	store_relaxed(&v->stat_preemptions,
		      load_relaxed(&v->stat_preemptions) + 1);
	wefti_record_preempt(v, self, wefti_arch_ucontext_pc(uc));
	wefti_balance_yield(self);
}

/*
 * Afterwards the thread has a VCPU and is outside the runtime, and 1 is returned;
 * *along then says that the thread must set its own mask wherever it goes on. Returns 0
 * if the thread cannot be stopped here. caught: the signal is not ours but one that the
 * program is to see, which ends no slice.
 */
static int goes_on(struct wefti_thread *self, const ucontext_t *uc, int caught,
		   int ends_slice, int *along)
{
	if (!can_stop(self) || !is_at_its_place(self))
		return 0;
	if (wefti_try_enter(self) == 0) {
		*along = take_mask_along(self->vcpu->kthread, uc);
		if (ends_slice)
			end_slice(self, uc);
	} else if (!caught && !self->cold->preempt_insists) {
		return 0;
	} else if (wefti_is_busy(self, uc)) {
		wefti_again_ask(self->cold->carrier);
		return 0;
	} else {
		*along = regain_seat(self, uc);
	}
	if (!wefti_is_busy(self, uc))
		wefti_os_retry_done(&self->vcpu->kthread->retry);
	else if (caught || self->cold->preempt_insists)
		wefti_os_retry_soon(&self->vcpu->kthread->retry);
	wefti_leave(self);
	return 1;
}

/*
 * caught: a signal that the program is to see. One that the thread's own call has
 * caused is handled wherever the thread is. Any other is handled only where neither
 * malloc nor the loader has a lock, as the hook may make the thread wait. There, our
 * own signal comes again soon, and a caught one is given back. A timer ends no slice.
 */
static void handler(int sig, siginfo_t *info, void *context)
{
	const int caught = sig != wefti_os_preempt_signal();
	struct wefti_thread *self = wefti_self();
	ucontext_t *uc = context;
	int saved = errno, along, is_busy;

	if (!goes_on(self, uc, caught, !caught && info->si_code != SI_TIMER, &along)) {
		if (caught)
			wefti_os_caught_later(info);
		errno = saved;
		return;
	}
	is_busy = wefti_is_busy(self, uc);
	if (!is_busy) {
		call_hook(self, uc, caught ? info : NULL);
	} else if (caught && wefti_os_signal_is_of_call(info, uc)) {
		self->cold->over_malloc++;
		call_hook(self, uc, info);
		self->cold->over_malloc--;
	} else if (caught) {
		wefti_os_caught_later(info);
	}
	/* The thread may have moved: here, or in what the hook has run. */
	wefti_os_altstack_patch_all(uc, along);
	errno = saved;
}

void wefti_preempt_init(void)
{
	wefti_os_text_init();
	wefti_os_loader_init();
}

void wefti_preempt_start(void)
{
	wefti_os_signal_preempt(handler, place);
}

int wefti_preempt(struct wefti_vcpu *v, struct wefti_thread *t)
{
	if (!wefti_peek_has_tls(t))
		return 0;
	wefti_os_kthread_signal(v->kthread->tid, wefti_os_preempt_signal());
	return 1;
}

int wefti_preempt_is_refused(struct wefti_thread *t)
{
	struct wefti_cold *body = wefti_peek_cold(t);

	return body && wefti_peek_preempt_asked(body) >= HOPELESS;
}

void wefti_preempt_taken(struct wefti_thread *t)
{
	struct wefti_cold *body = wefti_peek_cold(t);

	fence_seq_cst();	/* P1 */
	/*
	 * t may have gone on and ended, and another thread's body may be in its slot.
	 */
	if (body && wefti_peek_insists(body) &&
	    load_seq_cst(&t->attention) & WEFTI_SEAT_TAKEN &&
	    wefti_peek_has_tls(t))
		wefti_os_kthread_signal((int)load_relaxed(&body->carrier_tid),
					wefti_os_preempt_signal());
}

void wefti_preempt_insist(struct wefti_thread *t)
{
	struct wefti_cold *body = wefti_peek_cold(t);

	if (!body)
		return;
	store_seq_cst(&body->preempt_insists, 1);	/* P1 */
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++) {
		struct wefti_vcpu *v = wefti_vcpu_at(i);

		if (v && load_seq_cst(&v->current) == t && t != wefti_self())
			wefti_preempt(v, t);
	}
	if (t != wefti_self())
		wefti_preempt_taken(t);
}
