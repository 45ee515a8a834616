/* SPDX-License-Identifier: MIT */
/* cli/figures.c - what a process says of its runtime, read (observe/figures.h) */
#include "figures.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "observe/figures.h"

#define GAUGE	0
#define TOTAL	1

const struct weft_value_name weft_values[VALUE_COUNT] = {
	[VALUE_TIME_NS] = { "time_ns", NULL, NULL, GAUGE },
	[VALUE_START_NS] = { "start_ns", NULL, NULL, GAUGE },
	[VALUE_VCPUS] = { "vcpus", "weft_vcpus", "VCPUs.", GAUGE },
	[VALUE_KERNEL_THREADS] = { "kernel_threads", "weft_kernel_threads",
		"Kernel threads that carry VCPUs, or stand by for that.", GAUGE },
	[VALUE_THREADS] = { "threads", "weft_threads",
		"Threads that were spawned and not released yet.", GAUGE },
	[VALUE_THREADS_PEAK] = { "threads_peak", "weft_threads_peak",
		"The most threads at any time.", GAUGE },
	[VALUE_RUNNING] = { "running", "weft_threads_running",
		"Threads that run on a VCPU.", GAUGE },
	[VALUE_READY] = { "ready", "weft_threads_ready",
		"Threads that wait for a VCPU.", GAUGE },
	[VALUE_BLOCKED] = { "blocked", "weft_threads_blocked",
		"Threads in the kernel whose VCPU was taken.", GAUGE },
	[VALUE_ENDED] = { "ended", "weft_threads_ended",
		"Threads that have ended and are not joined yet.", GAUGE },
	[VALUE_FOREIGN] = { "foreign", "weft_threads_foreign",
		"Kernel threads of the program's own that use weft.", GAUGE },
	[VALUE_THREADS_MADE] = { "threads_made", "weft_threads_made_total",
		"Threads spawned.", TOTAL },
	[VALUE_SWITCHES] = { "switches", "weft_switches_total",
		"Switches from thread to thread.", TOTAL },
	[VALUE_STEALS] = { "steals", "weft_steals_total",
		"Threads taken from other VCPUs.", TOTAL },
	[VALUE_PREEMPTIONS] = { "preemptions", "weft_preemptions_total",
		"Threads stopped at the end of their slice.", TOTAL },
	[VALUE_COMPENSATIONS] = { "compensations", "weft_compensations_total",
		"VCPUs taken from blocked threads.", TOTAL },
	[VALUE_WAKES] = { "wakes", "weft_wakes_total",
		"VCPUs woken from idle.", TOTAL },
	[VALUE_BLOCKED_NS] = { "blocked_ns", "weft_blocked_seconds_total",
		"Time that threads were blocked after their VCPU was taken.", TOTAL },
	[VALUE_READY_NS] = { "ready_ns", "weft_ready_seconds_total",
		"Time that ready threads waited for a VCPU, by samples.", TOTAL },
};

static void read_parked(struct weft_figures *f, const char *line)
{
	struct weft_parked *p = &f->parked[f->parked_count];

	/* Its letters need no quotes in JSON. */
	if (f->parked_count < WEFT_PARKED_MOST &&
	    sscanf(line, "%15[a-z-] %lu", p->kind, &p->count) == 2)
		f->parked_count++;
}

static void read_vcpu(struct weft_figures *f, const char *line)
{
	struct weft_vcpu_figures *v = &f->vcpu[f->vcpu_count];

	if (f->vcpu_count < WEFT_VCPUS_MOST &&
	    sscanf(line, "%u %d %u %lu %lu %lu %lu", &v->index, &v->kthread, &v->ready,
		   &v->busy_ns, &v->switches, &v->steals, &v->thread) == 7)
		f->vcpu_count++;
}

static void read_thread(struct weft_figures *f, const char *line)
{
	struct weft_thread_figures *t = &f->thread[f->thread_count];

	if (f->thread_count < WEFT_ROWS_MOST &&
	    sscanf(line, "%lu %lu %15s %15s %31[^\n]", &t->id, &t->run_ns, t->state,
		   t->kind, t->name) >= 4)
		f->thread_count++;
}

static void read_object(struct weft_figures *f, const char *line)
{
	struct weft_object_figures *o = &f->object[f->object_count];

	if (f->object_count < WEFT_ROWS_MOST &&
	    sscanf(line, "%15s %23s %lu %lu %lu %31[^\n]", o->kind, o->object,
		   &o->waiting, &o->longest_ns, &o->owner, o->name) >= 5)
		f->object_count++;
}

static void read_value(struct weft_figures *f, const char *name, const char *text)
{
	for (int i = 0; i < VALUE_COUNT; i++)
		if (strcmp(name, weft_values[i].name) == 0)
			f->value[i] = strtoul(text, NULL, 10);
}

static void read_line(struct weft_figures *f, const char *name, const char *rest)
{
	static const struct {
		const char *name;
		void (*read)(struct weft_figures *f, const char *line);
	} rows[] = {
		{ "parked", read_parked },
		{ "vcpu", read_vcpu },
		{ "thread", read_thread },
		{ "object", read_object },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strcmp(name, rows[i].name) == 0) {
			rows[i].read(f, rest);
			return;
		}
	read_value(f, name, rest);
}

int weft_cli_figures_read(FILE *from, struct weft_figures *f)
{
	char line[512];
	int is_whole = 0, begins = 0;

	memset(f, 0, sizeof(*f));
	while (!is_whole && fgets(line, sizeof(line), from)) {
		char *rest = line + strcspn(line, " \n");

		line[strcspn(line, "\n")] = 0;
		(void)weft_cli_clean(line, sizeof(line));
		if (*rest)
			*rest++ = 0;
		if (!begins && strcmp(line, "weft-figures") != 0)
			return EPROTO;
		begins = 1;
		is_whole = strcmp(line, "end") == 0;
		read_line(f, line, rest);
	}
	return is_whole ? 0 : ferror(from) ? errno : EPIPE;
}

/* A stream's read(2), with a time limit. */
static ssize_t read_answer(void *answer, char *text, size_t most)
{
	return weft_cli_answer(*(int *)answer, text, most);
}

static const char *reason(int error)
{
	return error == EPROTO ? weft_cli_other_weft :
	       error == EPIPE ? "its answer is not whole: the process has ended" :
	       weft_cli_no_more(error);
}

int weft_cli_figures(long pid, const char *request, struct weft_figures *f)
{
	const cookie_io_functions_t by = { .read = read_answer };
	int answer = weft_cli_ask(pid, request), error = ENOMEM;
	FILE *from;

	if (answer < 0)
		return 1;
	from = fopencookie(&answer, "r", by);
	if (from) {
		error = weft_cli_figures_read(from, f);
		fclose(from);
	}
	close(answer);
	return error ? weft_cli_ask_fails(pid, reason(error)) : 0;
}

static double grown(const struct weft_figures *now, const struct weft_figures *before,
		    enum weft_value value)
{
	return (double)now->value[value] - (before ? (double)before->value[value] : 0);
}

double weft_cli_elapsed(const struct weft_figures *now, const struct weft_figures *before)
{
	const uint64_t from = before ? before->value[VALUE_TIME_NS] :
				       now->value[VALUE_START_NS];

	return now->value[VALUE_TIME_NS] > from ?
	       (double)(now->value[VALUE_TIME_NS] - from) / 1e9 : 1e-9;
}

double weft_cli_rate(const struct weft_figures *now, const struct weft_figures *before,
		     enum weft_value value)
{
	return grown(now, before, value) / weft_cli_elapsed(now, before);
}

double weft_cli_busy(const struct weft_figures *now, const struct weft_figures *before,
		     size_t i)
{
	const uint64_t from = before && i < before->vcpu_count ?
			      before->vcpu[i].busy_ns : 0;
	const double share = ((double)now->vcpu[i].busy_ns - (double)from) / 1e9 /
			     weft_cli_elapsed(now, before);

	/* Looks and answers are not of the same moments. */
	return share < 0 ? 0 : share > 1 ? 1 : share;
}

uint64_t weft_cli_parked(const struct weft_figures *f)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < f->parked_count; i++)
		sum += f->parked[i].count;
	return sum;
}

uint64_t weft_cli_threads(const struct weft_figures *f)
{
	return f->value[VALUE_RUNNING] + f->value[VALUE_READY] + weft_cli_parked(f) +
	       f->value[VALUE_BLOCKED] + f->value[VALUE_ENDED];
}

double weft_cli_wait_ms(const struct weft_figures *now, const struct weft_figures *before)
{
	const double switches = grown(now, before, VALUE_SWITCHES);

	return switches > 0 ? grown(now, before, VALUE_READY_NS) / 1e6 / switches : 0;
}

int weft_cli_pause(long pid, double seconds)
{
	struct timespec left = {
		.tv_sec = (time_t)seconds,
		.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9),
	};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
	return weft_cli_has_ended(pid) ? -1 : 0;
}
