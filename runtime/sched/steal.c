/* SPDX-License-Identifier: MIT */
/*
 * sched/steal.c - the searching VCPU looks through the others' queues
 *
 * The searcher tries the parents and the rings first, and takes half of one at a time:
 * the oldest parent is the biggest piece of work. It takes the `next` of a VCPU only if
 * that VCPU made no switch between two rounds, some 200 ns. A thread that wakes another
 * and waits has made a switch by then; a thread that computes has not. A thread that
 * was handed a mutex should not wait in `next` for such a thread. One VCPU searches at
 * a time, for a bounded time, and then idles.
 *
 * While all other VCPUs idle, their queues stay empty. Threads then come from outside
 * alone: from a deadline, a descriptor, a foreign thread, or a kernel thread that has
 * lost its seat. A VCPU that searches nevertheless only puts its sleep off. That pays if
 * something comes soon, as the sleep costs more. So the VCPU notes how long it has idled
 * behind each such search, and searches for a shorter time if that was long. There is no
 * risk in a short search, since going idle includes a look at every source (idle.c: I1).
 *
 * A VCPU whose only thread does nothing but yield never searches, but that thread may
 * wait for one that is ready on another VCPU, behind a thread that computes. So now and
 * then the VCPU glances at one other VCPU, without the searching role. Whatever it
 * takes goes to its own queues and is announced after that, as by any producer (of
 * idle.c: I7). So it is with a VCPU that takes its share of threads that compute
 * (sched/balance.c).
 *
 * Writers
 *   runtime.announcer  steal_next_of, was_called_in_vain;
 *       idle.h: wefti_idle_announce_next; init/start.c: reset
 *   vcpu.next_shift  steal_next_of, was_called_in_vain; idle.h: wefti_idle_trust_next
 *   vcpu.stat_steals  count_steal
 */
#include "sched/steal.h"

#include <string.h>

#include "os/call/clock.h"
#include "sched/policy.h"
#include "sched/ready.h"
#include "sched/switch.h"
#include "sched/timer.h"

/* v, which will run t, has taken n threads from another VCPU. */
static void count_steal(struct wefti_vcpu *v, const struct wefti_vcpu *from, unsigned n,
			const struct wefti_thread *t)
{
	if (n)
		WEFTI_PROBE_THREAD(WEFTI_EVENT_STEAL, t, n);
	if (n && wefti_records(v))
		wefti_recorded(v, WEFTI_EVENT_STEAL, n, wefti_thread_id(t), from->index);
	store_relaxed(&v->stat_steals, load_relaxed(&v->stat_steals) + n);
}

/* Moves half of a ring to the same ring of v, and returns the oldest thread. */
static struct wefti_thread *steal_half(struct wefti_vcpu *v,
		struct wefti_vcpu *victim, struct wefti_ring *from,
		struct wefti_ring *to)
{
	struct wefti_thread *t = NULL;
	unsigned n;

	if (wefti_ring_len_hint(from)) {
		n = wefti_ring_steal(from, to, &t);
		count_steal(v, victim, n, t);
	}
	return t;
}

static struct wefti_thread *steal_queued_of(struct wefti_vcpu *v,
					    struct wefti_vcpu *from)
{
	struct wefti_thread *t = steal_half(v, from, &from->parents, &v->parents);

	return t ? t : steal_half(v, from, &from->ring, &v->ring);
}

static struct wefti_thread *steal_queued(struct wefti_vcpu *v)
{
	unsigned n = wefti_rt.vcpu_count;
	unsigned first = wefti_vcpu_random(v) % n;
	struct wefti_thread *t = NULL;

	for (unsigned i = 0; i < n && !t; i++) {
		struct wefti_vcpu *from = wefti_vcpu_at((first + i) % n);

		if (from != v)
			t = steal_queued_of(v, from);
	}
	return t;
}

/* What a VCPU's `next` looked like in the last round. */
struct sighting {
	struct wefti_thread *t;
	uint64_t ticks;
};

static struct wefti_thread *steal_next_of(struct wefti_vcpu *v,
					  struct wefti_vcpu *from,
					  struct sighting *seen)
{
	struct sighting now = {
		wefti_next_hint(from), load_relaxed(&from->ticks),
	};

	if (now.t && now.t == seen->t && now.ticks == seen->ticks &&
	    cas_seq_cst(&from->next, &now.t, NULL)) {
		store_relaxed(&from->next_shift, 0);
		wefti_next_lay(from);
		store_relaxed(&wefti_rt.announcer, 0);
		count_steal(v, from, 1, now.t);
		return now.t;
	}
	*seen = now;
	return NULL;
}

static struct wefti_thread *steal_next(struct wefti_vcpu *v,
				       struct sighting *seen)
{
	struct wefti_thread *t = NULL;

	for (unsigned i = 0; i < wefti_rt.vcpu_count && !t; i++)
		if (i != v->index)
			t = steal_next_of(v, wefti_vcpu_at(i), &seen[i]);
	return t;
}

static void pause_between(void)
{
	for (int i = 0; i < WEFTI_SEARCH_PAUSES; i++)
		wefti_arch_pause();
}

struct wefti_thread *wefti_steal_glance(struct wefti_vcpu *v)
{
	struct wefti_vcpu *from = wefti_vcpu_at(wefti_vcpu_random(v) %
						wefti_rt.vcpu_count);
	struct sighting seen = { NULL, 0 };
	struct wefti_thread *t;

	if (from == v)
		return NULL;
	t = steal_queued_of(v, from);
	if (!t && wefti_next_hint(from)) {
		(void)steal_next_of(v, from, &seen);
		pause_between();
		t = steal_next_of(v, from, &seen);
	}
	return t;
}

static struct wefti_thread *steal_one_of(struct wefti_vcpu *from)
{
	struct wefti_thread *t = wefti_ring_steal_one(&from->ring);

	return t ? t : wefti_ring_steal_one(&from->parents);
}

struct wefti_thread *wefti_steal_share(struct wefti_vcpu *v, struct wefti_vcpu *from,
				       unsigned n)
{
	struct wefti_thread *first = steal_one_of(from), *t;
	unsigned taken = first != NULL;

	while (first && taken < n && (t = steal_one_of(from))) {
		wefti_ready_last(v, t);
		taken++;
	}
	count_steal(v, from, taken, first);
	return first;
}

/* Nothing was found. See wefti_idle_announce_next(). */
static void was_called_in_vain(void)
{
	uint32_t announcer = xchg_relaxed(&wefti_rt.announcer, 0);
	struct wefti_vcpu *from;
	uint32_t shift;

	if (!announcer)
		return;		/* the searcher was not called; it came by itself */
	from = wefti_vcpu_at(announcer - 1);
	shift = load_relaxed(&from->next_shift);
	if (shift < WEFTI_NEXT_SHIFT_MOST)
		store_relaxed(&from->next_shift, shift + 1);
}

/* All other VCPUs idle: how many rounds does v make? */
static int quiet_rounds(const struct wefti_vcpu *v)
{
	int64_t next = wefti_timers_earliest();

	if (next != INT64_MAX && next - wefti_os_now_ns() < WEFTI_SEARCH_NS)
		return WEFTI_SEARCH_ROUNDS;
	return WEFTI_SEARCH_ROUNDS >> v->quiet_shift;
}

void wefti_steal_note_idled(struct wefti_vcpu *v)
{
	int64_t since = v->quiet_since;

	if (!since)
		return;
	v->quiet_since = 0;
	if (wefti_os_now_ns() - since < WEFTI_SEARCH_PAYS_NS)
		v->quiet_shift = 0;
	else if (v->quiet_shift < WEFTI_QUIET_SHIFT_MOST)
		v->quiet_shift++;
}

struct wefti_thread *wefti_steal(struct wefti_vcpu *v)
{
	struct sighting seen[WEFTI_VCPUS_MAX];
	int rounds = WEFTI_SEARCH_ROUNDS, is_quiet = 0;
	struct wefti_thread *t;

	memset(seen, 0, wefti_rt.vcpu_count * sizeof(seen[0]));
	for (int round = 0; ; round++) {
		t = wefti_pick_injected(v);
		if (!t)
			t = steal_queued(v);
		if (!t)
			t = steal_next(v, seen);
		if (t)
			return t;
		if (round % WEFTI_SEARCH_TIMERS == 0)
			wefti_timers_run_all();
		if (wefti_next_hint(v) || wefti_ready_len_hint(v) > 0 ||
		    load_relaxed(&wefti_rt.state) == WEFTI_RT_STOPPING)
			return wefti_pick_slow(v);
		if (!is_quiet && wefti_idle_all_others()) {
			is_quiet = 1;
			rounds = quiet_rounds(v);
		}
		if (round + 1 >= rounds)
			break;
		pause_between();
	}
	was_called_in_vain();
	v->quiet_since = is_quiet ? wefti_os_now_ns() : 0;
	return NULL;
}
