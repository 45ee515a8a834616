/* SPDX-License-Identifier: MIT */
/* cli/trace/threads.h - the threads of a recording: names and states */
#ifndef WEFT_CLI_TRACE_THREADS_H
#define WEFT_CLI_TRACE_THREADS_H

#include "trace/recording.h"

/* UNKNOWN: nothing was recorded of it yet, or events are missing. */
enum trace_state {
	TRACE_UNKNOWN,
	TRACE_RUNNING,		/* on a VCPU */
	TRACE_IN_REGION,	/* the same, and may block */
	TRACE_TAKEN,		/* running or blocked, and its VCPU was taken */
	TRACE_READY,
	TRACE_WAITING,
	TRACE_ENDED,
	TRACE_STATES
};

struct trace_thread {
	uint64_t id;		/* 0: none in this slot */
	enum trace_state state;
	unsigned vcpu;		/* RUNNING, IN_REGION */
	int has_track, has_marks;
	int woken_early;	/* before it had left its VCPU */
	int64_t ready_at;	/* since when, for latency.c and profile/; 0: not known */
	unsigned marks;		/* begun, and not ended */
	int64_t left_at;	/* for weft profile; 0: not known */
	int64_t blocked_at;	/* the same */
	uint64_t owner, began, object;	/* the same: of the lock; its function */
	uint32_t why, blocked_why;	/* the same */
	uint64_t flow;		/* the arrow that will end where it runs; 0: none */
	char name[WEFTI_RECORD_NAME_BYTES + 1];	/* "": none */
};

struct trace_threads {
	struct trace_recording *recording;
	struct trace_thread ***chunk;	/* of pointers to threads, by the id's slot */
	size_t slots;			/* behind the last one that is used */
	int64_t in_state[TRACE_STATES];	/* how many threads are */
};

/*
 * The thread with this id. A thread that had the slot before is forgotten. NULL: there is
 * no memory, or the id is 0.
 */
struct trace_thread *trace_thread(struct trace_threads *all, uint64_t id);

/* The last thread that had this slot. NULL: none had it yet. */
struct trace_thread *trace_thread_in(const struct trace_threads *all, size_t slot);

void trace_thread_is(struct trace_threads *all, struct trace_thread *t,
		     enum trace_state state);
void trace_thread_rename(struct trace_thread *t, const char *name);

/* The name, or "id N". */
#define TRACE_NAME_BYTES	(4 * WEFTI_RECORD_NAME_BYTES + 32u)	/* shown */
const char *trace_thread_words(const struct trace_thread *t, char text[TRACE_NAME_BYTES]);

void trace_threads_free(struct trace_threads *all);

#endif
