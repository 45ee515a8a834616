/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/real_time.c - what a real-time policy does among green threads
 *
 * A thread of SCHED_FIFO or SCHED_RR keeps its VCPU until it waits: its slices do
 * not end, sched_yield() gives way to nobody, and a thread of lower priority that it
 * makes runs after it. One of higher priority runs at once.
 * All this only while it is the highest of all that live, alone: the VCPUs' queues
 * know of no priorities, so who would give way to its equals gives way to all. The
 * other VCPUs go on as other CPUs do.
 *
 * As the kernel does (sched_rt_runtime_us), one that never waits does not stop
 * others for good. When it has used RUN_NS of a CPU in one stint, that is, without
 * a switch of its VCPU or another VCPU, it is like any other thread for REST_NS,
 * and until it has given way. (Not of time: where others keep the machine busy, it
 * would give way before it has done anything.)
 *
 * How many threads of each priority live is counted, whether they wait or not:
 * to count those that are ready, each wait of any thread would have to say so. A
 * thread is counted by who changes real_time of it. Who sets it looks at `ended`
 * then, who ends marks that and looks at real_time: one of the two takes it out.
 *
 * Rejected: a queue of the ready for each priority, as the kernel has. The switch
 * would have to look at it; and a wake-up of one of higher priority would have to
 * interrupt the thread that runs. The kernel's sched_yield() by who keeps its VCPU:
 * on a busy machine a loop of it has no CPU, so that RUN_NS is over in minutes.
 *
 * Writers
 *   pt.real_time  become, wefti_real_time_forget
 *   alive  become, wefti_real_time_forget
 */
#include "pthread/kthread/real_time.h"

#include "os/call/clock.h"
#include "os/kthread/kthread.h"
#include "sched/seat.h"

#define HIGHEST		99		/* Linux has 1 to 99 */
#define RUN_NS		950000000
#define REST_NS		50000000
#define THIS_KTHREAD	0

static _Atomic uint32_t alive[HIGHEST + 1];

/* The new one first, so that no thread seems to be alone that is not. */
static void become(struct wefti_pt *pt, uint8_t priority)
{
	uint8_t old;

	if (priority)
		fetch_add_seq_cst(&alive[priority], 1);
	old = xchg_seq_cst(&pt->real_time, priority);
	if (old)
		fetch_sub_seq_cst(&alive[old], 1);
}

void wefti_real_time_count(struct wefti_thread *t, int priority)
{
	struct wefti_pt *pt = wefti_pt_of(t);

	if (priority < 0 || priority > HIGHEST)
		priority = 0;
	if (load_seq_cst(&pt->real_time) == priority)
		return;
	become(pt, (uint8_t)priority);
	if (priority && load_seq_cst(&pt->ended))
		become(pt, 0);
}

void wefti_real_time_forget(void)
{
	for (unsigned i = 0; i <= HIGHEST; i++)
		store_seq_cst(&alive[i], (uint32_t)0);
	store_seq_cst(&wefti_pt.real_time, (uint8_t)0);
}

enum wefti_spawn_order wefti_real_time_order(int priority)
{
	int own = load_relaxed(&wefti_pt.real_time);

	if (likely(!(own | priority)))
		return WEFTI_SPAWN_AS_EVER;
	if (priority > own)
		return WEFTI_SPAWN_FIRST;
	return priority < own && wefti_real_time_keeps_now() ?
	       WEFTI_SPAWN_LAST : WEFTI_SPAWN_AS_EVER;
}

/* Does none live that has no less? */
static int is_highest(unsigned own)
{
	uint32_t n = 0;

	for (unsigned i = own; i <= HIGHEST; i++)
		n += load_relaxed(&alive[i]);
	return n <= 1;
}

/* Until it has given way, so that its stint is another one, and for REST_NS. */
static int is_over(struct wefti_turn *turn, uint32_t stint)
{
	if (turn->stint == stint || wefti_os_now_ns() < turn->since)
		return 1;
	turn->over = 0;
	return 0;
}

static int has_time(const struct wefti_vcpu *v)
{
	struct wefti_turn *turn = &wefti_pt.turn;
	const uint32_t stint = wefti_seat_taken(v);
	int64_t used;

	if (turn->over && is_over(turn, stint))
		return 0;
	used = wefti_os_kthread_cpu_ns(THIS_KTHREAD);
	if (turn->stint != stint) {
		turn->stint = stint;
		turn->since = used;
	}
	if (used - turn->since < RUN_NS)
		return 1;
	turn->over = 1;
	turn->since = wefti_os_now_ns() + REST_NS;
	return 0;
}

int wefti_real_time_keeps(void)
{
	unsigned own = load_relaxed(&wefti_pt.real_time);

	return unlikely(own) && is_highest(own) &&
	       has_time(wefti_self()->vcpu);
}

int wefti_real_time_keeps_now(void)
{
	struct wefti_thread *self = wefti_enter();
	int keeps = wefti_real_time_keeps();

	if (!keeps)
		wefti_pt.turn.stint = 0;	/* there may be nobody */
	wefti_leave(self);
	return keeps;
}
