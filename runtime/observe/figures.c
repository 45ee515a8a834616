/* SPDX-License-Identifier: MIT */
/*
 * observe/figures.c - the runtime's counters and levels as lines, for another process
 *
 * One walk over all threads, by loads alone: a program may have a hundred thousand, and
 * copies of each (view.c) would cost it a system call for each.
 */
#include "observe/figures.h"

#include <string.h>

#include "base/shown.h"
#include "observe/gate.h"
#include "observe/out.h"
#include "observe/view.h"
#include "observe/waiting.h"
#include "os/call/clock.h"
#include "sched/idle.h"
#include "sched/loop.h"
#include "sched/sample.h"
#include "thread/bare.h"
#include "thread/name.h"
#include "thread/peek.h"
#include "weft/observe.h"

#define COUNT_NS	INT64_C(10000000000)	/* threads are counted, after a request */

static const char *const kinds[WEFTI_WHY_COUNT] = {
	[WEFTI_WHY_NOTHING] = "nothing",
	[WEFTI_WHY_JOIN] = "join",
	[WEFTI_WHY_SLEEP] = "sleep",
	[WEFTI_WHY_MUTEX] = "mutex",
	[WEFTI_WHY_COND] = "condition",
	[WEFTI_WHY_READ_LOCK] = "read-lock",
	[WEFTI_WHY_WRITE_LOCK] = "write-lock",
	[WEFTI_WHY_SEM] = "semaphore",
	[WEFTI_WHY_BARRIER] = "barrier",
	[WEFTI_WHY_ONCE] = "once",
	[WEFTI_WHY_SEND] = "send",
	[WEFTI_WHY_RECV] = "receive",
	[WEFTI_WHY_ALT] = "alt",
	[WEFTI_WHY_DESCRIPTOR] = "descriptor",
	[WEFTI_WHY_DISK] = "disk",
	[WEFTI_WHY_SEAT] = "vcpu",
	[WEFTI_WHY_FUTEX] = "futex",
};

static const char *const states[] = {
	[WEFTI_VIEW_NONE] = "none",
	[WEFTI_VIEW_RUNNING] = "running",
	[WEFTI_VIEW_UNSEATED] = "blocked",
	[WEFTI_VIEW_PARKED] = "parked",
	[WEFTI_VIEW_READY] = "ready",
	[WEFTI_VIEW_ENDED] = "ended",
};

struct levels {
	uint64_t state[WEFTI_VIEW_ENDED + 1];
	uint64_t parked[WEFTI_WHY_COUNT];
	uint64_t foreign;
};

const char *wefti_figures_kind(unsigned why)
{
	return why < WEFTI_WHY_COUNT ? kinds[why] : "nothing";
}

const char *wefti_figures_state(unsigned state)
{
	return states[state];
}

static void see(struct levels *levels, struct wefti_thread *t, int objects)
{
	const enum wefti_view_state state = wefti_view_glance(t);
	unsigned why;

	if (state == WEFTI_VIEW_NONE)
		return;
	if (wefti_peek_kind(t) == WEFTI_KIND_FOREIGN) {
		levels->foreign++;
		if (state != WEFTI_VIEW_PARKED)
			return;
	}
	levels->state[state]++;
	if (state != WEFTI_VIEW_PARKED)
		return;
	why = wefti_peek_why(t);
	levels->parked[why < WEFTI_WHY_COUNT ? why : WEFTI_WHY_NOTHING]++;
	if (objects && why != WEFTI_WHY_SLEEP)
		wefti_waiting_add(t, why);
}

static void see_all(struct levels *levels, int objects)
{
	*levels = (struct levels){ .foreign = 0 };
	for (uint32_t i = 1; i < wefti_slot_limit(); i++) {
		struct wefti_thread *t = wefti_slot_get(i);

		if (t && t != load_relaxed(&wefti_rt.monitor))
			see(levels, t, objects);
	}
}

static void tell_counts(struct wefti_out *o)
{
	struct weft_stat s;

	if (weft_stat(&s) != 0)
		return;
	wefti_out(o, "time_ns %lu\nstart_ns %lu\n", (unsigned long)wefti_os_now_ns(),
		  (unsigned long)wefti_sample_since());
	wefti_out(o, "vcpus %u\nthreads %lu\nthreads_peak %lu\nkernel_threads %lu\n",
		  wefti_rt.vcpu_count, s.threads, s.threads_peak, s.kernel_threads);
	wefti_out(o, "threads_made %lu\nswitches %lu\nsteals %lu\npreemptions %lu\n",
		  s.threads_made, s.switches, s.steals, s.preemptions);
	wefti_out(o, "compensations %lu\nwakes %lu\nblocked_ns %lu\nready_ns %lu\n",
		  s.compensations, s.wakes, s.blocked_ns, wefti_sample_ready_ns());
}

static void tell_levels(struct wefti_out *o, const struct levels *levels)
{
	wefti_out(o, "running %lu\nready %lu\nblocked %lu\nended %lu\nforeign %lu\n",
		  levels->state[WEFTI_VIEW_RUNNING], levels->state[WEFTI_VIEW_READY],
		  levels->state[WEFTI_VIEW_UNSEATED], levels->state[WEFTI_VIEW_ENDED],
		  levels->foreign);
	for (unsigned i = 0; i < WEFTI_WHY_COUNT; i++)
		wefti_out(o, "parked %s %lu\n", kinds[i], levels->parked[i]);
}

static void tell_vcpu(struct wefti_out *o, const struct wefti_vcpu *v)
{
	const struct wefti_thread *t = load_seq_cst(&v->current);
	uint64_t id = 0;

	if (!wefti_idle_is(v) && t && wefti_peek_kind(t) != WEFTI_KIND_SCHED)
		id = wefti_peek_id(t);
	wefti_out(o, "vcpu %u %d %u %lu %lu %lu %lu\n", v->index,
		  wefti_kthread_carrier(v),
		  wefti_ready_len_hint(v) + (wefti_next_hint(v) ? 1 : 0),
		  wefti_sample_busy_ns(v), load_relaxed(&v->ticks) - 1,
		  load_relaxed(&v->stat_steals), id);
}

/* A name has no line's end in it, nor what a terminal would obey. */
void wefti_figures_name(struct wefti_out *o, const char *name)
{
	char shown[WEFTI_NAME_SHOWN];

	wefti_out(o, "%s\n", wefti_format_shown(shown, sizeof(shown), name));
}

static void tell_threads(struct wefti_out *o)
{
	for (unsigned i = 0; i < WEFTI_SAMPLED_MOST; i++) {
		struct wefti_view view;
		uint64_t ns, id = wefti_sample_thread(i, &ns);

		if (id == 0)
			continue;
		wefti_view_slot((uint32_t)id, &view);
		if (view.state == WEFTI_VIEW_NONE || view.id != id)
			continue;
		wefti_out(o, "thread %lu %lu %s %s ", id, ns, states[view.state],
			  wefti_figures_kind(view.why));
		wefti_figures_name(o, view.name);
	}
}

static void tell(struct wefti_out *o, int all)
{
	struct levels levels;

	wefti_waiting_clear();
	see_all(&levels, all);
	wefti_out(o, WEFTI_FIGURES_BEGIN "%d\n", WEFTI_FIGURES_VERSION);
	tell_counts(o);
	tell_levels(o, &levels);
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		tell_vcpu(o, wefti_vcpu_at(i));
	if (all) {
		tell_threads(o);
		wefti_waiting_tell(o);
	}
	wefti_out(o, "end\n");
	wefti_out_flush(o);
}

static void answer(int fd, int all)
{
	struct wefti_out o = { .fd = fd, .is_strangers = 1 };

	if (wefti_observe_begin() != 0)
		return;
	tell(&o, all);
	wefti_observe_end();
}

void wefti_figures(int fd)
{
	answer(fd, 0);
}

void wefti_figures_all(int fd)
{
	wefti_sample_threads(wefti_os_now_ns() + COUNT_NS);
	answer(fd, 1);
}
