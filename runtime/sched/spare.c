/* SPDX-License-Identifier: MIT */
/*
 * sched/spare.c - kernel threads without a VCPU: kept, given a VCPU, ended
 *
 * A kernel thread whose thread lost its VCPU (sched/seat.c) becomes spare when that
 * thread has stopped. Each spare sleeps on its own futex. The monitor ends spares that
 * were not needed: as many as were idle through a whole second, except KEPT of them. So
 * a burst of blocked calls does not leave its kernel threads behind, except those that
 * must stay.
 *
 * Structure
 *   runtime.spares  a stack of spares: each kernel thread pushes itself; only the
 *                   monitor pops
 *   kthread.given   the VCPU that the monitor gives; the spare takes it by xchg
 *
 * States of a kernel thread without a VCPU: (listed, reserved, given)
 *   LISTED    (1, 0, -)   in the stack
 *   RESERVED  (0, 1, -)   in the monitor's hands; a new one starts so
 *   GIVEN     (0, 0, v)   has a VCPU that it has not taken yet
 *   LOOSE     (0, 0, -)   returned by the monitor, or has just become spare
 *
 *   LOOSE --wefti_spare_wait: push--> LISTED --monitor: pop--> RESERVED
 *   RESERVED --wefti_spare_give of v--> GIVEN --wefti_spare_wait--> carries v
 *   RESERVED --wefti_spare_give of NULL--> LOOSE
 *   RESERVED --monitor: end--> ended, joined, freed after a grace period
 *
 * Model: tests/model/loom/c/spare.c.
 *
 * Writers
 *   kthread.ends  end
 *   kthread.given  wefti_spare_give, wefti_spare_wait
 *   kthread.listed  pop, push
 *   kthread.reserved  pop, wefti_spare_give;
 *       sched/kthread.c: wefti_kthread_start
 *   kthread.wake  end, wefti_spare_give; stop.c: post_home, wake_all
 *   runtime.spare_count  pop, push, wefti_spares_reset
 *   runtime.spares  pop, push, wefti_spares_reset
 *   wefti_spares_stay  ptrace.c: trace; uring.c: wefti_uring_error
 *
 * Invariants
 *   I1  A kernel thread is in the stack at most once. It pushes itself, and only when
 *       it has read `listed`, then `reserved`, as 0, and was given nothing. The monitor
 *       sets `reserved` before it clears `listed`, and `given` before it clears
 *       `reserved`.
 *   I2  A spare never sleeps past what it is given: it loads `wake` before it looks,
 *       and the monitor counts `wake` up after it has stored.
 *   I3  Only the monitor pops, gives and ends.
 *
 * Linearization
 *   Becoming spare: at the CAS of push. Reserving: at the CAS of pop. A VCPU that is
 *   given: at the xchg by which the spare takes it.
 *
 * Progress
 *   Push and pop are lock-free, giving is wait-free. end() waits for the kernel thread
 *   to end, and for a grace period. A spare that is stopped delays the VCPU it was
 *   given.
 *
 * ABA and reclamation
 *   A link is followed only by the monitor, which alone pops: so there is no ABA. Code
 *   that looks at kernel threads that are not its own (a dump) reads their records
 *   inside a section of os/kthread/quiescent.h. A record is freed a grace period after it has
 *   left the list. A loop is in such a section only while it looks around, not while it
 *   runs a thread, which may block as long as it likes.
 *
 * Pairs
 *   All operations are seq_cst; I1 and I2 name the orders that matter.
 *
 * Source
 *   R. K. Treiber's stack, with one popper. The model is named above.
 */
#include "sched/spare.h"

#include "base/log.h"
#include "os/call/futex.h"
#include "os/kthread/kthread.h"
#include "os/kthread/quiescent.h"
#include "sched/again.h"
#include "sched/loop.h"
#include "sched/record.h"

#define KEPT		1u
#define WINDOW_NS	INT64_C(1000000000)

_Atomic uint32_t wefti_spares_stay;

/* The monitor's notes: the fewest spares since the window began; how many must stay. */
static uint32_t fewest, staying;
static int64_t window_began;

static void push(struct wefti_kthread *k)
{
	struct wefti_kthread *top = load_relaxed(&wefti_rt.spares);

	store_seq_cst(&k->listed, 1);
	do {
		k->spare_next = top;
	} while (!cas_weak_seq_cst(&wefti_rt.spares, &top, k));
	fetch_add_seq_cst(&wefti_rt.spare_count, 1);
}

static uint32_t most_kthreads(void)
{
	return wefti_rt.vcpu_count + (uint32_t)wefti_rt.settings.spare_max;
}

/* May another kernel thread be made? The first refusal is reported. */
static int has_room(void)
{
	if (load_relaxed(&wefti_rt.kthread_count) < most_kthreads())
		return 1;
	if (!wefti_rt.cap_reported++)
		wefti_log(WEFTI_LOG_WARNING, "weft: all spare kernel threads "
			  "carry blocked threads; WEFT_SPARE_MAX raises the "
			  "limit\n");
	return 0;
}

static struct wefti_kthread *pop(void)
{
	struct wefti_kthread *k, *top;

	/* Loaded each time: a top found by a failed CAS may not be followed. */
	do {
		k = top = load_seq_cst(&wefti_rt.spares);
		if (!k)
			return NULL;
	} while (!cas_weak_seq_cst(&wefti_rt.spares, &top, k->spare_next));
	fetch_sub_seq_cst(&wefti_rt.spare_count, 1);
	store_seq_cst(&k->reserved, 1);
	store_seq_cst(&k->listed, 0);
	return k;
}

static int is_asked(struct wefti_kthread *k)
{
	return load_seq_cst(&k->adopt) || load_seq_cst(&k->ends) ||
	       (k->number != 0 &&
		load_seq_cst(&wefti_rt.state) == WEFTI_RT_STOPPING);
}

/*
 * A reserved spare is in the monitor's hands and not in the stack. The loads here are
 * in the reverse order of the monitor's stores: it sets `reserved`, then clears
 * `listed`; it sets `given`, then clears `reserved`. A spare that finds itself neither
 * listed nor reserved, and without a VCPU given, pushes itself (I1, I2).
 */
struct wefti_vcpu *wefti_spare_wait(struct wefti_kthread *k)
{
	for (;;) {
		uint32_t seen = load_seq_cst(&k->wake);
		uint32_t listed = load_seq_cst(&k->listed);
		uint32_t reserved = load_seq_cst(&k->reserved);
		struct wefti_vcpu *v = xchg_seq_cst(&k->given, NULL);

		if (v || is_asked(k))
			return v;
		if (!reserved && !listed) {
			push(k);
			continue;
		}
		wefti_os_futex_wait(&k->wake, seen, INT64_MAX);
	}
}

static void tell(const char *what, const struct wefti_kthread *k)
{
	wefti_log(WEFTI_LOG_DEBUG, "weft: spare kernel thread weft-%u %s: there are "
		  "%u for %u VCPUs\n", k->number, what,
		  load_relaxed(&wefti_rt.kthread_count), wefti_rt.vcpu_count);
}

struct wefti_kthread *wefti_spare_reserve(void)
{
	struct wefti_kthread *k = pop();

	if (!k && has_room() && wefti_kthread_start(NULL, &k) == 0)
		tell("made", k);
	return k;
}

void wefti_spare_give(struct wefti_kthread *k, struct wefti_vcpu *v)
{
	if (v)
		v->kthread = k;
	store_seq_cst(&k->given, v);
	store_seq_cst(&k->reserved, 0);
	fetch_add_seq_cst(&k->wake, 1);
	wefti_os_futex_wake(&k->wake, 1);
}

static void end(struct wefti_kthread *k)
{
	store_seq_cst(&k->ends, 1);
	fetch_add_seq_cst(&k->wake, 1);
	wefti_os_futex_wake(&k->wake, 1);
	wefti_os_kthread_join(&k->handle);
	wefti_again_signal_all();	/* k may be in the stack `again` */
	wefti_kthread_unlist(k);
	tell("ended", k);
	wefti_record_kthread(WEFTI_EVENT_KTHREAD_ENDED, k->number, k->tid);
	if (wefti_os_quiescent_wait() == 0)
		wefti_kthread_free(k);
}

/*
 * Main's home must stay. So must a kernel thread that is the parent of some process:
 * the process may have asked for a signal when that kernel thread ends
 * (PR_SET_PDEATHSIG), while its weft thread does not end.
 */
static int must_stay(const struct wefti_kthread *k)
{
	return k->number == 0 || wefti_os_kthread_has_children(k->tid);
}

/* Spares that must stay count as KEPT. They are reserved, and so ours, meanwhile. */
static void end_idle(void)
{
	struct wefti_kthread *back = NULL, *k;

	staying = 0;
	while (fewest > KEPT && fewest > staying && (k = pop())) {
		if (must_stay(k)) {
			staying++;
			k->spare_next = back;
			back = k;
		} else {
			end(k);
			fewest--;
		}
	}
	while ((k = back)) {
		back = k->spare_next;
		wefti_spare_give(k, NULL);
	}
}

int wefti_spares_trim(int64_t now)
{
	uint32_t count = load_seq_cst(&wefti_rt.spare_count);

	if (load_relaxed(&wefti_spares_stay))
		return 0;
	if (count < fewest)
		fewest = count;
	if (now - window_began >= WINDOW_NS) {
		end_idle();
		window_began = now;
		fewest = count = load_seq_cst(&wefti_rt.spare_count);
	}
	return count > KEPT && count > staying;
}

void wefti_spares_reset(void)
{
	store_relaxed(&wefti_rt.spares, NULL);
	store_relaxed(&wefti_rt.again, NULL);
	store_relaxed(&wefti_rt.spare_count, 0);
	wefti_rt.cap_reported = 0;
	fewest = staying = 0;
	window_began = 0;
}
