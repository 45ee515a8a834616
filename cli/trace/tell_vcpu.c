/* SPDX-License-Identifier: MIT */
/* cli/trace/tell_vcpu.c - VCPUs and kernel threads */
#include <inttypes.h>
#include <stdio.h>

#include "trace/tell.h"

void tell_vcpu_ends(struct story *s, unsigned vcpu)
{
	struct tell_vcpu *v = &s->vcpu[vcpu];

	if (v->runs || v->is_idle)
		tell_end(s, tell_vcpu_track(vcpu));
	s->idle -= v->is_idle;
	v->is_idle = 0;
	v->runs = 0;
}

void tell_vcpu_runs(struct story *s, unsigned vcpu, struct trace_thread *t)
{
	const struct trace_track track = tell_vcpu_track(vcpu);
	char name[TRACE_NAME_BYTES];
	struct trace_label label = { .name = trace_thread_words(t, name) };

	tell_vcpu_ends(s, vcpu);
	s->vcpu[vcpu].runs = t->id;
	tell_begin(s, track, &label);
}

void tell_idle(struct story *s, const struct trace_event *e, int is_idle)
{
	struct tell_vcpu *v = &s->vcpu[e->ring];
	const struct trace_label label = { .name = "idle" };

	if (v->runs || v->is_idle == is_idle)
		return;
	v->is_idle = is_idle;
	s->idle += is_idle ? 1 : -1;
	if (is_idle)
		tell_begin(s, tell_vcpu_track(e->ring), &label);
	else
		tell_end(s, tell_vcpu_track(e->ring));
}

static void carrier_ends(struct story *s, uint32_t number)
{
	for (unsigned i = 0; i < s->vcpus; i++)
		if (s->vcpu[i].has_carrier && s->vcpu[i].carrier == number) {
			s->vcpu[i].has_carrier = 0;
			tell_end(s, tell_kthread_track(number));
		}
}

static void name_kthread(struct story *s, uint32_t number, uint64_t tid)
{
	char text[64];

	if (tid)
		snprintf(text, sizeof(text), "kernel thread %" PRIu32 ", tid %" PRIu64,
			 number, tid);
	else
		snprintf(text, sizeof(text), "kernel thread %" PRIu32, number);
	s->w->format->track(s->w, tell_kthread_track(number), text);
}

void tell_carry(struct story *s, const struct trace_event *e)
{
	struct tell_vcpu *v = &s->vcpu[e->ring];
	char text[32];
	const struct trace_label label = { .name = text };

	snprintf(text, sizeof(text), "VCPU %u", e->ring);
	carrier_ends(s, e->detail);
	if (v->has_carrier)
		tell_end(s, tell_kthread_track(v->carrier));
	name_kthread(s, e->detail, e->arg);
	v->has_carrier = 1;
	v->carrier = e->detail;
	tell_begin(s, tell_kthread_track(e->detail), &label);
}

void tell_kthread(struct story *s, const struct trace_event *e)
{
	const int is_new = e->kind == WEFTI_EVENT_KTHREAD_MADE;
	const struct trace_label label = { .name = is_new ? "made" : "ended" };

	if (is_new)
		name_kthread(s, e->detail, e->arg);
	else
		carrier_ends(s, e->detail);
	tell_point(s, tell_kthread_track(e->detail), &label);
}

void tell_on_vcpu(struct story *s, const struct trace_event *e)
{
	struct trace_label label = { .name = "wakes a VCPU" };

	if (e->kind == WEFTI_EVENT_STEAL) {
		label.name = "steals";
		tell_number(&label, "from VCPU", e->arg, 0);
		tell_number(&label, "threads", e->detail, 0);
	} else if (e->kind == WEFTI_EVENT_PREEMPT) {
		label.name = "the slice is over";
		tell_number(&label, "at", e->arg, 1);
	} else {
		tell_number(&label, "VCPU", e->detail, 0);
	}
	tell_point(s, tell_ring_track(s, e->ring), &label);
}

void tell_gap(struct story *s, const struct trace_event *e)
{
	struct trace_thread *t;
	struct trace_label label = { .name = "events are lost" };

	tell_number(&label, "events", e->lost, 0);
	tell_point(s, tell_ring_track(s, e->ring), &label);
	if (e->ring >= s->vcpus)
		return;
	t = tell_thread(s, s->vcpu[e->ring].runs);
	if (t && (t->state == TRACE_RUNNING || t->state == TRACE_IN_REGION))
		tell_becomes(s, t, TRACE_UNKNOWN, NULL);
	tell_vcpu_ends(s, e->ring);
	s->vcpu[e->ring].owner = 0;
	s->vcpu[e->ring].deadline = 0;
}
