/* SPDX-License-Identifier: MIT */
/*
 * cli/trace/tell.h - what the parts of the story share
 *
 * Each thread has one slice open at a time: running, ready, or what it waits for. Each
 * VCPU has the thread that it runs, or that it is idle. An event says what begins, and
 * what was open ends there. So a recording that begins in the middle, or has a gap, is
 * right again from a thread's next event on.
 */
#ifndef WEFT_CLI_TRACE_TELL_H
#define WEFT_CLI_TRACE_TELL_H

#include "trace/threads.h"
#include "trace/writer.h"

enum { COUNT_READY, COUNT_RUNNING, COUNT_WAITING, COUNT_BLOCKED, COUNT_IDLE, COUNTS };

struct tell_vcpu {
	uint64_t runs;		/* a thread's id; 0: none */
	int is_idle;
	int has_carrier;
	uint32_t carrier;	/* the kernel thread's number */
	uint64_t owner;		/* of the lock, told in front of a RUN; 0: none */
	int64_t deadline;	/* the same */
};

struct story {
	struct trace_threads threads;
	struct trace_writer *w;
	struct profile_files *stacks;
	struct tell_vcpu *vcpu;
	unsigned vcpus;
	int64_t now, counts[COUNTS], idle;
	uint64_t flows;
	int failed;
};

static inline struct trace_track tell_vcpu_track(unsigned vcpu)
{
	return (struct trace_track){ TRACE_VCPU, vcpu };
}

/* That of the ring's VCPU. All rings of no VCPU have one track. */
static inline struct trace_track tell_ring_track(const struct story *s, unsigned ring)
{
	return tell_vcpu_track(ring < s->vcpus ? ring : s->vcpus);
}

static inline struct trace_track tell_kthread_track(uint32_t number)
{
	return (struct trace_track){ TRACE_KTHREAD, number };
}

/* tell_thread.c: what the writer is told, at the story's time */
void tell_begin(struct story *s, struct trace_track track,
		const struct trace_label *label);
void tell_end(struct story *s, struct trace_track track);
void tell_point(struct story *s, struct trace_track track,
		const struct trace_label *label);
void tell_number(struct trace_label *label, const char *key, uint64_t number,
		 int is_address);
void tell_words(struct trace_label *label, const char *key, const char *text);

/* The thread of an id. NULL: the id is 0, or there is no memory. */
struct trace_thread *tell_thread(struct story *s, uint64_t id);
struct trace_track tell_thread_track(struct story *s, struct trace_thread *t);
struct trace_track tell_marks_track(struct story *s, struct trace_thread *t);
int tell_has_slice(const struct trace_thread *t);

/* The open slice of the thread's track ends; label, if any, begins. */
void tell_becomes(struct story *s, struct trace_thread *t, enum trace_state state,
		  const struct trace_label *label);

void tell_name(struct story *s, const struct trace_event *e);
void tell_mark(struct story *s, const struct trace_event *e);
void tell_on_thread(struct story *s, const struct trace_event *e);
void tell_release(struct story *s, const struct trace_event *e);

/* tell_switch.c: how threads change their states */
void tell_run(struct story *s, const struct trace_event *e);
void tell_ready(struct story *s, const struct trace_event *e);
void tell_spawn(struct story *s, const struct trace_event *e);
void tell_take(struct story *s, const struct trace_event *e);
void tell_region(struct story *s, const struct trace_event *e, int enters);
void tell_foreign(struct story *s, const struct trace_event *e);

/* tell_vcpu.c: VCPUs and kernel threads */
void tell_vcpu_ends(struct story *s, unsigned vcpu);
void tell_vcpu_runs(struct story *s, unsigned vcpu, struct trace_thread *t);
void tell_idle(struct story *s, const struct trace_event *e, int is_idle);
void tell_carry(struct story *s, const struct trace_event *e);
void tell_kthread(struct story *s, const struct trace_event *e);
void tell_on_vcpu(struct story *s, const struct trace_event *e);

/* Events are missing in front of this one. */
void tell_gap(struct story *s, const struct trace_event *e);

#endif
