/* SPDX-License-Identifier: MIT */
/*
 * sched/preempt.c - a thread that computes past its slice is stopped
 *
 * The monitor sends the carrier a signal. Its handler runs on a stack of the thread's,
 * sees the thread's own TLS, and yields from there; the thread returns from the signal
 * when it is scheduled again, maybe on another kernel thread.
 * It does so only
 *   - outside the runtime (in_runtime == 0, which covers the handler itself),
 *   - with its seat (attention == 0),
 *   - where the program counter is in the program's own text or that of its
 *     libraries, but not in libc, the loader, libstdc++ or libweft, which may
 *     hold locks that the next thread wants. After STUBBORN requests in a row
 *     it yields anyway: a thread that spends its life in memcpy is no better. But
 *     not where it may be in a call of malloc's: the next one would wait for its
 *     lock inside the runtime, where no VCPU is taken, and the monitor, which makes
 *     kernel threads, too. Of one who is always found there the seat is taken, so it
 *     goes on to where it gives the lock back,
 *   - where the kernel thread's own signal mask is in force, with the same
 *     exception, but never in a handler that the kernel has called: the kernel thread
 *     would go on without that handler's signals, and below the handler the thread may
 *     be in malloc, behind the kernel's frame. Where the mask lets in what
 *     the kernel thread blocks (around system(), in the preload library), it is
 *     the thread's, and goes with it: the kernel thread has its own back first,
 *   - on the thread's own stack, always, with room for that; or where it is on one of
 *     which nothing is known (a coroutine's, say), on the one that the layer above has
 *     for that, or there, if it has room. Else its seat is taken.
 *
 * sigreturn puts back the alternate stack of the kernel thread that was
 * interrupted; the frame is patched to the one that we return on.
 *
 * A layer above may have something for a thread that computes: a hook, which the
 * handler calls when the thread goes on. A signal that meets the thread inside
 * the runtime does nothing, so what is wanted stays marked in its body until the
 * hook is called, and the monitor sends the signal again at each look. One that
 * has lost its VCPU while it blocked in the kernel, and may compute by now, waits
 * for another in the handler; its kernel thread is sent the signal by who takes
 * the VCPU and by who insists: one of the two sees what the other has stored. That
 * is sent once: what comes during the handler is handled after it (os/signal/signal.c),
 * and where it meets the thread inside the runtime, that is on its way to a VCPU,
 * on which the monitor finds it. (A post in a handler of the program's is not, see
 * wefti_enter_anywhere(): what comes during that waits for the thread's next call.)
 * One that may be in malloc does not wait for a VCPU, with malloc's lock: its kernel
 * thread goes into a stack, and the monitor, which takes all that is there at each
 * look, sends the signal again.
 *
 * The hook may run a handler of the program's, which may wait: so it is not called where
 * the thread may have a lock of malloc's or the loader's (sched/busy.c), but at the next
 * look. A signal of the program's that comes to the carrier (os/signal/caught.h) goes
 * the same way as ours, ends no slice, and is given back where the hook cannot be
 * called.
 *
 * A layer above may have a thread keep its VCPU past its slice. It is asked each
 * time, in the handler: so nothing is paid for it where no slice ends, and the
 * hook is called all the same. The monitor takes the VCPU of such a thread too,
 * when it blocks in the kernel.
 *
 * A light thread shares its carrier's TLS, addresses of which it may hold at
 * any instruction; it cannot move. The monitor takes its seat instead.
 *
 * Writers
 *   cold.preempt_insists  wefti_preempt_heard, wefti_preempt_insist;
 *       spawn.c: unite
 *   kthread.again  ask_again, wefti_preempt_again, wefti_preempt_leaves
 *   runtime.again  ask_again, wefti_preempt_again; spare.c: wefti_spares_reset
 *   vcpu.stat_preemptions  look_at_slice
 *   wefti_preempt_hook  pthread/init/start.c: start
 *   wefti_preempt_keeps  pthread/init/start.c: start
 *   wefti_preempt_room  pthread/init/start.c: start
 *
 * Pairs
 *   P1  insists is set; fence; load of attention. The seat is taken; fence; load
 *       of insists. One of the two sees the other. Model: tests/model/loom/c/spare.c.
 *
 * A kernel thread says itself whether it is in the stack and still wants the signal
 * (`again`): only it goes from NONE to WANTED, by a push; from WANTED to UNWANTED, when
 * its thread leaves it; and back. The monitor, which has taken it out and read its
 * link, sets NONE, and sends the signal after that: a handler that finds WANTED is
 * followed by another, and one that finds NONE pushes, and wakes the monitor (its P1).
 * The monitor takes all at once, so there is no ABA, and it does so before it frees a
 * kernel thread's record. A push is lock-free, all else wait-free. The model of this
 * stack is tests/model/loom/c/spare.c.
 */
#include "sched/preempt.h"

#include <errno.h>

#include "os/call/tid.h"
#include "os/object/text.h"
#include "os/signal/caught.h"
#include "os/signal/signal.h"
#include "os/tls/loader.h"
#include "sched/balance.h"
#include "sched/busy.h"
#include "sched/monitor.h"
#include "sched/park.h"
#include "sched/seat.h"
#include "sched/slice.h"
#include "signal_frame.h"
#include "thread/peek.h"

#define STUBBORN	8
#define HOPELESS	(4 * STUBBORN)	/* in malloc each time */

/* On a stack that has no guard: for the handlers that the hook may call. */
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

/* It may have been called where place() was not asked. */
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

/* That the kernel has called: it blocks more. A layer above calls them by itself. */
static int is_in_handler(const struct wefti_thread *self, const ucontext_t *uc)
{
	const uint64_t has = self->vcpu->kthread->mask;
	const uint64_t mask = wefti_os_ucontext_mask(uc);

	return !load_relaxed(&wefti_preempt_hook) && mask != has && !(has & ~mask);
}

/* May it yield, where it is? */
static int is_willing(struct wefti_thread *self, const ucontext_t *uc)
{
	const int has_loader = wefti_os_loader_is_held(self->tp);

	if (!has_loader && !is_bad_moment(self, uc))
		return 1;
	return ++self->cold->preempt_asked >= STUBBORN && !has_loader &&
	       !is_in_handler(self, uc) && !wefti_may_be_in_malloc(self, uc);
}

/* The layer above has it keep its VCPU. */
static int keeps(void)
{
	wefti_preempt_keeps_fn *fn = load_relaxed(&wefti_preempt_keeps);

	return fn && fn();
}

/*
 * Before the thread may leave k: k has its own mask again where the thread's lets
 * more in. Returns 1 if so; the thread then has its own wherever it goes on.
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

/* What is asked of the thread from now on is for the next time. */
static void call_hook(struct wefti_thread *self, ucontext_t *uc,
		      const siginfo_t *info)
{
	wefti_preempt_hook_fn *hook = load_relaxed(&wefti_preempt_hook);

	wefti_preempt_heard(self);
	if (hook)
		hook(uc, info);
}

/*
 * Blocked in the kernel, its VCPU taken, and wanted: it waits for one, here, and
 * goes on with it; the monitor will find it blocked again.
 */
static int regain_seat(struct wefti_thread *self, const ucontext_t *uc)
{
	int along = take_mask_along(self->cold->carrier, uc);

	wefti_enter_as(self);
	return along;
}

/*
 * It cannot wait here: the signal is to come again. Not where attention is what the
 * monitor has not gone back on yet, and the thread carried elsewhere: it has a VCPU.
 */
static void ask_again(struct wefti_kthread *k)
{
	struct wefti_kthread *top = load_relaxed(&wefti_rt.again);

	if (k->tid != wefti_os_gettid() ||
	    xchg_seq_cst(&k->again, WEFTI_AGAIN_WANTED) != WEFTI_AGAIN_NONE)
		return;
	do {
		k->again_next = top;
	} while (!cas_weak_seq_cst(&wefti_rt.again, &top, k));
	wefti_monitor_stir();
}

void wefti_preempt_again(void)
{
	struct wefti_kthread *next, *k = NULL;

	if (load_relaxed(&wefti_rt.again))
		k = xchg_seq_cst(&wefti_rt.again, NULL);
	for (; k; k = next) {
		next = k->again_next;
		if (xchg_seq_cst(&k->again, WEFTI_AGAIN_NONE) ==
		    WEFTI_AGAIN_WANTED)
			wefti_os_kthread_signal(k->tid,
						wefti_os_preempt_signal());
	}
}

/* In its VCPU, inside the runtime: is it to give way? */
static void look_at_slice(struct wefti_thread *self, const ucontext_t *uc)
{
	struct wefti_vcpu *v = self->vcpu;

	if (keeps() || !is_willing(self, uc))
		return;
	self->cold->preempt_asked = 0;
	wefti_slice_ends(self->cold, wefti_arch_ucontext_pc(uc));
	store_relaxed(&v->stat_preemptions,
		      load_relaxed(&v->stat_preemptions) + 1);
	wefti_balance_yield(self);
}

/*
 * Has a VCPU and is outside of the runtime after this. caught: it is not our signal,
 * but one that the program is to see, which is no end of a slice. Returns 1 if so; then
 * *along says that it has its own mask wherever it goes on.
 */
static int goes_on(struct wefti_thread *self, const ucontext_t *uc, int caught,
		   int ends_slice, int *along)
{
	if (!can_stop(self) || !is_at_its_place(self))
		return 0;
	if (wefti_try_enter(self) == 0) {
		*along = take_mask_along(self->vcpu->kthread, uc);
		if (ends_slice)
			look_at_slice(self, uc);
	} else if (!caught && !self->cold->preempt_insists) {
		return 0;
	} else if (wefti_is_busy(self, uc)) {
		ask_again(self->cold->carrier);
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
 * With a signal that the program is to see: caught. One that a call of the thread's own
 * has caused comes wherever that is; any other only where neither malloc nor the loader
 * has a lock, as the hook may have the thread wait. Ours comes again, soon; the others
 * are given back, to come so.
 */
static void handler(int sig, siginfo_t *info, void *context)
{
	const int caught = sig != wefti_os_preempt_signal();
	struct wefti_thread *self = wefti_self();
	ucontext_t *uc = context;
	const uint64_t mask = wefti_os_ucontext_mask(uc);
	int saved = errno, along, is_busy;

	if (!goes_on(self, uc, caught, !caught && !wefti_os_retry_is(info), &along)) {
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
	/* The thread may have moved, here or in what the hook has run. */
	wefti_os_altstack_patch(uc, NULL);
	if (along)
		wefti_os_ucontext_set_mask(uc, mask);
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
	/* t may have gone on and ended, and its slot have another's body. */
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
