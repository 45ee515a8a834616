/* SPDX-License-Identifier: MIT */
/*
 * sched/idle.c - the idle protocol: no work is lost while VCPUs fall asleep
 *
 * Producers of work. Each announces the work after it has published (P1):
 *   1. a VCPU that makes a thread ready: wefti_ready*, a summons, spawn_last
 *      (sched/ready.c, sched/summons.c, life/spawn.c)
 *   2. a kernel thread without a VCPU, or a thread that leaves its VCPU for any other:
 *      the injection queue (wefti_inject). It wakes the monitor too (I4)
 *   3. a searcher that found work, for what it leaves behind (wefti_idle_found)
 *   4. a VCPU that moved others' threads to its own queue without searching
 *      (sched/park.c: glance)
 *   5. a server of a heap or the poller, for the threads that it makes ready
 *   6. the monitor, in the place of any of these that was stopped
 * Exceptions: `next` is seldom announced (idle.h), and the two threads of I7 never are.
 * A yield announces nothing: it leaves no more work than there was (sched/park.c).
 *
 * Consumers that go to sleep. Each publishes its state and looks again (P1):
 *   1. a VCPU whose loop found nothing (wefti_idle_wait): on its futex
 *   2. among these, the keeper of the time: on its futex until the earliest deadline, or
 *      in epoll if the poller is on (sleep_on)
 *   3. the monitor, when all VCPUs idle (sched/monitor.c: sleep_while_idle)
 *
 * Structure
 *   idle[]      one bit for each VCPU; idle_count is the number of bits
 *   searching   1 while one VCPU searches the queues of the others
 *   vcpu->wake  futex of an idle VCPU. The thread that clears its bit counts it up, and so
 *               does one that wakes the keeper. A VCPU that sees a change looks for work
 *               again; there may be none
 *
 * States of a VCPU
 *   BUSY       runs threads
 *   SEARCHING  looks for work. At most one VCPU does, and owns `searching` (but see I4)
 *   IDLE       its bit is set
 *
 *   BUSY --found nothing, searching 0 -> 1--> SEARCHING
 *   SEARCHING --found--> BUSY: searching = 0, then looks if more is there
 *   BUSY, SEARCHING --> IDLE: searching = 0 if it was SEARCHING, count, bit, fence,
 *   a look at every source, futex
 *   IDLE --an announcer sets searching, then clears the bit--> SEARCHING
 *   IDLE --clears its own bit--> BUSY
 *
 * Writers
 *   runtime.idle  claim_idle, unidle, wefti_idle_wait; init/start.c: reset
 *   runtime.idle_count  claim_idle, unidle, wefti_idle_wait;
 *       init/start.c: reset
 *   runtime.searching  wefti_idle_found, wefti_idle_take_search,
 *       wefti_idle_wait, wefti_idle_wake_another, wefti_idle_wake_one;
 *       init/start.c: reset
 *   vcpu.stat_wakes  wefti_idle_wake_one
 *   vcpu.wake  poller.c: wefti_poller_wake_vcpu
 *
 * Invariants
 *   I1  Work that was published before an announcement's fence is seen by one of three:
 *       by that announcement, which wakes a VCPU; by the searching VCPU; or by the last
 *       look of the VCPU that went idle last.
 *   I2  The thread that clears a bit is responsible for waking that VCPU. An announcer
 *       does it by the futex; the VCPU itself, by not sleeping. A VCPU that finds its
 *       bit cleared goes on, even before the futex is touched.
 *   I3  searching is 1 from the announcer's CAS until the VCPU that it woke has found
 *       work or idles again.
 *
 *   I4  A kernel thread may be stopped while work relies on it: it searches; or it has
 *       been woken or is going idle, and has not looked yet. It keeps idle VCPUs asleep
 *       for at most two looks of the monitor. The monitor then wakes another VCPU in
 *       its place, or several for a thread in `next` (sched/scarce.c). The monitor does
 *       not sleep while work waits or a VCPU does not idle, and a thread that injects
 *       work wakes it. Two VCPUs may then search at once, which is harmless: searching
 *       may become 0 too early, and then too many VCPUs are woken. It never stays 1
 *       without a searcher.
 *   I5  idle_count is never less than the number of bits. Otherwise a VCPU stopped
 *       between the two updates would make announcers miss another VCPU that sleeps. It
 *       may be more, even for good; then announcers look in vain.
 *   I6  The keeper of the time may also be stopped anywhere. The monitor then does what
 *       is overdue in its place (sched/monitor.c).
 *   I7  Two threads are announced to nobody: the one that a searching VCPU has found,
 *       and the one in `next` that a scheduler loop has made ready. This is safe
 *       because the loop runs that thread at once: it does not look elsewhere, and does
 *       not idle, before that (sched/loop.c: find; carry calls it again unless the
 *       runtime stops). Code that takes a thread out of a queue and does not run it
 *       must publish it again, as a producer (sched/park.c: glance).
 *
 *   I8  No VCPU waits awake for another. While there is a searcher, the threads in the
 *       rings are the searcher's, and a VCPU sleeps in spite of them: the searcher looks
 *       again behind its `searching = 0`, and wakes a VCPU for what is left. What is due
 *       in a heap with a server is the server's (sched/timer.c: I5). Anything else that
 *       keeps a VCPU awake it can do itself, without `searching`. Otherwise a VCPU could
 *       keep the searcher or the server from its CPU, for ever if their kernel threads
 *       have the same real-time priority.
 *
 * Linearization
 *   Going idle: when the bit is set. Being woken: when it is cleared.
 *
 * Progress
 *   An announcement is wait-free except for the loop in wake_one, which repeats only if
 *   another VCPU went idle meanwhile. No kernel thread waits for another, except on the
 *   futex.
 *
 * ABA and reclamation
 *   Bits and counts only; VCPUs live as long as the runtime.
 *
 * Pairs
 *   P1  producer: publish; fence; load idle_count, searching. A VCPU that moves others'
 *                 threads to its own queue without searching is one (sched/steal.c)
 *       VCPU: searching = 0, idle bit; fence; look at every source, and at searching
 *       At least one of the two sees the other. Everything rests on the producer's fence:
 *       without it the wake-up is lost.
 *
 * Source
 *   The idle protocol of Go's and Tokio's schedulers. Theirs too is the rule that a
 *   searcher that finds work passes its role on, because producers relied on it.
 *   Models: tests/model (idle, keeper).
 */
#include "sched/idle.h"

#include "os/call/clock.h"
#include "os/call/futex.h"
#include "sched/monitor.h"
#include "sched/poller.h"
#include "sched/record.h"
#include "sched/timer.h"

/* Clears one bit and returns its VCPU, or NULL if none is set. */
static struct wefti_vcpu *claim_idle(void)
{
	for (unsigned w = 0; w < WEFTI_IDLE_WORDS; w++) {
		uint64_t bits = load_relaxed(&wefti_rt.idle[w]);

		while (bits) {
			uint64_t bit = bits & -bits;

			bits = fetch_and_seq_cst(&wefti_rt.idle[w], ~bit);
			if (bits & bit) {
				fetch_sub_seq_cst(&wefti_rt.idle_count, 1);
				return wefti_vcpu_at(w * 64 +
					(unsigned)__builtin_ctzll(bit));
			}
		}
	}
	return NULL;
}

int wefti_idle_any(void)
{
	for (unsigned w = 0; w < WEFTI_IDLE_WORDS; w++)
		if (load_relaxed(&wefti_rt.idle[w]))
			return 1;
	return 0;
}

/* Counts the bits: idle_count may be too high (I5). */
int wefti_idle_all(void)
{
	unsigned idle = 0;

	for (unsigned w = 0; w < WEFTI_IDLE_WORDS; w++)
		idle += (unsigned)__builtin_popcountll(
			load_seq_cst(&wefti_rt.idle[w]));
	return idle == wefti_rt.vcpu_count;
}

/* Where I5 makes it wrong, a search is too short. */
int wefti_idle_all_others(void)
{
	return load_relaxed(&wefti_rt.idle_count) + 1 >= wefti_rt.vcpu_count;
}

COLD void wefti_idle_wake_one(void)
{
	do {
		uint32_t none = 0;

		if (!cas_seq_cst(&wefti_rt.searching, &none, 1))
			return;

		struct wefti_vcpu *v = claim_idle();

		if (v) {
			fetch_add_relaxed(&v->stat_wakes, 1);
			WEFTI_PROBE(WEFTI_EVENT_WAKE, v->index, 0);
			if (wefti_records_any())
				wefti_recorded(wefti_recorder_vcpu(), WEFTI_EVENT_WAKE,
					       v->index, wefti_recorder_self(), 0);
			wefti_poller_wake_vcpu(v);
			wefti_monitor_wake_if_asleep();	/* I4, if v does not run */
			return;
		}
		store_seq_cst(&wefti_rt.searching, 0);
		/* A producer that saw 1 meanwhile relied on us: look again. */
		fence_seq_cst();	/* P1 */
	} while (wefti_idle_any());
}

void wefti_idle_wake_another(void)
{
	store_seq_cst(&wefti_rt.searching, 0);	/* I4 */
	fence_seq_cst();	/* P1 */
	wefti_idle_wake_one();
}

COLD void wefti_idle_time_heirs(struct wefti_vcpu *v)
{
	int64_t now = wefti_os_now_ns();

	if (now - v->heirs_at < WEFTI_HEIRS * WEFTI_HEIR_LIES_NS)
		v->heirs_near = WEFTI_HEIRS_NEAR;
	else if (v->heirs_near)		/* or this thread was interrupted, or idle */
		v->heirs_near--;
	v->heirs_at = now;
}

static int any_is_queued(void)
{
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		if (wefti_ready_len_hint(wefti_vcpu_at(i)) > 0)
			return 1;
	return 0;
}

int wefti_idle_work_waits(void)
{
	return !wefti_fifo_is_empty(&wefti_rt.inject) || any_is_queued();
}

/* May a VCPU that goes idle take some of the work? I8 */
static int work_is_free(void)
{
	if (!wefti_fifo_is_empty(&wefti_rt.inject))
		return 1;
	return !load_seq_cst(&wefti_rt.searching) && any_is_queued();	/* P1 */
}

int wefti_idle_take_search(void)
{
	uint32_t none = 0;

	return load_relaxed(&wefti_rt.searching) == 0 &&
	       cas_seq_cst(&wefti_rt.searching, &none, 1);
}

static int work_is_left(void)
{
	return load_relaxed(&wefti_rt.idle_count) && wefti_idle_work_waits();
}

void wefti_idle_found(void)
{
	store_seq_cst(&wefti_rt.searching, 0);
	fence_seq_cst();	/* P1: the producer of what it leaves behind */
	if (work_is_left())
		wefti_idle_wake_one();
}

void wefti_idle_pass_search_on(void)
{
	static int seen;
	const int is_left = work_is_left();

	if (is_left && seen)
		wefti_idle_found();
	seen = is_left && !seen;
}

static uint64_t idle_bit(const struct wefti_vcpu *v)
{
	return UINT64_C(1) << v->index % 64;
}

/* Clears its own bit. Returns 0 if an announcer did so first. */
static int unidle(struct wefti_vcpu *v)
{
	_Atomic uint64_t *word = &wefti_rt.idle[v->index / 64];

	if (!(fetch_and_seq_cst(word, ~idle_bit(v)) & idle_bit(v)))
		return 0;
	fetch_sub_seq_cst(&wefti_rt.idle_count, 1);
	return 1;
}

/*
 * Sleeps until it is woken, a timer is due, or a descriptor is ready. One idle VCPU
 * keeps the time and the poller for all; it gives the role back when it wakes.
 */
static void sleep_on(struct wefti_vcpu *v, uint32_t seen,
		     struct wefti_poll_batch *batch)
{
	uint32_t nobody = 0;

	if (!cas_seq_cst(&wefti_rt.timekeeper, &nobody, v->index + 1)) {
		wefti_os_futex_wait(&v->wake, seen, INT64_MAX);
		return;
	}

	int64_t until = wefti_timers_keep();

	if (until > wefti_os_now_ns()) {
		if (wefti_poller_is_on())	/* of poller.c: P1 */
			wefti_poller_sleep(v, seen, until, batch);
		else
			wefti_os_futex_wait(&v->wake, seen, until);
	}
	wefti_timers_resign();
}

void wefti_idle_have_keeper(void)
{
	if (load_seq_cst(&wefti_rt.timekeeper) ||
	    (!wefti_poller_is_on() && wefti_timers_earliest() == INT64_MAX))
		return;
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		if (wefti_idle_is(wefti_vcpu_at(i))) {
			wefti_poller_wake_vcpu(wefti_vcpu_at(i));
			return;
		}
}

int wefti_idle_wait(struct wefti_vcpu *v, int searching)
{
	_Atomic uint64_t *word = &wefti_rt.idle[v->index / 64];
	struct wefti_poll_batch batch;
	int had_role = 1, due = 0;

	batch.count = 0;
	if (searching)
		store_seq_cst(&wefti_rt.searching, 0);
	fetch_add_seq_cst(&wefti_rt.idle_count, 1);	/* I5 */
	fetch_or_seq_cst(word, idle_bit(v));
	fence_seq_cst();	/* P1 */

	for (;;) {
		uint32_t seen = load_seq_cst(&v->wake);

		if (!(load_seq_cst(word) & idle_bit(v)))
			break;	/* I3: the announcer set searching for us */
		due = wefti_timers_due();
		if (due || batch.count || work_is_free() ||
		    load_relaxed(&wefti_rt.state) == WEFTI_RT_STOPPING) {
			if (unidle(v))
				had_role = wefti_idle_take_search();
			break;
		}
		wefti_record_vcpu(v, WEFTI_EVENT_IDLE, v->index, 0);
		sleep_on(v, seen, &batch);
		wefti_record_vcpu(v, WEFTI_EVENT_AWAKE, v->index, 0);
	}
	wefti_monitor_wake_if_asleep();
	/*
	 * Not earlier: its own idle bit would be taken for the threads made ready here.
	 */
	wefti_poller_handle(&batch);
	if (due)	/* I8: the searcher may have no CPU */
		wefti_timers_run_all();
	return had_role;
}
