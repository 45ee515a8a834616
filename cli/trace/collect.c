/* SPDX-License-Identifier: MIT */
/*
 * cli/trace/collect.c - records a living process into a log
 *
 * The process is asked to record, by a signal (observe/asked.h). A request holds for some
 * seconds and is renewed, so a process whose reader was killed soon stops to record.
 * Reading changes nothing in it.
 */
#include "trace/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "observe/profile.h"
#include "observe/recording.h"
#include "os/call/clock.h"
#include "os/signal/signal.h"
#include "trace/drain.h"

#define MS		INT64_C(1000000)
#define ATTACH_NS	(10000 * MS)
#define RENEW_NS	(1000 * MS)
#define AGAIN_NS	(2 * MS)
#define NAP_MOST_NS	(20 * MS)
#define NAP_LEAST_NS	(MS / 20)

static volatile sig_atomic_t is_over;

static void on_end(int signal)
{
	(void)signal;
	is_over = 1;
}

void trace_handle(int signal, void (*handler)(int))
{
	const struct sigaction act = { .sa_handler = handler };
	struct sigaction old;

	if (sigaction(signal, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(signal, &act, NULL);
}

static void nap(int64_t ns)
{
	const struct timespec time = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&time, NULL);		/* a signal may end it */
}

int trace_ask(long pid, unsigned mib, unsigned lease_ms)
{
	const uint64_t value = (uint64_t)WEFTI_RECORDING_MARK << 32 |
			       (uint64_t)mib << 16 | lease_ms;
	const union sigval is = { .sival_ptr = (void *)(uintptr_t)value };

	return sigqueue((pid_t)pid, wefti_os_preempt_signal(), is);
}

static int ask(const struct trace_target *t, unsigned lease_ms)
{
	return trace_ask(t->pid, t->mib, lease_ms);
}

/* A program that is about to begin, or to end, has another memory, or none. */
static void note_maps(struct trace_target *t)
{
	size_t bytes;
	char *text = weft_cli_maps(t->pid, &bytes);

	if (!text)
		return;
	free(t->maps);
	t->maps = text;
}

static void ask_stacks(const struct trace_target *t, uint32_t stacks)
{
	const uint64_t value = (uint64_t)WEFTI_PROFILE_MARK << 32 | stacks;
	const union sigval is = { .sival_ptr = (void *)(uintptr_t)value };

	(void)sigqueue((pid_t)t->pid, wefti_os_preempt_signal(), is);
}

/* A signal is lost if another one is pending, so the memory has to say that it came. */
static void renew(struct trace_target *t, const struct trace_memory *m, int64_t now,
		  int64_t *renewed)
{
	const int is_late = now - *renewed >= RENEW_NS;

	if (is_late) {
		(void)ask(t, WEFTI_RECORDING_LEASE_MS);
		*renewed = now;
		if (t->stacks)
			note_maps(t);
	} else if (t->stacks && now - t->asked >=
		   (load_relaxed(&m->live->stacks) == t->stacks ? RENEW_NS : AGAIN_NS)) {
		ask_stacks(t, t->stacks);
		t->asked = now;
	}
}

static int has_ended(struct trace_target *t)
{
	return t->child ? trace_child_has_ended(t) :
			  t->program || (kill((pid_t)t->pid, 0) != 0 && errno == ESRCH);
}

static const char *no_monitor(const struct trace_target *t, int has)
{
	if (has < 0)
		return errno == ENOENT ? "there is no such process" : strerror(errno);
	return t->program ? NULL :
	       "it has no threads of weft: it does not run on weft, or has made no thread yet";
}

/* One try to find the memory, switched on. Returns NULL, "" for not yet, or a fault. */
static const char *try_attach(struct trace_target *t, struct trace_memory *m, int *was_on)
{
	const char *why;
	int has;

	if (!m->live) {
		has = weft_cli_has_monitor(t->pid);
		if (has <= 0) {
			why = no_monitor(t, has);
			return why ? why : "";
		}
		why = trace_attach(m, t->pid);
		if (why && *why)
			return t->program ? "" : why;	/* it may be about to exec */
		if (*was_on < 0)
			*was_on = m->live && load_relaxed(&m->live->on);
	}
	if (m->live && load_relaxed(&m->live->on))
		return NULL;
	if (t->for_ns == 0)
		return m->live ? NULL : "nothing was recorded";
	return ask(t, WEFTI_RECORDING_LEASE_MS) != 0 ? strerror(errno) : "";
}

static const char *attach(struct trace_target *t, struct trace_memory *m, int *was_on)
{
	const int64_t until = wefti_os_now_ns() + ATTACH_NS;
	const char *why = "";

	*was_on = -1;
	while (!is_over) {
		why = try_attach(t, m, was_on);
		if (!why || *why)
			return why;
		if (has_ended(t))
			return t->program ? "it has ended without threads of weft" :
					    "the process has ended";
		if (!t->program && wefti_os_now_ns() > until)
			return "no answer in 10 seconds: the process is stopped, is in "
			       "another container, has WEFT_DUMP=off and "
			       "WEFT_DEADLOCK=off, or is set-user-ID";
		nap(t->program ? MS / 4 : 10 * MS);
	}
	return "nothing is recorded yet";
}

/* Sleeps for longer while little is written, and not at all while a ring is half full. */
static int64_t next_nap(int64_t ns, int full)
{
	if (full > 50)
		return 0;
	if (full > 20)
		return ns / 2;
	if (full > 5)
		return ns;
	return ns < NAP_LEAST_NS ? NAP_LEAST_NS : ns * 2 < NAP_MOST_NS ? ns * 2 : NAP_MOST_NS;
}

static int drain_until_the_end(struct trace_target *t, struct trace_drain *d)
{
	const int64_t start = wefti_os_now_ns();
	int64_t now = start, renewed = 0, ns = MS;
	int full;

	while (!is_over && !has_ended(t) && (t->for_ns < 0 || now - start < t->for_ns)) {
		if (now - renewed >= RENEW_NS && !t->program && weft_cli_has_ended(t->pid))
			break;		/* its parent has not noticed yet */
		renew(t, d->memory, now, &renewed);
		full = trace_drain_once(d);
		if (full < 0)
			return -1;
		ns = next_nap(ns, full);
		if (t->for_ns >= 0 && now + ns > start + t->for_ns)
			ns = start + t->for_ns - now;
		if (ns > 0)
			nap(ns);
		now = wefti_os_now_ns();
	}
	return 0;
}

static const char *drain(struct trace_target *t, struct trace_memory *m, int fd, int was_on)
{
	struct trace_drain d;
	int error = trace_drain_open(&d, m, fd, !was_on && !t->program && t->for_ns != 0);

	if (error == 0 && t->for_ns != 0)
		error = drain_until_the_end(t, &d);
	if (t->stacks) {
		note_maps(t);
		ask_stacks(t, 0);
		nap(MS);	/* else the next signal is lost */
	}
	if (t->for_ns != 0)
		(void)ask(t, 0);
	/* Twice: an event that was being written is whole now. */
	if (error == 0 && (trace_drain_once(&d) < 0 || trace_drain_once(&d) < 0))
		error = -1;
	if (error == 0)
		error = trace_drain_close(&d, t->maps);
	t->events = d.events;
	t->lost = d.lost;
	return error == 0 ? NULL : strerror(d.error ? d.error : errno);
}

const char *trace_collect(struct trace_target *t, int fd)
{
	struct trace_memory memory = { .live = NULL };
	const char *why;
	int was_on;

	if (t->program && trace_child_start(t) != 0)
		return strerror(errno);
	if (!t->program) {
		trace_handle(SIGTERM, on_end);
		trace_handle(SIGHUP, on_end);
		trace_handle(SIGINT, on_end);
	}
	why = attach(t, &memory, &was_on);
	if (!why)
		why = drain(t, &memory, fd, was_on);
	trace_detach(&memory);
	return why;
}
