/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal_queue.c - signals wait for a thread, and whom they wait for
 *
 * One queue for all, under one lock, since few signals ever wait. The lock is
 * held inside the runtime, or with signals blocked.
 */
#include "pthread/signal_queue.h"

#include <errno.h>
#include <string.h>

#include "mem/slot.h"
#include "pthread/hold.h"
#include "sched/preempt.h"
#include "thread/bare.h"

#define QUEUE		256
#define FIRST_RT	32

struct waiting {
	struct wefti_thread *to;	/* NULL: the process */
	uint32_t gen;			/* of that */
	siginfo_t info;
};

/* Under the lock. */
static struct waiting queue[QUEUE];
static unsigned queued;
static _Atomic uint32_t lock_word;

static struct wefti_hold lock(void)
{
	struct wefti_hold h = wefti_hold_begin();

	wefti_hold_lock(&lock_word);
	return h;
}

static void unlock(struct wefti_hold h)
{
	wefti_hold_unlock(&lock_word);
	wefti_hold_end(h);
}

static int is_for(const struct waiting *w, const struct wefti_thread *t)
{
	return !w->to || (w->to == t && w->gen == load_relaxed(&t->gen));
}

/* Its thread ended while it came: it is no signal of the next in the struct. */
static void drop_those_of_none(void)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < queued; i++)
		if (!queue[i].to || is_for(&queue[i], queue[i].to))
			queue[kept++] = queue[i];
	queued = kept;
}

static int put(struct wefti_thread *to, const siginfo_t *info)
{
	drop_those_of_none();
	if (info->si_signo < FIRST_RT)
		for (unsigned i = 0; i < queued; i++)
			if (queue[i].to == to &&
			    queue[i].info.si_signo == info->si_signo)
				return 0;	/* waits already */
	if (queued == QUEUE)
		return EAGAIN;
	queue[queued++] = (struct waiting){
		to, to ? load_relaxed(&to->gen) : 0, *info,
	};
	return 0;
}

/* The oldest in the set for t; returns its number, or 0. */
static int get(const struct wefti_thread *t, uint64_t set, siginfo_t *info)
{
	for (unsigned i = 0; i < queued; i++) {
		int signal = queue[i].info.si_signo;

		if (!is_for(&queue[i], t) || !(set & WEFTI_SIGNAL_BIT(signal)))
			continue;
		*info = queue[i].info;
		memmove(&queue[i], &queue[i + 1],
			(--queued - i) * sizeof(*queue));
		return signal;
	}
	return 0;
}

static int has(const struct wefti_thread *t, uint64_t set)
{
	for (unsigned i = 0; i < queued; i++)
		if (is_for(&queue[i], t) &&
		    (set & WEFTI_SIGNAL_BIT(queue[i].info.si_signo)))
			return 1;
	return 0;
}

enum wefti_liking wefti_signal_likes(const struct wefti_thread *t, uint64_t bit)
{
	struct wefti_pt *pt;

	if (!t || !(load_relaxed(&t->gen) & 1) || !t->tp ||
	    (t->kind != WEFTI_KIND_GREEN && t->kind != WEFTI_KIND_MAIN))
		return WEFTI_IS_GONE;
	pt = wefti_pt_of(t);
	if (load_seq_cst(&pt->waited) & bit)
		return WEFTI_WAITS;
	if (load_relaxed(&pt->ended))
		return WEFTI_IS_GONE;
	return load_seq_cst(&pt->mask) & bit ? WEFTI_BLOCKS : WEFTI_LETS_IN;
}

/* The first thread before others, the one that waits before all. */
struct wefti_thread *wefti_signal_choose(uint64_t bit)
{
	struct wefti_thread *best = NULL, *self = wefti_self();
	uint32_t limit = wefti_slot_limit();
	enum wefti_liking most = WEFTI_BLOCKS;

	if (self && wefti_signal_likes(self, bit) == WEFTI_LETS_IN)
		return self;
	for (uint32_t i = 0; i < limit && most < WEFTI_WAITS; i++) {
		struct wefti_thread *t = i ? wefti_slot_get(i) : wefti_rt.main;
		enum wefti_liking l = wefti_signal_likes(t, bit);

		if (l > most) {
			most = l;
			best = t;
		}
	}
	return best;
}

/* One that runs now and lets it in, on another VCPU each time; or NULL. */
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
 * The kernel sends these to whatever thread runs when ITIMER_VIRTUAL or RLIMIT_CPU
 * is over. The first thread may wait, and would have to be given a VCPU by the one
 * that is to hear of it.
 */
static int is_of_cpu_time(const siginfo_t *info)
{
	return info->si_code == SI_KERNEL &&
	       (info->si_signo == SIGVTALRM || info->si_signo == SIGXCPU);
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

static void tell(struct wefti_thread *t)
{
	wefti_pt_urge(t, WEFTI_URGENT_SIGNAL);
}

int wefti_signal_send(struct wefti_thread *to, const siginfo_t *info)
{
	uint64_t bit = WEFTI_SIGNAL_BIT(info->si_signo);
	struct wefti_hold h = lock();
	int error = put(to, info);
	struct wefti_thread *t = to ? to : wefti_signal_choose_for(info);

	unlock(h);
	if (!error && t && wefti_signal_likes(t, bit) >= WEFTI_LETS_IN)
		tell(t);
	return error;
}

/* Of those that wait for the caller, the oldest in the set. */
int wefti_signal_get(uint64_t set, int waits, siginfo_t *info)
{
	struct wefti_thread *self = wefti_self();
	struct wefti_hold h = lock();
	int signal;

	fetch_and_seq_cst(&wefti_pt.urgent, ~WEFTI_URGENT_SIGNAL);
	signal = get(self, set, info);
	if (waits)
		store_seq_cst(&wefti_pt.waited, signal ? 0 : set);
	else if (has(self, load_relaxed(&wefti_pt.waited)))
		/* A handler's look, in the middle of sigwait(). */
		fetch_or_seq_cst(&wefti_pt.urgent, WEFTI_URGENT_SIGNAL);
	unlock(h);
	return signal;
}

uint64_t wefti_signals_pending(void)
{
	struct wefti_thread *self = wefti_self();
	struct wefti_hold h = lock();
	uint64_t pending = 0;

	for (unsigned i = 0; i < queued; i++)
		if (is_for(&queue[i], self))
			pending |= WEFTI_SIGNAL_BIT(queue[i].info.si_signo);
	unlock(h);
	return pending;
}

/* What was sent to it alone is lost, as in the kernel. */
void wefti_signals_thread_ends(void)
{
	struct wefti_thread *self = wefti_self();
	struct wefti_hold h = lock();
	unsigned kept = 0;

	store_seq_cst(&wefti_pt.mask, ~UINT64_C(0));
	for (unsigned i = 0; i < queued; i++)
		if (queue[i].to != self)
			queue[kept++] = queue[i];
	queued = kept;
	unlock(h);
}

void wefti_signal_queue_forget(void)
{
	queued = 0;
	store_seq_cst(&lock_word, 0);
}
