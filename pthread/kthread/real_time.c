/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/real_time.c - what a real-time policy does among green threads
 *
 * A thread of SCHED_FIFO or SCHED_RR keeps its VCPU until it waits. Its slices do not
 * end, and its sched_yield() returns at once. A new thread of the same or a lower priority
 * that it makes runs after it. A new thread of higher priority runs at once.
 *
 * It keeps its VCPU only while no other live thread has the same or a higher priority. The
 * VCPUs' queues know no priorities, so a thread that yields to its equals yields to all
 * threads. The other VCPUs go on, as other CPUs do.
 *
 * As in the kernel (sched_rt_runtime_us), a thread that never waits does not stop others
 * for good. It may run for RUN_NS in one stint, that is, without a switch of its VCPU and
 * without a move to another VCPU. After that it is like any other thread for REST_NS, and
 * until it has yielded. RUN_NS is elapsed time, as in the kernel. But its carrier is an
 * ordinary kernel thread, which gets little of a busy CPU. So the thread goes on until it
 * has used LEAST_NS of CPU time, too: it would else yield before it has done anything.
 *
 * The live threads of each priority are counted, whether they wait or not. To count only
 * ready threads, each wait of any thread would have to be noted. The thread that changes
 * real_time of a thread counts it. A thread that sets real_time looks at `ended` after
 * that. A thread that ends marks `ended`, then looks at real_time. So one of the two
 * takes it out of the count.
 *
 * Rejected
 *   A ready queue for each priority, as the kernel has. The switch would have to look at
 *   it, and a wake-up of a thread of higher priority would have to interrupt the running
 *   thread.
 *   The kernel's sched_yield() for a thread that keeps its VCPU. On a busy machine a loop
 *   of it gets no CPU, so LEAST_NS is over only after minutes.
 *   RUN_NS as CPU time. On a CPU with four other programs an ordinary thread, which had
 *   just made one with such a policy, ran again after five seconds.
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
#define LEAST_NS	100000000
#define REST_NS		50000000
#define THIS_KTHREAD	0

static _Atomic uint32_t alive[HIGHEST + 1];

/* Counts the new priority first, so no thread wrongly seems to be the only one. */
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
	return priority > own ? WEFTI_SPAWN_FIRST : WEFTI_SPAWN_LAST;
}

/* Is the caller the only live thread with this priority or a higher one? */
static int is_highest(unsigned own)
{
	uint32_t n = 0;

	for (unsigned i = own; i <= HIGHEST; i++)
		n += load_relaxed(&alive[i]);
	return n <= 1;
}

/*
 * Is the turn still over? Until the caller has yielded (another stint), and for REST_NS.
 */
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
	int64_t now;

	if (turn->over && is_over(turn, stint))
		return 0;
	now = wefti_os_now_ns();
	if (turn->stint != stint) {
		turn->stint = stint;
		turn->since = now;
		turn->used = wefti_os_kthread_cpu_ns(THIS_KTHREAD);
	}
	if (now - turn->since < RUN_NS ||
	    wefti_os_kthread_cpu_ns(THIS_KTHREAD) - turn->used < LEAST_NS)
		return 1;
	turn->over = 1;
	turn->since = now + REST_NS;
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
		wefti_pt.turn.stint = 0;	/* no other thread may be ready */
	wefti_leave(self);
	return keeps;
}
