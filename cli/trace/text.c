/* SPDX-License-Identifier: MIT */
/* cli/trace/text.c - a trace as text: one line for each event */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "trace/stack.h"
#include "trace/story.h"
#include "trace/threads.h"
#include "trace/words.h"

struct text {
	struct trace_threads threads;
	struct profile_files *stacks;
	FILE *file;
	int64_t start;
	unsigned vcpus;
};

static const char *name_of(struct text *x, uint64_t id, char name[TRACE_NAME_BYTES])
{
	(void)trace_thread_words(trace_thread(&x->threads, id), name);
	return weft_cli_clean(name, TRACE_NAME_BYTES);
}

static void put_text(struct text *x, const char *what, const struct trace_event *e)
{
	char text[4 * TRACE_TEXT_MOST + 5];

	snprintf(text, sizeof(text), "%s", e->text);
	fprintf(x->file, "%s \"%s\"", what, weft_cli_clean(text, sizeof(text)));
}

static void put_left(struct text *x, const struct trace_event *e)
{
	switch (e->detail) {
	case WEFTI_LEFT_NONE:
		return;
	case WEFTI_LEFT_YIELDED:
		fputs("; the last one gave way", x->file);
		return;
	case WEFTI_LEFT_SPAWNED:
		fputs("; its parent is ready", x->file);
		return;
	case WEFTI_LEFT_ENDED:
		fputs("; the last one has ended", x->file);
		return;
	default:
		fprintf(x->file, "; the last one %s", trace_wait_words(e->detail));
		if (e->arg)
			fprintf(x->file, " %#" PRIx64, e->arg);
	}
}

static void put_wait(struct text *x, const struct trace_event *e)
{
	fputs(trace_wait_words(e->detail), x->file);
	if (e->arg)
		fprintf(x->file, " %#" PRIx64, e->arg);
}

static void put_by(struct text *x, const struct trace_event *e, const char *words)
{
	char by[TRACE_NAME_BYTES];

	if (e->arg)
		fprintf(x->file, "%s %s", words, name_of(x, e->arg, by));
}

static void put_taken(struct text *x, const struct trace_event *e)
{
	fprintf(x->file, "VCPU %" PRIu32 " is taken from it", e->detail);
	if (e->arg != UINT64_MAX)
		fprintf(x->file, ", in system call %" PRIu64, e->arg);
}

/* What happened on VCPUs and to kernel threads. */
static void put_of_vcpu(struct text *x, const struct trace_event *e)
{
	switch (e->kind) {
	case WEFTI_EVENT_STEAL:
		fprintf(x->file, "%" PRIu32 " thread%s stolen from VCPU %" PRIu64,
			e->detail, e->detail == 1 ? "" : "s", e->arg);
		break;
	case WEFTI_EVENT_IDLE:
		fputs("the VCPU idles", x->file);
		break;
	case WEFTI_EVENT_AWAKE:
		fputs("the VCPU goes on", x->file);
		break;
	case WEFTI_EVENT_WAKE:
		fprintf(x->file, "VCPU %" PRIu32 " is woken", e->detail);
		break;
	case WEFTI_EVENT_CARRY:
		fprintf(x->file, "kernel thread %" PRIu32 " carries the VCPU, tid %" PRIu64,
			e->detail, e->arg);
		break;
	case WEFTI_EVENT_KTHREAD_MADE:
		fprintf(x->file, "kernel thread %" PRIu32 " is made", e->detail);
		break;
	case WEFTI_EVENT_KTHREAD_ENDED:
		fprintf(x->file, "kernel thread %" PRIu32 " has ended", e->detail);
		break;
	default:
		fprintf(x->file, "event of kind %u", e->kind);
	}
}

/* What a thread does outside the scheduler, and what the program has marked. */
static void put_said(struct text *x, const struct trace_event *e)
{
	switch (e->kind) {
	case WEFTI_EVENT_OWNER:
		fputs("owns the lock", x->file);
		break;
	case WEFTI_EVENT_SIGNAL:
		fprintf(x->file, "handles signal %" PRIu32, e->detail);
		break;
	case WEFTI_EVENT_MARK:
		put_text(x, "mark", e);
		fprintf(x->file, " %" PRIu64, e->arg);
		break;
	case WEFTI_EVENT_BEGIN:
		put_text(x, "begin", e);
		fprintf(x->file, " %" PRIu64, e->arg);
		break;
	case WEFTI_EVENT_END:
		fputs("end", x->file);
		break;
	case WEFTI_EVENT_SAMPLE:
		fprintf(x->file, "has used the CPU for %" PRIu64 " ns", e->arg);
		break;
	default:
		put_of_vcpu(x, e);
	}
}

static void put_what(struct text *x, const struct trace_event *e)
{
	switch (e->kind) {
	case WEFTI_EVENT_RUN:
		fputs(e->thread ? "runs" : "nothing runs", x->file);
		put_left(x, e);
		break;
	case WEFTI_EVENT_READY:
		fprintf(x->file, "is ready, %s", trace_ready_words(e->detail));
		put_by(x, e, " by");
		if (e->detail & WEFTI_READY_INJECTED)
			fputs(", for any VCPU", x->file);
		break;
	case WEFTI_EVENT_SLEEP:
		put_wait(x, e);
		break;
	case WEFTI_EVENT_GO_ON:
		fputs("goes on", x->file);
		break;
	case WEFTI_EVENT_DEADLINE:
		fprintf(x->file, "waits until %.6f at the latest",
			((double)(int64_t)e->arg - (double)x->start) / 1e9);
		break;
	case WEFTI_EVENT_SPAWN:
		fprintf(x->file, "is spawned, begins at %#" PRIx64, e->arg);
		break;
	case WEFTI_EVENT_RELEASED:
		fputs("is no more", x->file);
		put_by(x, e, ", joined by");
		break;
	case WEFTI_EVENT_NAME:
		put_text(x, "is named", e);
		break;
	case WEFTI_EVENT_PREEMPT:
		fprintf(x->file, "its slice is over, at %#" PRIx64, e->arg);
		break;
	case WEFTI_EVENT_TAKEN:
		put_taken(x, e);
		break;
	case WEFTI_EVENT_SEAT_LOST:
		fprintf(x->file, "was without a VCPU for %" PRIu64 " ns", e->arg);
		break;
	case WEFTI_EVENT_BLOCK_BEGIN:
		fputs("may block from here on", x->file);
		break;
	case WEFTI_EVENT_BLOCK_END:
		fputs("blocks no more", x->file);
		break;
	default:
		put_said(x, e);
	}
}

static void put_line(struct text *x, const struct trace_event *e)
{
	struct trace_thread *t = trace_thread(&x->threads, e->thread);
	char stack[TRACE_STACK_BYTES], name[TRACE_NAME_BYTES];

	if (t && e->kind == WEFTI_EVENT_NAME)
		trace_thread_rename(t, e->text);
	if (e->lost)
		fprintf(x->file, "-- %" PRIu64 " events are lost here\n", e->lost);
	fprintf(x->file, "%12.6f ", (double)(e->time - x->start) / 1e9);
	if (e->ring < x->vcpus)
		fprintf(x->file, "%4u ", e->ring);
	else
		fputs("   - ", x->file);
	fprintf(x->file, "%-20s ", t ? name_of(x, e->thread, name) : "-");
	put_what(x, e);
	if (*trace_stack_words(x->stacks, e, stack))
		fprintf(x->file, "%s%s", e->kind == WEFTI_EVENT_RUN ? "; it waited in " :
			" in ", stack);
	putc('\n', x->file);
}

/* The wall clock at the first event. */
static void put_start(struct text *x, const struct wefti_record_head *head, int64_t first)
{
	const int64_t ns = head->start_real_ns + (first - head->start_ns);
	const time_t seconds = (time_t)(ns / 1000000000);
	char text[64] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(x->file, "# process %" PRIu32 ", %" PRIu32 " VCPUs, from %s.%06" PRId64
		" UTC on\n#    seconds VCPU thread               event\n",
		load_relaxed(&head->pid), head->vcpus, text, ns % 1000000000 / 1000);
}

int trace_text(struct trace_recording *recording, FILE *file)
{
	struct text x = {
		.threads.recording = recording, .file = file,
		.stacks = trace_stack_open(recording),
		.vcpus = recording->head.vcpus,
	};
	const struct trace_event *e;
	int has_begun = 0;

	while ((e = trace_recording_next(recording))) {
		if (!has_begun) {
			x.start = e->time;
			put_start(&x, &recording->head, e->time);
		}
		has_begun = 1;
		put_line(&x, e);
	}
	trace_threads_free(&x.threads);
	trace_stack_close(x.stacks);
	return 0;
}
