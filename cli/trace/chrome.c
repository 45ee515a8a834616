/* SPDX-License-Identifier: MIT */
/*
 * cli/trace/chrome.c - a trace as Chrome's JSON, for chrome://tracing and speedscope
 *
 * The format knows processes and threads. The VCPUs, the threads and the kernel threads
 * of a recording are the threads of three processes there.
 *
 * Rejected: a library for JSON. Those in all distributions build the whole text in memory;
 * a trace may be larger than that. What has to be escaped is in put_text().
 */
#include "trace/writer.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_MOST	16u	/* names of deeper slices are not repeated at their ends */

/* Tracks have 64 bits; the numbers of threads are small in this format. */
struct known {
	struct trace_track track;
	unsigned number, depth;
	char *open[OPEN_MOST];	/* speedscope finds the slice that ends by its name */
};

struct own {
	void *tracks;		/* a tree of struct known */
	unsigned count;
	int has_begun;
	const char *counters[16];
};

static int by_track(const void *a, const void *b)
{
	const struct trace_track *x = &((const struct known *)a)->track;
	const struct trace_track *y = &((const struct known *)b)->track;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* NULL: there is no memory. */
static struct known *known(struct trace_writer *w, struct trace_track track)
{
	const struct known key = { .track = track };
	struct own *own = w->own;
	struct known *new, **found = tfind(&key, &own->tracks, by_track);

	if (found)
		return *found;
	new = malloc(sizeof(*new));
	if (new) {
		*new = (struct known){ .track = track, .number = ++own->count };
		found = tsearch(new, &own->tracks, by_track);
	}
	if (!found) {
		free(new);
		w->failed = 1;
		return NULL;
	}
	return new;
}

static unsigned number_of(struct trace_writer *w, struct trace_track track)
{
	const struct known *k = known(w, track);

	return k ? k->number : 0;
}

static unsigned process_of(struct trace_track track)
{
	switch (track.kind) {
	case TRACE_THREAD:
	case TRACE_MARKS:
		return 2;
	case TRACE_KTHREAD:
		return 3;
	default:
		return 1;
	}
}

static void put_text(FILE *file, const char *text)
{
	putc('"', file);
	for (; *text; text++) {
		const unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c >= 0x7f)	/* no name is known to be UTF-8 */
			fprintf(file, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			fprintf(file, "\\%c", c);
		else
			putc(c, file);
	}
	putc('"', file);
}

/* Times are in microseconds. */
static void put_head(struct trace_writer *w, struct trace_track track, const char *what,
		     int64_t time)
{
	struct own *own = w->own;

	fprintf(w->file, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRId64
		".%03" PRId64, own->has_begun ? ",\n" : "", what, process_of(track),
		number_of(w, track), time / 1000, time % 1000);
	own->has_begun = 1;
}

static void put_label(struct trace_writer *w, const struct trace_label *label)
{
	fputs(",\"name\":", w->file);
	put_text(w->file, label->name);
	if (label->values)	/* speedscope puts them behind the name */
		fputs(",\"args\":{", w->file);
	for (unsigned i = 0; i < label->values; i++) {
		const struct trace_value *v = &label->value[i];

		fputs(i ? "," : "", w->file);
		put_text(w->file, v->key);
		putc(':', w->file);
		if (v->text)
			put_text(w->file, v->text);
		else
			fprintf(w->file, v->is_address ? "\"0x%" PRIx64 "\"" :
				"%" PRIu64, v->number);
	}
	fputs(label->values ? "}}" : "}", w->file);
}

/* An arrow binds to the slice around it. */
static void put_flow(struct trace_writer *w, struct trace_track track, int64_t time,
		     uint64_t flow, const char *what)
{
	if (!flow)
		return;
	put_head(w, track, what, time);
	fprintf(w->file, ",\"name\":\"wakes\",\"cat\":\"wake\",\"id\":%" PRIu64
		",\"bp\":\"e\"}", flow);
}

static void put_name(struct trace_writer *w, struct trace_track track, const char *what,
		     const char *name)
{
	put_head(w, track, "M", 0);
	fprintf(w->file, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	put_text(w->file, name);
	fputs("}}", w->file);
}

static void chrome_open(struct trace_writer *w, const struct wefti_record_head *head)
{
	w->own = calloc(1, sizeof(struct own));
	if (!w->own) {
		w->failed = 1;
		return;
	}
	fprintf(w->file, "{\"otherData\":{\"program\":\"%" PRIu32 "\"},"
		"\"traceEvents\":[\n", load_relaxed(&head->pid));
	put_name(w, (struct trace_track){ TRACE_VCPU, 0 }, "process_name", "VCPUs");
	put_name(w, (struct trace_track){ TRACE_THREAD, 0 }, "process_name", "threads");
	put_name(w, (struct trace_track){ TRACE_KTHREAD, 0 }, "process_name",
		 "kernel threads");
}

static void chrome_track(struct trace_writer *w, struct trace_track track, const char *name)
{
	struct own *own = w->own;

	if (track.kind != TRACE_COUNTER)
		put_name(w, track, "thread_name", name);
	else if (track.number < sizeof(own->counters) / sizeof(*own->counters))
		own->counters[track.number] = name;
}

static void chrome_begin(struct trace_writer *w, struct trace_track track, int64_t time,
			 const struct trace_label *label)
{
	struct known *k = known(w, track);

	if (k && k->depth < OPEN_MOST)
		k->open[k->depth] = strdup(label->name);
	if (k)
		k->depth++;
	put_head(w, track, "B", time);
	put_label(w, label);
	put_flow(w, track, time, label->flow_to, "f");
}

static void chrome_end(struct trace_writer *w, struct trace_track track, int64_t time)
{
	struct known *k = known(w, track);
	char **name = k && k->depth && --k->depth < OPEN_MOST ? &k->open[k->depth] : NULL;

	put_head(w, track, "E", time);
	if (name && *name) {
		fputs(",\"name\":", w->file);
		put_text(w->file, *name);
		free(*name);
		*name = NULL;
	}
	putc('}', w->file);
}

static void chrome_point(struct trace_writer *w, struct trace_track track, int64_t time,
			 const struct trace_label *label)
{
	put_head(w, track, "i", time);
	fputs(",\"s\":\"t\"", w->file);
	put_label(w, label);
	put_flow(w, track, time, label->flow_from, "s");
	put_flow(w, track, time, label->flow_to, "f");
}

static void chrome_count(struct trace_writer *w, struct trace_track track, int64_t time,
			 int64_t value)
{
	const struct own *own = w->own;

	put_head(w, track, "C", time);
	fputs(",\"name\":", w->file);
	put_text(w->file, own->counters[track.number]);
	fprintf(w->file, ",\"args\":{\"count\":%" PRId64 "}}", value);
}

static void chrome_close(struct trace_writer *w)
{
	struct own *own = w->own;

	if (!own)
		return;
	fputs("\n]}\n", w->file);
	tdestroy(own->tracks, free);
	free(own);
}

const struct trace_format trace_chrome = {
	"chrome", ".json", chrome_open, chrome_track, chrome_begin, chrome_end,
	chrome_point, chrome_count, chrome_close,
};
