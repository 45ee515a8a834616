/* SPDX-License-Identifier: MIT */
/* cli/trace/story.c - what the events of a recording mean, told to a writer */
#include "trace/story.h"

#include <stdlib.h>

#include "trace/stack.h"
#include "trace/tell.h"

static const char *const count_names[COUNTS] = {
	[COUNT_READY] = "threads ready",
	[COUNT_RUNNING] = "threads running",
	[COUNT_WAITING] = "threads that wait",
	[COUNT_BLOCKED] = "threads that may block",
	[COUNT_IDLE] = "VCPUs idle",
};

/* Events that say something only in a VCPU's own ring. */
static void of_vcpu(struct story *s, const struct trace_event *e)
{
	switch (e->kind) {
	case WEFTI_EVENT_RUN:
		tell_run(s, e);
		break;
	case WEFTI_EVENT_DEADLINE:
		s->vcpu[e->ring].deadline = (int64_t)e->arg;
		break;
	case WEFTI_EVENT_OWNER:
		s->vcpu[e->ring].owner = e->thread;
		break;
	case WEFTI_EVENT_IDLE:
	case WEFTI_EVENT_AWAKE:
		tell_idle(s, e, e->kind == WEFTI_EVENT_IDLE);
		break;
	case WEFTI_EVENT_CARRY:
		tell_carry(s, e);
		break;
	default:
		break;
	}
}

static void tell_event(struct story *s, const struct trace_event *e)
{
	switch (e->kind) {
	case WEFTI_EVENT_READY:
		tell_ready(s, e);
		break;
	case WEFTI_EVENT_SLEEP:
	case WEFTI_EVENT_GO_ON:
		tell_foreign(s, e);
		break;
	case WEFTI_EVENT_SPAWN:
		tell_spawn(s, e);
		break;
	case WEFTI_EVENT_RELEASED:
		tell_release(s, e);
		break;
	case WEFTI_EVENT_NAME:
		tell_name(s, e);
		break;
	case WEFTI_EVENT_STEAL:
	case WEFTI_EVENT_PREEMPT:
	case WEFTI_EVENT_WAKE:
		tell_on_vcpu(s, e);
		break;
	case WEFTI_EVENT_TAKEN:
		tell_take(s, e);
		break;
	case WEFTI_EVENT_BLOCK_BEGIN:
	case WEFTI_EVENT_BLOCK_END:
		tell_region(s, e, e->kind == WEFTI_EVENT_BLOCK_BEGIN);
		break;
	case WEFTI_EVENT_KTHREAD_MADE:
	case WEFTI_EVENT_KTHREAD_ENDED:
		tell_kthread(s, e);
		break;
	case WEFTI_EVENT_SEAT_LOST:
	case WEFTI_EVENT_SIGNAL:
	case WEFTI_EVENT_SAMPLE:
		tell_on_thread(s, e);
		break;
	case WEFTI_EVENT_MARK:
	case WEFTI_EVENT_BEGIN:
	case WEFTI_EVENT_END:
		tell_mark(s, e);
		break;
	default:
		if (e->ring < s->vcpus)
			of_vcpu(s, e);
		break;
	}
}

static void count(struct story *s)
{
	const int64_t *in = s->threads.in_state;
	const int64_t now[COUNTS] = {
		[COUNT_READY] = in[TRACE_READY],
		[COUNT_RUNNING] = in[TRACE_RUNNING] + in[TRACE_IN_REGION],
		[COUNT_WAITING] = in[TRACE_WAITING],
		[COUNT_BLOCKED] = in[TRACE_IN_REGION] + in[TRACE_TAKEN],
		[COUNT_IDLE] = s->idle,
	};

	for (unsigned i = 0; i < COUNTS; i++) {
		const struct trace_track track = { TRACE_COUNTER, i };

		if (now[i] == s->counts[i])
			continue;
		s->counts[i] = now[i];
		s->w->format->count(s->w, track, s->now, now[i]);
	}
}

static void open_tracks(struct story *s)
{
	char text[32];

	for (unsigned i = 0; i < s->vcpus; i++) {
		snprintf(text, sizeof(text), "VCPU %u", i);
		s->w->format->track(s->w, tell_vcpu_track(i), text);
	}
	s->w->format->track(s->w, tell_vcpu_track(s->vcpus), "outside of VCPUs");
	for (unsigned i = 0; i < COUNTS; i++)
		s->w->format->track(s->w, (struct trace_track){ TRACE_COUNTER, i },
				    count_names[i]);
}

/* Whatever is open ends at the last event. */
static void close_tracks(struct story *s)
{
	for (unsigned i = 0; i < s->vcpus; i++) {
		tell_vcpu_ends(s, i);
		if (s->vcpu[i].has_carrier)
			tell_end(s, tell_kthread_track(s->vcpu[i].carrier));
	}
	for (size_t i = 0; i < s->threads.slots; i++) {
		struct trace_thread *t = trace_thread_in(&s->threads, i);

		for (; t && t->marks; t->marks--)
			tell_end(s, tell_marks_track(s, t));
		if (t && tell_has_slice(t))
			tell_becomes(s, t, TRACE_UNKNOWN, NULL);
	}
}

int trace_tell(struct trace_recording *recording, struct trace_writer *writer)
{
	struct story s = {
		.threads.recording = recording, .w = writer,
		.stacks = trace_stack_open(recording),
		.vcpus = recording->head.vcpus,
		.vcpu = calloc(recording->head.ring_count, sizeof(*s.vcpu)),
	};
	const struct trace_event *e;

	if (!s.vcpu)
		return -1;
	for (unsigned i = 0; i < COUNTS; i++)
		s.counts[i] = -1;
	writer->format->open(writer, &recording->head);
	if (!writer->failed)
		open_tracks(&s);
	while (!s.failed && !writer->failed && (e = trace_recording_next(recording))) {
		if (e->time > s.now)
			s.now = e->time;
		if (e->lost)
			tell_gap(&s, e);
		tell_event(&s, e);
		count(&s);
	}
	if (!writer->failed)
		close_tracks(&s);
	writer->format->close(writer);
	trace_threads_free(&s.threads);
	trace_stack_close(s.stacks);
	free(s.vcpu);
	return s.failed || writer->failed ? -1 : 0;
}
