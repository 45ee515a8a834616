/* SPDX-License-Identifier: MIT */
/* cli/trace/tell_thread.c - a thread's tracks, and the slices on them */
#include <stdio.h>
#include <string.h>

#include "trace/stack.h"
#include "trace/tell.h"

void tell_begin(struct story *s, struct trace_track track, const struct trace_label *label)
{
	s->w->format->begin(s->w, track, s->now, label);
}

void tell_end(struct story *s, struct trace_track track)
{
	s->w->format->end(s->w, track, s->now);
}

void tell_point(struct story *s, struct trace_track track, const struct trace_label *label)
{
	s->w->format->point(s->w, track, s->now, label);
}

void tell_number(struct trace_label *label, const char *key, uint64_t number,
		       int is_address)
{
	if (label->values < TRACE_VALUES_MOST)
		label->value[label->values++] = (struct trace_value){
			.key = key, .number = number, .is_address = is_address,
		};
}

void tell_words(struct trace_label *label, const char *key, const char *text)
{
	if (label->values < TRACE_VALUES_MOST)
		label->value[label->values++] =
			(struct trace_value){ .key = key, .text = text };
}

struct trace_track tell_thread_track(struct story *s, struct trace_thread *t)
{
	struct trace_track track = { TRACE_THREAD, t->id };
	char name[TRACE_NAME_BYTES];

	if (!t->has_track) {
		t->has_track = 1;
		s->w->format->track(s->w, track, trace_thread_words(t, name));
	}
	return track;
}

struct trace_track tell_marks_track(struct story *s, struct trace_thread *t)
{
	struct trace_track track = { TRACE_MARKS, t->id };
	char name[TRACE_NAME_BYTES + 8], of[TRACE_NAME_BYTES];

	(void)tell_thread_track(s, t);
	if (!t->has_marks) {
		t->has_marks = 1;
		snprintf(name, sizeof(name), "marks of %s", trace_thread_words(t, of));
		s->w->format->track(s->w, track, name);
	}
	return track;
}

int tell_has_slice(const struct trace_thread *t)
{
	return t->state != TRACE_UNKNOWN && t->state != TRACE_ENDED;
}

/* The open slice of the thread's track ends; label, if any, begins. */
void tell_becomes(struct story *s, struct trace_thread *t, enum trace_state state,
		    const struct trace_label *label)
{
	struct trace_track track = tell_thread_track(s, t);

	if (tell_has_slice(t))
		tell_end(s, track);
	trace_thread_is(&s->threads, t, state);
	if (label)
		tell_begin(s, track, label);
}

struct trace_thread *tell_thread(struct story *s, uint64_t id)
{
	struct trace_thread *t = trace_thread_in(&s->threads, (uint32_t)id);

	/* The slot's thread before this one has ended, if that was recorded or not. */
	if (id && t && t->id != id)
		tell_becomes(s, t, TRACE_ENDED, NULL);
	t = trace_thread(&s->threads, id);
	s->failed |= id && !t;
	return t;
}

/* --- events -------------------------------------------------------------- */

void tell_name(struct story *s, const struct trace_event *e)
{
	struct trace_thread *t = tell_thread(s, e->thread);
	char text[TRACE_NAME_BYTES];

	if (!t)
		return;
	trace_thread_rename(t, e->text);
	if (t->has_track)
		s->w->format->track(s->w, (struct trace_track){ TRACE_THREAD, t->id },
				    trace_thread_words(t, text));
	t->has_marks = 0;	/* is named anew at its next mark */
}

void tell_mark(struct story *s, const struct trace_event *e)
{
	struct trace_thread *t = tell_thread(s, e->thread);
	struct trace_label label = { .name = e->text };

	if (!t)
		return;
	tell_number(&label, "value", e->arg, 0);
	if (e->kind == WEFTI_EVENT_MARK) {
		tell_point(s, tell_marks_track(s, t), &label);
	} else if (e->kind == WEFTI_EVENT_BEGIN) {
		tell_begin(s, tell_marks_track(s, t), &label);
		t->marks++;
	} else if (t->marks) {
		tell_end(s, tell_marks_track(s, t));
		t->marks--;
	}
}

void tell_on_thread(struct story *s, const struct trace_event *e)
{
	struct trace_thread *t = tell_thread(s, e->thread);
	struct trace_label label = { .name = "signal" };
	char stack[TRACE_STACK_BYTES];

	if (!t)
		return;
	if (e->kind == WEFTI_EVENT_SIGNAL) {
		tell_number(&label, "number", e->detail, 0);
	} else if (e->kind == WEFTI_EVENT_SAMPLE) {
		label.name = "on the CPU";
		tell_words(&label, "in", trace_stack_words(s->stacks, e, stack));
	} else if (e->kind == WEFTI_EVENT_SEAT_LOST) {
		label.name = "has lost its VCPU";
		tell_number(&label, "for ns", e->arg, 0);
	} else {
		return;
	}
	tell_point(s, tell_thread_track(s, t), &label);
}

/* The id is another thread's from here on. */
void tell_release(struct story *s, const struct trace_event *e)
{
	struct trace_thread *t = tell_thread(s, e->thread);

	for (; t && t->marks; t->marks--)
		tell_end(s, tell_marks_track(s, t));
	if (t)
		tell_becomes(s, t, TRACE_ENDED, NULL);
}
