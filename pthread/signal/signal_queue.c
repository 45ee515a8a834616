/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/signal_queue.c - waiting signals, and which thread is to get them
 *
 * There is one lock for all, because few signals ever wait. It is held inside the
 * runtime, or with signals blocked.
 *
 * Structure
 *   The list of waiting signals (signal_list.c), for the process or for one thread, under the
 *   lock; and the bit SIGNAL in each thread's `urgent`: the thread has to look there.
 *
 * States of a waiting signal of the process, for the thread that is to get it
 *   LISTED  no thread lets it in
 *   MARKED  a thread has SIGNAL set, and is told, or is about to be
 *   TAKEN   out of the list
 *
 *   LISTED, MARKED --wefti_signal_get--> TAKEN
 *   MARKED --its thread does not want it, or ends: wefti_signals_pass_on--> MARKED, LISTED
 *
 * Writers
 *   pt.taking  wefti_signal_taken, wefti_signal_taking
 *   is_full  wefti_signal_get, wefti_signal_may_receive,
 *       wefti_signal_queue_forget
 *   is_used  begin_use, wefti_signal_queue_forget
 *   lock  wefti_signal_queue_forget
 *   turn  choose_running
 *
 * Invariants
 *   I1  The list changes under the lock, and so does SIGNAL of a thread that is chosen for a
 *       signal of the process.
 *   I2  A thread clears SIGNAL under the lock and looks through the list in the same hold of it.
 *       It sets SIGNAL again if more is there for it.
 *   I3  A thread that was MARKED, and blocks the signal now, or ends, hands it on: it finds
 *       SIGNAL set when it comes to the lock. So a signal that any thread lets in does not
 *       stay LISTED.
 *   I4  Outside of the lock a thread may be told in vain, never too seldom: it looks itself.
 *
 * Linearization
 *   A signal is sent where it comes into the list, and is taken where it goes out.
 *
 * Progress
 *   Blocking: the lock, for a walk over the list and, where the process is meant, over the
 *   threads.
 *
 * ABA and reclamation
 *   A thread is looked at by the generation of its struct, before and after. Entries of the
 *   list have their own pool (signal_list.c).
 *
 * Pairs
 *   P1  a thread that ends blocks all signals; light fence; it loads is_used. The first
 *       sender of the process sets is_used; heavy fence; it loads the masks. One of the two
 *       sees the other: the sender does not choose the thread, or the thread takes the lock
 *   All else by the lock. SIGNAL and a wait that begins: of self.c: P1.
 *   Model of P1: tests/model/loom/c/pt_queue.c.
 *
 * Source
 *   Which thread gets a signal is Linux's rule (kernel/signal.c, complete_signal).
 */
#include "pthread/signal/signal_queue.h"

#include <sys/syscall.h>
#include <time.h>

#include "mem/slot.h"
#include "pthread/core/hold.h"
#include "pthread/signal/signal_list.h"
#include "pthread/signal/thread_timer.h"
#include "sched/preempt.h"
#include "syscall.h"

static _Atomic uint32_t lock;
static _Atomic int is_full;	/* under the lock: a wake-up is due when there is room */
static _Atomic int is_used;	/* changes under the lock: a signal was ever sent here */

/*
 * Under the lock, before the first signal of the process is put into the list. From now on
 * a thread that ends takes the lock.
 */
static void begin_use(void)
{
	if (likely(load_relaxed(&is_used)))
		return;
	store_relaxed(&is_used, 1);
	wefti_membarrier_heavy();	/* P1 */
}

enum wefti_liking wefti_signal_likes(const struct wefti_thread *t, uint64_t bit)
{
	enum wefti_liking likes;
	uint32_t gen;
	const struct wefti_pt *pt = wefti_pt_peek(t, &gen);

	if (!pt)
		return WEFTI_IS_GONE;
	if (load_seq_cst(&pt->waited) & bit)
		likes = WEFTI_WAITS;
	else if (load_seq_cst(&pt->ended) && !load_seq_cst(&pt->outlives))
		return WEFTI_IS_GONE;
	else
		likes = load_seq_cst(&pt->mask) & bit ?		/* of create.c: P1 */
			WEFTI_BLOCKS : WEFTI_LETS_IN;
	/* A block that is made ready for the next thread blocks nothing for a moment. */
	return wefti_pt_is_same(t, gen) ? likes : WEFTI_IS_GONE;
}

/*
 * In this order: the first thread, as in the kernel; one that waits; the caller; another.
 */
struct wefti_thread *wefti_signal_choose(uint64_t bit)
{
	struct wefti_thread *best = NULL, *self = wefti_self();
	uint32_t limit = wefti_slot_limit();

	if (wefti_signal_likes(wefti_rt.main, bit) >= WEFTI_LETS_IN)
		return wefti_rt.main;
	if (wefti_signal_likes(self, bit) == WEFTI_LETS_IN)
		best = self;
	for (uint32_t i = 1; i < limit; i++) {
		struct wefti_thread *t = wefti_slot_get(i);
		enum wefti_liking l = wefti_signal_likes(t, bit);

		if (l == WEFTI_WAITS)
			return t;
		if (l == WEFTI_LETS_IN && !best)
			best = t;
	}
	return best;
}

/* A running thread that lets the signal in, or NULL. Begins at another VCPU each time. */
static struct wefti_thread *choose_running(uint64_t bit)
{
	static _Atomic uint32_t turn;
	const uint32_t first = fetch_add_relaxed(&turn, 1);

	for (uint32_t i = 0; i < wefti_rt.vcpu_count; i++) {
		const struct wefti_vcpu *v =
			wefti_vcpu_at((first + i) % wefti_rt.vcpu_count);
		struct wefti_thread *t = v ? load_seq_cst(&v->current) : NULL;

		if (wefti_signal_likes(t, bit) == WEFTI_LETS_IN)
			return t;
	}
	return NULL;
}

/*
 * The kernel sends these to the thread that runs when ITIMER_PROF, ITIMER_VIRTUAL or
 * RLIMIT_CPU expires. The first thread may be waiting. It would get a VCPU only from the
 * running thread, which is the one that has to be told.
 */
static int is_of_cpu_time(const siginfo_t *info)
{
	return info->si_code == SI_KERNEL &&
	       (info->si_signo == SIGPROF || info->si_signo == SIGVTALRM ||
		info->si_signo == SIGXCPU);
}

struct wefti_thread *wefti_signal_choose_for(const siginfo_t *info)
{
	const uint64_t bit = WEFTI_SIGNAL_BIT(info->si_signo);
	struct wefti_thread *t = wefti_signal_choose(bit), *running = NULL;

	if (t && is_of_cpu_time(info) &&
	    wefti_signal_likes(t, bit) == WEFTI_LETS_IN)
		running = choose_running(bit);
	return running ? running : t;
}

/*
 * Under the lock in which t was chosen. If t blocks the signal or ends after that, it takes
 * the lock too, finds the mark, and passes the signal on. So it is told at any rate.
 */
static void mark(struct wefti_thread *t)
{
	if (t)
		fetch_or_seq_cst(&wefti_pt_of(t)->urgent, WEFTI_URGENT_SIGNAL);
}

static void tell(struct wefti_thread *t)
{
	wefti_pt_urge(t, WEFTI_URGENT_SIGNAL);
}

void wefti_signals_pass_on(uint64_t numbers)
{
	for (; numbers; numbers &= numbers - 1) {
		struct wefti_hold h = wefti_hold_enter(&lock);
		struct wefti_thread *t = wefti_signal_choose(numbers & -numbers);

		mark(t);
		wefti_hold_leave(&lock, h);
		if (t)
			tell(t);
	}
}

static int send(struct wefti_thread *to, const siginfo_t *info, int is_received)
{
	uint64_t bit = WEFTI_SIGNAL_BIT(info->si_signo);
	struct wefti_hold h = wefti_hold_enter(&lock);
	struct wefti_thread *t;
	int error;

	begin_use();
	error = wefti_signal_list_put(to, info, is_received);
	t = to ? to : wefti_signal_choose_for(info);
	if (!error && !to)
		mark(t);
	wefti_hold_leave(&lock, h);
	if (!error && t && (!to || wefti_signal_likes(t, bit) >= WEFTI_LETS_IN))
		tell(t);
	return error;
}

int wefti_signal_send(struct wefti_thread *to, const siginfo_t *info)
{
	return send(to, info, 0);
}

void wefti_signal_received(const siginfo_t *info)
{
	(void)send(NULL, info, 1);
}

void wefti_signal_received_here(const siginfo_t *info)
{
	(void)send(wefti_self(), info, 1);
}

int wefti_signal_may_receive(void)
{
	struct wefti_hold h = wefti_hold_enter(&lock);
	int may = wefti_signal_list_has_room();

	store_relaxed(&is_full, !may);
	wefti_hold_leave(&lock, h);
	return may;
}

void wefti_signals_fetch(_Atomic uint64_t *left, uint64_t signals)
{
	const struct timespec none = { 0, 0 };
	struct wefti_hold h = wefti_hold_enter(&lock);
	siginfo_t info;

	begin_use();
	/* If the receiver may take these, it may hold an older signal of the number. */
	signals &= load_seq_cst(left);
	while (signals && wefti_signal_list_has_room() &&
	       wefti_arch_syscall(SYS_rt_sigtimedwait, (long)&signals, (long)&info,
				  (long)&none, sizeof(signals), 0, 0) > 0)
		(void)wefti_signal_list_put(NULL, &info, 1);
	fetch_and_seq_cst(left, ~signals);
	wefti_hold_leave(&lock, h);
}

/*
 * Marks the caller again if signals still wait that it may want. Returns the signals that
 * the caller was told of and no longer wants: another thread may want them.
 */
static uint64_t mark_rest(int was_told)
{
	const uint64_t wanted = ~load_relaxed(&wefti_pt.mask) |
				load_relaxed(&wefti_pt.waited);

	if (wefti_signal_list_for(wefti_self()) & wanted)
		fetch_or_seq_cst(&wefti_pt.urgent, WEFTI_URGENT_SIGNAL);
	return was_told ? wefti_signal_list_for_process() & ~wanted : 0;
}

/* Takes the first signal of the set that waits for the caller. */
int wefti_signal_get(uint64_t set, int waits, siginfo_t *info)
{
	struct wefti_hold h = wefti_hold_enter(&lock);
	uint32_t urgent = fetch_and_seq_cst(&wefti_pt.urgent,
					    ~WEFTI_URGENT_SIGNAL);
	int signal = wefti_signal_list_get(wefti_self(), set, info);
	int has_room_again = signal && load_relaxed(&is_full);
	uint64_t others;

	if (waits)
		store_seq_cst(&wefti_pt.waited, signal ? 0 : set);
	if (has_room_again)
		store_relaxed(&is_full, 0);
	others = mark_rest(urgent & WEFTI_URGENT_SIGNAL);
	wefti_hold_leave(&lock, h);
	if (signal && unlikely(info->si_code == SI_TIMER))
		wefti_thread_timer_taken(info);
	if (has_room_again)
		wefti_signals_wake_receiver();
	wefti_signals_pass_on(others);
	return signal;
}

uint64_t wefti_signals_pending(void)
{
	struct wefti_hold h = wefti_hold_enter(&lock);
	uint64_t pending = wefti_signal_list_for(wefti_self());

	wefti_hold_leave(&lock, h);
	return pending;
}

void wefti_signals_discard(int signal)
{
	struct wefti_hold h = wefti_hold_enter(&lock);

	wefti_signal_list_discard(signal);
	wefti_hold_leave(&lock, h);
}

static NOINLINE void leave_signals(void)
{
	struct wefti_hold h = wefti_hold_enter(&lock);
	uint64_t others = 0;

	wefti_signal_list_end_thread(wefti_self());
	if (wefti_pt_is_urgent(WEFTI_URGENT_SIGNAL))
		others = wefti_signal_list_for_process();
	wefti_hold_leave(&lock, h);
	wefti_signals_pass_on(others);
}

/* Signals that were sent to the caller alone are lost, as in the kernel. */
void wefti_signals_thread_ends(void)
{
	store_relaxed(&wefti_pt.mask, ~UINT64_C(0));
	wefti_membarrier_light();	/* P1 */
	if (unlikely(load_relaxed(&is_used)))
		leave_signals();
}

void wefti_signal_queue_forget(void)
{
	wefti_signal_list_forget();
	store_relaxed(&is_used, 0);
	store_relaxed(&is_full, 0);
	store_seq_cst(&lock, 0);
}
