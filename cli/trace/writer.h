/* SPDX-License-Identifier: MIT */
/*
 * cli/trace/writer.h - what a format of traces can be told
 *
 * A track is a line of time with slices on it, which nest, and with points. story.c says
 * what happens on which track; a writer says it in its format. Times are CLOCK_MONOTONIC
 * in nanoseconds and never go back.
 */
#ifndef WEFT_CLI_TRACE_WRITER_H
#define WEFT_CLI_TRACE_WRITER_H

#include <stdint.h>
#include <stdio.h>

#include "record/format.h"

enum trace_kind {
	TRACE_VCPU,	/* which thread it runs */
	TRACE_THREAD,	/* running, ready, waiting */
	TRACE_MARKS,	/* of one thread: the slices that the program began itself */
	TRACE_KTHREAD,	/* which VCPU it carries */
	TRACE_COUNTER,
};

struct trace_track {
	enum trace_kind kind;
	uint64_t number;	/* a VCPU's, a thread's id, a kernel thread's, ... */
};

/* A value beside a slice or a point: text, or a number if that is NULL. */
struct trace_value {
	const char *key, *text;
	uint64_t number;
	int is_address;
};

#define TRACE_VALUES_MOST	4u

struct trace_label {
	const char *name;
	uint64_t flow_from;	/* not 0: an arrow with this number begins here */
	uint64_t flow_to;	/* not 0: it ends here */
	unsigned values;
	struct trace_value value[TRACE_VALUES_MOST];
};

struct trace_writer;

/* Each writes to `file`; an error of the file is found at the end. */
struct trace_format {
	const char *name, *suffix;
	void (*open)(struct trace_writer *w, const struct wefti_record_head *head);
	/* A new track, or a new name of one. */
	void (*track)(struct trace_writer *w, struct trace_track track, const char *name);
	void (*begin)(struct trace_writer *w, struct trace_track track, int64_t time,
		      const struct trace_label *label);
	void (*end)(struct trace_writer *w, struct trace_track track, int64_t time);
	void (*point)(struct trace_writer *w, struct trace_track track, int64_t time,
		      const struct trace_label *label);
	void (*count)(struct trace_writer *w, struct trace_track track, int64_t time,
		      int64_t value);
	void (*close)(struct trace_writer *w);
};

struct trace_writer {
	const struct trace_format *format;
	FILE *file;
	void *own;		/* the format's */
	int failed;		/* there was no memory */
};

extern const struct trace_format trace_perfetto, trace_chrome;

#endif
