/* SPDX-License-Identifier: MIT */
/* cli/prometheus.c - a process's counters and levels as Prometheus reads them */
#include "figures.h"

#include <string.h>

static void head(FILE *to, const char *metric, const char *help, int is_total)
{
	fprintf(to, "# HELP %s %s\n# TYPE %s %s\n", metric, help, metric,
		is_total ? "counter" : "gauge");
}

/* Prometheus counts times in seconds. */
static void value(FILE *to, const char *name, uint64_t count)
{
	const size_t length = strlen(name);

	if (length > 3 && strcmp(name + length - 3, "_ns") == 0)
		fprintf(to, "%lu.%09lu\n", count / 1000000000, count % 1000000000);
	else
		fprintf(to, "%lu\n", count);
}

static void tell_values(FILE *to, const struct weft_figures *f)
{
	for (int i = 0; i < VALUE_COUNT; i++) {
		const struct weft_value_name *v = &weft_values[i];

		if (!v->metric)
			continue;
		head(to, v->metric, v->help, v->is_total);
		fprintf(to, "%s ", v->metric);
		value(to, v->name, f->value[i]);
	}
}

static void tell_parked(FILE *to, const struct weft_figures *f)
{
	head(to, "weft_threads_parked", "Threads that are parked, by what they wait for.", 0);
	for (size_t i = 0; i < f->parked_count; i++)
		fprintf(to, "weft_threads_parked{kind=\"%s\"} %lu\n", f->parked[i].kind,
			f->parked[i].count);
}

static void tell_vcpus(FILE *to, const struct weft_figures *f)
{
	head(to, "weft_vcpu_busy_seconds_total", "Time that the VCPU was busy, by samples.",
	     1);
	for (size_t i = 0; i < f->vcpu_count; i++) {
		fprintf(to, "weft_vcpu_busy_seconds_total{vcpu=\"%u\"} ", f->vcpu[i].index);
		value(to, "busy_ns", f->vcpu[i].busy_ns);
	}
	head(to, "weft_vcpu_switches_total", "Switches of the VCPU.", 1);
	for (size_t i = 0; i < f->vcpu_count; i++)
		fprintf(to, "weft_vcpu_switches_total{vcpu=\"%u\"} %lu\n",
			f->vcpu[i].index, f->vcpu[i].switches);
	head(to, "weft_vcpu_ready", "Threads in the queues of the VCPU.", 0);
	for (size_t i = 0; i < f->vcpu_count; i++)
		fprintf(to, "weft_vcpu_ready{vcpu=\"%u\"} %u\n", f->vcpu[i].index,
			f->vcpu[i].ready);
}

static void tell_latency(FILE *to, const struct weft_latency *l)
{
	if (!l->count)
		return;
	head(to, "weft_ready_latency_seconds",
	     "How long threads were ready before they ran, by the last recorded events.", 0);
	fprintf(to, "weft_ready_latency_seconds{quantile=\"0.5\"} ");
	value(to, "half_ns", l->half_ns);
	fprintf(to, "weft_ready_latency_seconds{quantile=\"0.99\"} ");
	value(to, "most_ns", l->most_ns);
}

void weft_cli_prometheus(FILE *to, const struct weft_figures *f)
{
	tell_values(to, f);
	tell_parked(to, f);
	tell_vcpus(to, f);
	tell_latency(to, &f->latency);
}
