/* SPDX-License-Identifier: MIT */
/*
 * cli/trace/recording.h - a recording: events out of a file, in the order of their times
 *
 * A file is one of three. A program writes a copy of its recorder's memory
 * (record/format.h). A core file has that memory among others. weft trace writes a log
 * while a program runs. A log is a head with the
 * magic of a log, and then blocks. A block is its own head and `count` items:
 *   ring < head.ring_count    events of that ring, the first one with number `first`
 *   ring == head.ring_count   names of threads, the first one that of slot `first`
 *   ring == head.ring_count + 1   words of text: what the process had mapped
 * A log that was cut off anywhere can be read up to its last whole block. A copy of memory,
 * or a core file, that was cut off has the events in front of its end.
 *
 * Rejected: a log in the layout of the memory. The size of its rings would have to be
 * known when the first event is written.
 */
#ifndef WEFT_CLI_TRACE_RECORDING_H
#define WEFT_CLI_TRACE_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "record/format.h"

#define TRACE_LOG_MAGIC	"weftlog"	/* 8 bytes, with the NUL */

struct trace_block {
	uint32_t ring;
	uint32_t count;
	uint64_t first;
};

/* An event as it lies in a file: what nobody writes any more has no atomics. */
struct trace_item {
	uint64_t word, time, thread, arg;
};

_Static_assert(sizeof(struct trace_item) == sizeof(struct wefti_event), "the same");

#define TRACE_STACK_MOST	(WEFTI_RECORD_STACK_WORDS + 63 * 1024 / sizeof(uint64_t))
#define TRACE_TEXT_MOST		240u

struct trace_event {
	int64_t time;		/* CLOCK_MONOTONIC, in nanoseconds */
	uint64_t thread, arg;
	uint32_t detail;
	unsigned kind;		/* enum wefti_event_kind; never TEXT or STACK */
	unsigned ring;		/* the VCPU; from the number of VCPUs on: no VCPU's */
	unsigned words;		/* of stack: a wefti_record_stack, and what follows it */
	uint64_t lost;		/* events of this ring that are missing in front of it */
	uint64_t stack[TRACE_STACK_MOST];
	char text[TRACE_TEXT_MOST + 1];
};

/* Events that follow each other, in a file that is mapped. */
struct trace_run {
	const struct trace_item *items;
	uint64_t first;		/* the number of the first one */
	size_t count;
};

/* A ring's events, and how far they were read. */
struct trace_ring {
	struct trace_run *runs;
	size_t run_count, run, item;
	uint64_t expected;	/* the number of the next event if none is missing */
	int has_next;
	struct trace_event next;
};

struct trace_recording {
	struct wefti_record_head head;
	const struct wefti_record_name *names;
	uint32_t name_count;
	struct trace_ring *rings, *last;	/* last: the event given out is of it */
	const char *maps;	/* as /proc/PID/maps has it, without an end; NULL: none */
	size_t maps_bytes;
	const char *data, *file;	/* data: the recording in the file */
	size_t bytes, file_bytes;
};

/* Is the file a recording? Decided by its first bytes. */
int trace_is_recording(const char *path);

/* Returns NULL, or what is wrong, in words. The descriptor stays the caller's. */
const char *trace_recording_open(struct trace_recording *r, int fd);
void trace_recording_close(struct trace_recording *r);

/* The next event of all rings, by time; valid until the next call. NULL: no more. */
const struct trace_event *trace_recording_next(struct trace_recording *r);

/* The thread's name by the table of names. NULL: it has none there. */
const char *trace_recording_name(const struct trace_recording *r, uint64_t id,
				 char name[WEFTI_RECORD_NAME_BYTES + 1]);

/* Checks a head that another process has written. NULL: it can be used. */
const char *trace_head_fault(const struct wefti_record_head *head, uint64_t bytes);

#endif
