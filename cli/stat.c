/* SPDX-License-Identifier: MIT */
/* cli/stat.c - weft stat: a process's counters and levels, once or again and again */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "figures.h"

#define HEAD_EACH	20	/* lines */
#define RECORDED_FOR	0.2	/* seconds, for a single answer */

enum { KEY_LATENCY = 256 };

enum form { TEXT, JSON, PROMETHEUS };

struct options {
	long pid;
	enum form form;
	double every;		/* 0: once */
	long count;		/* 0: until the process ends */
	int port;		/* -1: none */
	int latency;		/* asks for events to be recorded */
};

static const struct argp_option options[] = {
	{ "every", 'e', "SECONDS", 0, "print again and again, with so much time in "
	  "between", 0 },
	{ "count", 'n', "NUMBER", 0, "with --every: so many times", 0 },
	{ "json", 'j', NULL, 0, "as JSON, an object a line", 0 },
	{ "prometheus", 'p', NULL, 0, "as text that Prometheus reads", 0 },
	{ "listen", 'l', "PORT", 0, "answer GET /metrics on this port of 127.0.0.1, with "
	  "the same text", 0 },
	{ "latency", KEY_LATENCY, NULL, 0, "have the process record events meanwhile, for "
	  "how long half of the ready threads, and 99 of 100, waited for a VCPU", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'e':
		o->every = weft_cli_seconds(state, arg);
		return 0;
	case 'n':
		o->count = weft_cli_number(state, arg, 1, LONG_MAX);
		return 0;
	case 'j':
		o->form = JSON;
		return 0;
	case 'p':
		o->form = PROMETHEUS;
		return 0;
	case 'l':
		o->port = (int)weft_cli_number(state, arg, 0, 65535);
		return 0;
	case KEY_LATENCY:
		o->latency = 1;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 0)
			argp_usage(state);
		o->pid = weft_cli_pid(state, arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	case ARGP_KEY_END:
		if (o->count && !(o->every > 0))
			argp_error(state, "--count needs --every");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* "9: mutex 3, receive 6" */
static void print_parked(const struct weft_figures *f)
{
	const char *before = ": ";

	printf("  parked          %10lu", weft_cli_parked(f));
	for (size_t i = 0; i < f->parked_count; i++) {
		if (!f->parked[i].count)
			continue;
		printf("%s%s %lu", before, f->parked[i].kind, f->parked[i].count);
		before = ", ";
	}
	printf("\n");
}

static void print_value(const char *name, const struct weft_figures *f,
			enum weft_value value)
{
	printf("  %-15s %10lu\n", name, f->value[value]);
}

static void print_once(const struct weft_figures *f)
{
	printf("Threads, now\n");
	printf("  %-15s %10lu\n", "all", weft_cli_threads(f));
	print_value("running", f, VALUE_RUNNING);
	print_value("ready", f, VALUE_READY);
	print_parked(f);
	print_value("blocked", f, VALUE_BLOCKED);
	print_value("ended", f, VALUE_ENDED);
	print_value("foreign", f, VALUE_FOREIGN);
	print_value("kernel threads", f, VALUE_KERNEL_THREADS);
	printf("In %.1f s since the start\n", weft_cli_elapsed(f, NULL));
	print_value("spawned", f, VALUE_THREADS_MADE);
	print_value("the most", f, VALUE_THREADS_PEAK);
	print_value("switches", f, VALUE_SWITCHES);
	print_value("steals", f, VALUE_STEALS);
	print_value("preemptions", f, VALUE_PREEMPTIONS);
	print_value("compensations", f, VALUE_COMPENSATIONS);
	print_value("wakes", f, VALUE_WAKES);
	printf("  %-15s %10.3f s\n", "blocked for", (double)f->value[VALUE_BLOCKED_NS] / 1e9);
	printf("  %-15s %10.3f ms before each switch\n", "ready for",
	       weft_cli_wait_ms(f, NULL));
	if (f->latency.count)
		printf("  %-15s %10.2f us, and 99 of 100 %.2f us, before the last %lu runs\n",
		       "half of them", (double)f->latency.half_ns / 1e3,
		       (double)f->latency.most_ns / 1e3, f->latency.count);
	for (size_t i = 0; i < f->vcpu_count; i++)
		printf("VCPU %u: busy %.1f %%, switches %lu, steals %lu; ready %u now, "
		       "kernel thread %d\n", f->vcpu[i].index,
		       100 * weft_cli_busy(f, NULL, i), f->vcpu[i].switches,
		       f->vcpu[i].steals, f->vcpu[i].ready, f->vcpu[i].kthread);
}

/* A line of rates and levels; before is NULL for the first. */
static void print_row(const struct weft_figures *f, const struct weft_figures *before,
		      long line, int latency)
{
	if (line % HEAD_EACH == 0)
		printf("%10s %8s %8s %8s %8s %7s %7s %7s %7s %9s %s busy %%\n", "switches/s",
		       "steals/s", "preempt/s", "comp/s", "threads", "ready", "parked",
		       "blocked", "kernel", "wait ms", latency ? "  half us   99 % us " : "");
	printf("%10.0f %8.0f %8.0f %8.0f %8lu %7lu %7lu %7lu %7lu %9.3f ",
	       weft_cli_rate(f, before, VALUE_SWITCHES),
	       weft_cli_rate(f, before, VALUE_STEALS),
	       weft_cli_rate(f, before, VALUE_PREEMPTIONS),
	       weft_cli_rate(f, before, VALUE_COMPENSATIONS), weft_cli_threads(f),
	       f->value[VALUE_READY], weft_cli_parked(f), f->value[VALUE_BLOCKED],
	       f->value[VALUE_KERNEL_THREADS], weft_cli_wait_ms(f, before));
	if (latency)
		printf("%9.2f %9.2f ", (double)f->latency.half_ns / 1e3,
		       (double)f->latency.most_ns / 1e3);
	for (size_t i = 0; i < f->vcpu_count; i++)
		printf(" %3.0f", 100 * weft_cli_busy(f, before, i));
	printf("\n");
}

static void print_json(const struct weft_figures *f, const struct weft_figures *before)
{
	printf("{");
	for (int i = 0; i < VALUE_COUNT; i++)
		printf("\"%s\":%lu,", weft_values[i].name, f->value[i]);
	printf("\"parked\":{");
	for (size_t i = 0; i < f->parked_count; i++)
		printf("%s\"%s\":%lu", i ? "," : "", f->parked[i].kind, f->parked[i].count);
	printf("},\"wait_ms\":%.6f,", weft_cli_wait_ms(f, before));
	if (f->latency.count)
		printf("\"ready_runs\":%lu,\"ready_p50_ns\":%lu,\"ready_p99_ns\":%lu,",
		       f->latency.count, f->latency.half_ns, f->latency.most_ns);
	printf("\"vcpu\":[");
	for (size_t i = 0; i < f->vcpu_count; i++)
		printf("%s{\"index\":%u,\"kernel_thread\":%d,\"ready\":%u,\"busy\":%.4f,"
		       "\"busy_ns\":%lu,\"switches\":%lu,\"steals\":%lu,\"thread\":%lu}",
		       i ? "," : "", f->vcpu[i].index, f->vcpu[i].kthread,
		       f->vcpu[i].ready, weft_cli_busy(f, before, i), f->vcpu[i].busy_ns,
		       f->vcpu[i].switches, f->vcpu[i].steals, f->vcpu[i].thread);
	printf("]}\n");
}

static void print(const struct options *o, const struct weft_figures *f,
		  const struct weft_figures *before, long line)
{
	if (o->form == JSON)
		print_json(f, before);
	else if (o->form == PROMETHEUS)
		weft_cli_prometheus(stdout, f);
	else if (o->every > 0)
		print_row(f, before, line, o->latency);
	else
		print_once(f);
}

static int repeat(const struct options *o)
{
	static struct weft_figures figures[2];
	const long count = o->every > 0 ? o->count : 1;

	for (long i = 0; !count || i < count; i++) {
		struct weft_figures *f = &figures[i % 2];

		if (i > 0 && weft_cli_pause(o->pid, o->every) != 0)
			return 0;
		if (weft_cli_figures(o->pid, "stat", f) != 0)
			return 1;
		weft_cli_latency(o->pid, i > 0 ? (int64_t)figures[(i + 1) % 2].value
				 [VALUE_TIME_NS] : 0, &f->latency);
		if (o->latency && o->every > 0)
			weft_cli_latency_ask(o->pid, o->every);
		print(o, f, i > 0 ? &figures[(i + 1) % 2] : NULL, i);
		if (fflush(stdout) != 0)
			return weft_cli_ask_fails(o->pid, strerror(errno));
	}
	return 0;
}

/* A single answer comes behind some events. */
static int begin_latency(const struct options *o)
{
	if (weft_cli_latency_begin(o->pid, o->every > 0 ? o->every : 1) != 0)
		return 1;
	(void)weft_cli_pause(o->pid, RECORDED_FOR);
	return 0;
}

static int answer(const struct options *o)
{
	return o->port >= 0 ? weft_cli_listen(o->pid, o->port, o->latency) : repeat(o);
}

int weft_cli_stat(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "PID",
		.children = weft_cli_help,
		.doc = "Prints the counters and levels of a process that runs on weft.",
	};
	struct options o = { .port = -1 };
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (weft_cli_ask_begin(o.pid) != 0)
		return 1;
	if (o.latency && begin_latency(&o) != 0)
		return 1;
	status = answer(&o);
	if (o.latency)
		weft_cli_latency_ask(o.pid, 0);
	return status;
}
