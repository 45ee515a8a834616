/* SPDX-License-Identifier: MIT */
/* cli/trace/tell_switch.c - how threads change their states, and which thread made which ready */
#include "trace/stack.h"
#include "trace/tell.h"
#include "trace/words.h"

static void leaves(struct story *s, struct tell_vcpu *v, struct trace_thread *t,
		   const struct trace_event *e)
{
	struct trace_label label = { .name = "ready" };
	char owner[TRACE_NAME_BYTES];

	if (e->detail == WEFTI_LEFT_NONE || (t->state != TRACE_RUNNING &&
	    t->state != TRACE_IN_REGION))
		return;		/* its VCPU was taken before */
	if (e->detail == WEFTI_LEFT_ENDED) {
		tell_becomes(s, t, TRACE_ENDED, NULL);
	} else if (e->detail < WEFTI_LEFT_WAITS || t->woken_early) {
		tell_becomes(s, t, TRACE_READY, &label);
	} else {
		label.name = trace_wait_words(e->detail);
		if (e->arg)
			tell_number(&label, "object", e->arg, 1);
		if (v->owner)
			tell_words(&label, "owner", trace_thread_words(
					  tell_thread(s, v->owner), owner));
		if (v->deadline)
			tell_number(&label, "until", (uint64_t)v->deadline, 0);
		tell_becomes(s, t, TRACE_WAITING, &label);
	}
	t->woken_early = 0;
}

void tell_run(struct story *s, const struct trace_event *e)
{
	struct tell_vcpu *v = &s->vcpu[e->ring];
	struct trace_thread *from = tell_thread(s, v->runs), *to = tell_thread(s, e->thread);
	struct trace_label label = { .name = "running" };
	char stack[TRACE_STACK_BYTES];

	if (from)
		leaves(s, v, from, e);
	v->owner = 0;
	v->deadline = 0;
	if (!to) {
		tell_vcpu_ends(s, e->ring);
		return;
	}
	tell_vcpu_runs(s, e->ring, to);
	tell_number(&label, "VCPU", e->ring, 0);
	if (*trace_stack_words(s->stacks, e, stack))
		tell_words(&label, "waited in", stack);
	label.flow_to = to->flow;
	to->flow = 0;
	to->vcpu = e->ring;
	to->woken_early = 0;
	tell_becomes(s, to, TRACE_RUNNING, &label);
}

/* Where an arrow begins: at the thread that did it, else at the event's VCPU. */
static struct trace_track track_of(struct story *s, const struct trace_event *e, uint64_t by)
{
	struct trace_thread *t = tell_thread(s, by);

	if (t)
		return tell_thread_track(s, t);
	return tell_ring_track(s, e->ring);
}

static void points_at(struct story *s, const struct trace_event *e, struct trace_thread *t,
		      const char *what, struct trace_track from)
{
	char name[TRACE_NAME_BYTES], stack[TRACE_STACK_BYTES];
	struct trace_label label = { .name = what, .flow_from = ++s->flows };

	t->flow = s->flows;
	tell_words(&label, "thread", trace_thread_words(t, name));
	if (e->kind == WEFTI_EVENT_SPAWN)
		tell_number(&label, "function", e->arg, 1);
	else
		tell_words(&label, "how", trace_ready_words(e->detail));
	if (e->kind != WEFTI_EVENT_SPAWN && (e->detail & WEFTI_READY_INJECTED))
		tell_words(&label, "for", "any VCPU");
	if (*trace_stack_words(s->stacks, e, stack))
		tell_words(&label, "in", stack);
	tell_point(s, from, &label);
}

void tell_ready(struct story *s, const struct trace_event *e)
{
	struct trace_thread *t = tell_thread(s, e->thread);
	struct trace_label label = { .name = "ready" };

	if (!t)
		return;
	if (WEFTI_READY_WHY(e->detail) != WEFTI_READY_SPAWNED || !t->flow)
		points_at(s, e, t, "wakes", track_of(s, e, e->arg));
	if (t->state == TRACE_RUNNING)
		t->woken_early = 1;
	else
		tell_becomes(s, t, TRACE_READY, &label);
}

void tell_spawn(struct story *s, const struct trace_event *e)
{
	uint64_t by = e->ring < s->vcpus ? s->vcpu[e->ring].runs : 0;
	struct trace_thread *t = tell_thread(s, e->thread);

	if (t)
		points_at(s, e, t, "spawns", track_of(s, e, by));
}

void tell_take(struct story *s, const struct trace_event *e)
{
	struct trace_thread *t = tell_thread(s, e->thread);
	struct trace_label label = { .name = "without its VCPU" };

	if (e->detail < s->vcpus && s->vcpu[e->detail].runs == e->thread)
		tell_vcpu_ends(s, e->detail);
	if (!t)
		return;
	if (e->arg != UINT64_MAX)
		tell_number(&label, "system call", e->arg, 0);
	tell_becomes(s, t, TRACE_TAKEN, &label);
}

void tell_region(struct story *s, const struct trace_event *e, int enters)
{
	struct trace_thread *t = tell_thread(s, e->thread);
	struct trace_label label = { .name = enters ? "may block" : "running" };

	if (!t || t->state == TRACE_TAKEN)
		return;
	if (e->ring < s->vcpus)
		tell_number(&label, "VCPU", e->ring, 0);
	tell_becomes(s, t, enters ? TRACE_IN_REGION : TRACE_RUNNING, &label);
}

/* A foreign thread waits in the kernel, and has no VCPU. */
void tell_foreign(struct story *s, const struct trace_event *e)
{
	struct trace_thread *t = tell_thread(s, e->thread);
	struct trace_label label = { .name = trace_wait_words(e->detail) };

	if (!t)
		return;
	if (e->kind == WEFTI_EVENT_GO_ON) {
		label.name = "goes on";
		label.flow_to = t->flow;
		t->flow = 0;
		tell_point(s, tell_thread_track(s, t), &label);
		tell_becomes(s, t, TRACE_UNKNOWN, NULL);
		return;
	}
	if (e->arg)
		tell_number(&label, "object", e->arg, 1);
	tell_becomes(s, t, TRACE_WAITING, &label);
}
