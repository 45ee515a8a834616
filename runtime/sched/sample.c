/* SPDX-License-Identifier: MIT */
/*
 * sched/sample.c - what the monitor counts at each of its looks
 *
 * Each look stands for the time since the look before. So the sums are right on average,
 * as long as the looks do not keep time with what they look at. The first look after the
 * monitor's sleep stands for no time: a VCPU has just left idle, which is why it is there.
 *
 * Rejected: two clock reads at each idle and at each switch. They are exact, but a program
 * pays for them when nobody looks.
 *
 * Writers
 *   busy  wefti_sample, wefti_sample_start
 *   ready  wefti_sample, wefti_sample_start
 *   entry.id  count, forget_threads
 *   entry.ns  count, forget_threads
 *   count_until  wefti_sample_threads
 *
 * A reader takes an entry's id, its time, and its id again. With the same id at both, the
 * time is that thread's. The monitor writes id 0 before it gives an entry to another thread.
 */
#include "sched/sample.h"

#include "os/call/clock.h"
#include "sched/idle.h"
#include "sched/ready.h"
#include "thread/bare.h"
#include "thread/peek.h"

#define PROBES	16u	/* entries where a thread may be */

static int64_t looked_at;	/* the monitor's: 0: no look before */
static int64_t stands_for;	/* the same: the time of this look, in ns */
static int counts_threads;	/* the same, at this look */
static int64_t began;		/* set before others look */

static _Atomic uint64_t busy[WEFTI_VCPUS_MAX] TABLE;
static _Atomic uint64_t ready;
static _Atomic int64_t count_until;

static struct {
	_Atomic uint64_t id;
	_Atomic uint64_t ns;
} entry[WEFTI_SAMPLED_MOST] TABLE;

/* Else threads that ran long, and have ended since, would keep new ones out. */
static void forget_threads(void)
{
	for (unsigned i = 0; i < WEFTI_SAMPLED_MOST; i++) {
		store_seq_cst(&entry[i].id, 0);
		store_seq_cst(&entry[i].ns, 0);
	}
}

void wefti_sample_begin(int64_t now)
{
	const int counts = load_relaxed(&count_until) > now;

	stands_for = looked_at ? now - looked_at : 0;
	looked_at = now;
	if (counts && !counts_threads)
		forget_threads();
	counts_threads = counts;
}

void wefti_sample_pause(void)
{
	looked_at = 0;
}

void wefti_sample_start(void)
{
	began = wefti_os_now_ns();
	wefti_sample_pause();
	store_relaxed(&ready, 0);
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		store_relaxed(&busy[i], 0);
	forget_threads();
}

/* The thread's entry, or the one whose thread ran least of those where it may be. */
static unsigned find(uint64_t id)
{
	const unsigned first = (unsigned)(id * UINT64_C(0x9e3779b97f4a7c15) >> 56);
	unsigned best = first;

	for (unsigned i = 0; i < PROBES; i++) {
		const unsigned at = (first + i) % WEFTI_SAMPLED_MOST;

		if (load_relaxed(&entry[at].id) == id)
			return at;
		if (load_relaxed(&entry[at].ns) < load_relaxed(&entry[best].ns))
			best = at;
	}
	return best;
}

static void count(uint64_t id)
{
	const unsigned at = find(id);

	if (load_relaxed(&entry[at].id) != id) {
		store_seq_cst(&entry[at].id, 0);
		store_seq_cst(&entry[at].ns, 0);
		store_seq_cst(&entry[at].id, id);
	}
	store_seq_cst(&entry[at].ns,
		      load_relaxed(&entry[at].ns) + (uint64_t)stands_for);
}

void wefti_sample(const struct wefti_vcpu *v, int is_idle)
{
	const struct wefti_thread *t = load_relaxed(&v->current);
	const uint64_t waiting = wefti_ready_len_hint(v) + (wefti_next_hint(v) != NULL);

	if (stands_for <= 0)
		return;
	store_relaxed(&ready, load_relaxed(&ready) + waiting * (uint64_t)stands_for);
	if (is_idle)
		return;
	store_relaxed(&busy[v->index],
		      load_relaxed(&busy[v->index]) + (uint64_t)stands_for);
	if (counts_threads && t && wefti_peek_kind(t) != WEFTI_KIND_SCHED)
		count(wefti_peek_id(t));
}

int64_t wefti_sample_since(void)
{
	return began;
}

uint64_t wefti_sample_busy_ns(const struct wefti_vcpu *v)
{
	return load_relaxed(&busy[v->index]);
}

uint64_t wefti_sample_ready_ns(void)
{
	return load_relaxed(&ready);
}

void wefti_sample_threads(int64_t until)
{
	store_relaxed(&count_until, until);
}

uint64_t wefti_sample_thread(unsigned i, uint64_t *ns)
{
	const uint64_t id = load_seq_cst(&entry[i].id);

	*ns = load_seq_cst(&entry[i].ns);
	return load_seq_cst(&entry[i].id) == id ? id : 0;
}
