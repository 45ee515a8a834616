/* SPDX-License-Identifier: MIT */
/* cli/trace/drain.h - events out of a living process's recorder, into a log */
#ifndef WEFT_CLI_TRACE_DRAIN_H
#define WEFT_CLI_TRACE_DRAIN_H

#include <stdint.h>

#include "record/format.h"

/* A recorder's memory, mapped to be read. */
struct trace_memory {
	const struct wefti_record_head *live;	/* the process's; not trusted */
	struct wefti_record_head head;		/* as it was when we had checked it */
	uint64_t bytes;
};

/*
 * Finds the memory of process pid. Returns NULL; or why not, in words: "" if the process
 * has none yet.
 */
const char *trace_attach(struct trace_memory *m, long pid);
void trace_detach(struct trace_memory *m);

struct trace_drain {
	struct trace_memory *memory;
	int fd;			/* the log */
	uint64_t *next;		/* of each ring: the number of the next event */
	uint64_t *stuck;	/* of each ring: an event that was not whole; + 1 */
	uint64_t events, lost;
	struct trace_item *items;
	int error;		/* of the log */
};

/* from_now: without what was recorded before. Returns 0, or -1 with errno. */
int trace_drain_open(struct trace_drain *d, struct trace_memory *m, int fd, int from_now);

/*
 * Takes what has been recorded since the last call. Returns the fullest ring's part of
 * its size, in percent, or -1 with d->error set.
 */
int trace_drain_once(struct trace_drain *d);

/* Adds the names, the better rate of the clock, and maps, if any. Returns 0, or -1. */
int trace_drain_close(struct trace_drain *d, const char *maps);

#endif
