/* SPDX-License-Identifier: MIT */
/*
 * sched/explore.c - WEFT_SCHED=explore: which ready thread runs next is drawn by a seed
 *
 * All ready threads are in the injection queue, as with WEFT_SCHED=shared, and each pick is a
 * slow one. So the normal ways of a thread have no test for this mode.
 *
 * An odd seed gives each ready thread the same chance. An even one gives each thread a weight
 * of its own: some are slow, as no walk among equals has them. At a point the running thread
 * gives way once in `rarely` draws, 2 to 64 by the seed: many bugs need few switches at the
 * right places.
 *
 * Where the points are is for others to say. In a perturbing build each atomic operation
 * outside the runtime is one (lockfree/perturb.c). In front of libweft.so, libweft-explore.so
 * makes each public call one (explore/native.c). A thread inside the runtime never gives way:
 * there it relies on its VCPU (sched/seat.h). What the lock-free code does between two of
 * those operations is for the models.
 *
 * That library also chooses, if it is there: it finds more by its strategies, repeats a run by
 * a list of choices, and knows what each thread is about to do. It is asked with the ids of
 * the ready threads. A thread that yields is not among them, and goes on if none is chosen.
 * The clock that this VCPU reads is the library's, too, and jumps where the VCPU would idle.
 *
 * Rejected: a point in wefti_enter(). A lock that no other thread wants is taken without it,
 * and a test there would cost each call.
 *
 * The words below are written by the thread that has the VCPU.
 */
#undef WEFT_PERTURB	/* an operation of this file is no point */
#include "sched/explore.h"

#include <errno.h>

#include "lockfree/perturb.h"
#include "os/libc/libc.h"
#include "os/libc/real.h"
#include "sched/busy.h"
#include "sched/park.h"
#include "sched/poller.h"
#include "sched/ready.h"
#include "sched/seat.h"
#include "sched/timer.h"
#include "thread/bare.h"

#define READY_MOST	1024u	/* threads among which one is drawn */
#define WEIGHT_KINDS	7u	/* 1, 2 ... 64 */
#define RARELY_KINDS	6u	/* 2, 4 ... 64 */

#define ANY_ONE_IN	4u
#define WEIGHTS		4096u	/* of threads, by slot */

static uint64_t seed, state, rarely;

/* libweft-explore.so's functions; NULL: it is not there (explore/native.c). */
static struct {
	unsigned (*pick)(const uint64_t *ready, unsigned n, int64_t earliest);	/* n: none */
	int (*pass)(int64_t until);	/* 1: it is so late; 0: look again; -1: time is real */
	int (*any)(void);
	void (*deadlock)(int is_told);
} chooser;

/*
 * Drawn when a thread is first seen in a run. Not from its slot: the runtime may be started
 * again, and slots are then given in another order.
 */
static struct { uint32_t run, gen, weight; } weights[WEIGHTS] TABLE;
static uint32_t run;

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* splitmix64 */
static uint64_t draw(void)
{
	return mix(state += UINT64_C(0x9e3779b97f4a7c15));
}

void wefti_explore_begin(void)
{
	void *clock;

	chooser.pick = (__typeof__(chooser.pick))wefti_os_real("weft_explore_pick");
	chooser.pass = (__typeof__(chooser.pass))wefti_os_real("weft_explore_pass");
	chooser.any = (__typeof__(chooser.any))wefti_os_real("weft_explore_any");
	chooser.deadlock = (__typeof__(chooser.deadlock))wefti_os_real("weft_explore_deadlock");
	clock = wefti_os_real("weft_explore_clock");
	if (clock)
		wefti_os_libc_replace("clock_gettime", clock);
	run++;
	seed = state = (uint64_t)wefti_rt.settings.seed;
	rarely = UINT64_C(2) << draw() % RARELY_KINDS;
	store_relaxed(&wefti_perturb_hook, wefti_explore_point);
}

void wefti_explore_end(void)
{
	store_relaxed(&wefti_perturb_hook, NULL);
}

int wefti_explore_any(void)
{
	return chooser.any ? chooser.any() : draw() % ANY_ONE_IN == 0;
}

void wefti_explore_deadlock(int is_told)
{
	if (wefti_rt.settings.sched == WEFTI_SCHED_EXPLORE && chooser.deadlock)
		chooser.deadlock(is_told);
}

static uint64_t weight(const struct wefti_thread *t)
{
	const uint32_t i = t->slot % WEIGHTS, gen = load_relaxed(&t->gen);

	if (seed % 2)
		return 1;
	if (weights[i].run != run || weights[i].gen != gen) {
		weights[i].run = run;
		weights[i].gen = gen;
		weights[i].weight = 1u << draw() % WEIGHT_KINDS;
	}
	return weights[i].weight;
}

static unsigned any(struct wefti_thread *const *ready, unsigned n)
{
	uint64_t sum = 0;
	unsigned chosen = 0;

	for (unsigned i = 0; i < n; i++) {
		const uint64_t w = weight(ready[i]);

		sum += w;
		if (draw() % sum < w)
			chosen = i;
	}
	return chosen;
}

static unsigned ask(struct wefti_thread *const *ready, unsigned n)
{
	static uint64_t ids[READY_MOST];

	for (unsigned i = 0; i < n; i++)
		ids[i] = wefti_thread_id(ready[i]);
	return chooser.pick(ids, n, wefti_timers_earliest());
}

static unsigned collect(struct wefti_vcpu *v, struct wefti_thread **ready)
{
	struct wefti_thread *t;
	unsigned n = 0;

	while (n < READY_MOST && (t = wefti_pick_injected(v)))
		ready[n++] = t;
	return n;
}

/*
 * The VCPU would idle. Its clock is the chooser's, and jumps to the next deadline unless a
 * descriptor is ready, or a file is being read. Returns 0: the VCPU idles.
 */
static int pass_time(struct wefti_vcpu *v)
{
	int64_t until;
	int passed;

	if (!chooser.pass || load_relaxed(&v->current)->kind != WEFTI_KIND_SCHED)
		return 0;
	do {
		if (wefti_poller_poll() && !wefti_fifo_is_empty(&wefti_rt.inject))
			return 1;
		until = wefti_timers_earliest();
		if (until == INT64_MAX || load_seq_cst(&wefti_poller.kernel_calls))
			return 0;
		passed = chooser.pass(until);
	} while (!passed);
	if (passed > 0)
		wefti_timers_run(v);
	return passed > 0;
}

struct wefti_thread *wefti_explore_pick(struct wefti_vcpu *v)
{
	static struct wefti_thread *ready[READY_MOST];
	unsigned n = collect(v, ready), chosen;

	while (!n && pass_time(v))	/* the deadline may be that of a wait that has ended */
		n = collect(v, ready);
	if (!n && !chooser.pick)
		return NULL;
	chosen = chooser.pick ? ask(ready, n) : any(ready, n);
	for (unsigned i = 0; i < n; i++)
		if (i != chosen)
			wefti_ready_common(ready[i]);
	return chosen < n ? ready[chosen] : NULL;
}

/* In a handler on another stack, the kernel thread would go on with the handler's mask. */
static int is_on_its_stack(const struct wefti_thread *self)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const struct wefti_preempt_room own = wefti_own_stack(self);

	return wefti_is_in_room(&own, here);
}

void wefti_explore_point(void)
{
	struct wefti_thread *self = wefti_self();
	int kept;

	if (!self || (self->kind != WEFTI_KIND_GREEN && self->kind != WEFTI_KIND_MAIN) ||
	    load_relaxed(&self->in_runtime) ||
	    load_relaxed(&wefti_rt.state) != WEFTI_RT_ON || !is_on_its_stack(self))
		return;
	kept = errno;
	wefti_enter_as(self);
	if (draw() % rarely == 0)
		wefti_yield(self);
	wefti_leave(self);
	errno = kept;	/* a light thread shares it with others */
}
