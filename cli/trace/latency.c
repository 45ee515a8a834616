/* SPDX-License-Identifier: MIT */
/*
 * cli/trace/latency.c - how long threads are ready before they run, by recorded events
 *
 * The process counts nothing for this. What its rings hold is copied into a log in memory,
 * and read as weft trace reads one. So the figures are those of the last events, some
 * thousand or some hundred thousand: enough for a 99th percentile, and no more to copy if
 * the process switches more often.
 *
 * Rejected: a time of its own in each thread, set when it becomes ready. That is a read of
 * the clock at each wake-up, also while nobody looks. And samples of the ready threads by
 * the monitor: they meet long waits more often than short ones.
 */
#include "figures.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli.h"
#include "observe/recording.h"
#include "os/call/clock.h"
#include "trace/command.h"
#include "trace/drain.h"
#include "trace/threads.h"

#define BUFFER_MIB	8u
#define LEASE_MOST_MS	60000.0
#define BEGIN_NS	INT64_C(2000000000)	/* the process has answered by then */

/* What is known of the rings and threads while events are read in the order of time. */
struct reading {
	struct trace_threads threads;
	uint64_t *runs;		/* on each VCPU: a thread's id; 0: none */
	unsigned vcpus;
	int64_t since;		/* earlier events only say which thread runs */
	int64_t *wait;
	size_t count, room;
};

static void add(struct reading *r, int64_t ns)
{
	if (r->count == r->room) {
		const size_t room = r->room ? 2 * r->room : 4096;
		int64_t *wait = realloc(r->wait, room * sizeof(*wait));

		if (!wait)
			return;		/* the others still tell enough */
		r->wait = wait;
		r->room = room;
	}
	r->wait[r->count++] = ns > 0 ? ns : 0;
}

static void is_ready(struct reading *r, uint64_t id, int64_t time)
{
	struct trace_thread *t = trace_thread(&r->threads, id);

	if (t && time >= r->since)
		t->ready_at = time;
}

static void see_run(struct reading *r, const struct trace_event *e)
{
	struct trace_thread *t;

	if (r->runs[e->ring] &&
	    (e->detail == WEFTI_LEFT_YIELDED || e->detail == WEFTI_LEFT_SPAWNED))
		is_ready(r, r->runs[e->ring], e->time);
	r->runs[e->ring] = e->thread;
	t = trace_thread(&r->threads, e->thread);
	if (t && t->ready_at)
		add(r, e->time - t->ready_at);
	if (t)
		t->ready_at = 0;
}

static void see(struct reading *r, const struct trace_event *e)
{
	if (e->ring < r->vcpus && (e->lost || e->kind == WEFTI_EVENT_CARRY))
		r->runs[e->ring] = 0;
	if (e->kind == WEFTI_EVENT_RUN && e->ring < r->vcpus)
		see_run(r, e);
	else if (e->kind == WEFTI_EVENT_READY)
		is_ready(r, e->thread, e->time);
}

static int is_less(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void read_log(int log, int64_t since, struct weft_latency *l)
{
	struct trace_recording recording;
	const struct trace_event *e;
	struct reading r = { .since = since };

	if (trace_recording_open(&recording, log))
		return;
	r.threads.recording = &recording;
	r.vcpus = recording.head.vcpus;
	r.runs = calloc(recording.head.ring_count, sizeof(*r.runs));
	while (r.runs && (e = trace_recording_next(&recording)))
		see(&r, e);
	if (r.count) {
		qsort(r.wait, r.count, sizeof(*r.wait), is_less);
		l->count = r.count;
		l->half_ns = (uint64_t)r.wait[(r.count - 1) / 2];
		l->most_ns = (uint64_t)r.wait[(r.count - 1) * 99 / 100];
	}
	trace_threads_free(&r.threads);
	free(r.wait);
	free(r.runs);
	trace_recording_close(&recording);
}

static int copy_rings(struct trace_memory *m, int log)
{
	struct trace_drain d;
	int error = trace_drain_open(&d, m, log, 0);

	if (error == 0 && trace_drain_once(&d) < 0)
		error = -1;
	return error == 0 ? trace_drain_close(&d, NULL) : error;
}

void weft_cli_latency(long pid, int64_t since, struct weft_latency *l)
{
	struct trace_memory m = { .live = NULL };
	int log;

	*l = (struct weft_latency){ .count = 0 };
	if (trace_attach(&m, pid) || !m.live)
		return;
	log = load_relaxed(&m.live->on) ? memfd_create("weft-stat", MFD_CLOEXEC) : -1;
	if (log >= 0 && copy_rings(&m, log) == 0)
		read_log(log, since, l);
	if (log >= 0)
		close(log);
	trace_detach(&m);
}

static int is_on(long pid)
{
	struct trace_memory m = { .live = NULL };
	int on;

	if (trace_attach(&m, pid) || !m.live)
		return 0;
	on = load_relaxed(&m.live->on) != 0;
	trace_detach(&m);
	return on;
}

void weft_cli_latency_ask(long pid, double seconds)
{
	const double ms = seconds > 0 ? seconds * 1000 + WEFTI_RECORDING_LEASE_MS : 0;

	(void)trace_ask(pid, BUFFER_MIB,
			(unsigned)(ms < LEASE_MOST_MS ? ms : LEASE_MOST_MS));
}

int weft_cli_latency_begin(long pid, double seconds)
{
	const int64_t until = wefti_os_now_ns() + BEGIN_NS;

	while (!is_on(pid)) {
		if (wefti_os_now_ns() > until)
			return weft_cli_ask_fails(pid, "it does not record events");
		weft_cli_latency_ask(pid, seconds);
		if (weft_cli_pause(pid, 0.01) != 0)
			return weft_cli_ask_fails(pid, "it has ended");
	}
	return 0;
}
