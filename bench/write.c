/* SPDX-License-Identifier: MIT */
/* write.c - the results as JSON and as CSV */
#include <errno.h>
#include <string.h>

#include "results.h"

static void put_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20)
			fprintf(f, "\\u%04x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

static void put_member(FILE *f, const char *name, const char *value,
		       const char *after)
{
	put_string(f, name);
	fputs(": ", f);
	put_string(f, value);
	fputs(after, f);
}

static void put_machine(FILE *f, double others)
{
	struct bench_machine m;

	bench_machine_read(&m);
	fputs("  \"machine\": {\n    ", f);
	put_member(f, "cpu", m.cpu, ",\n    ");
	fprintf(f, "\"cores\": %u,\n    ", m.cpus);
	put_member(f, "kernel", m.kernel, ",\n    ");
	put_member(f, "compiler", m.compiler, ",\n    ");
	fprintf(f, "\"load\": %.2f,\n    \"others\": %.3f\n  },\n", m.load,
		others);
}

static void put_key(FILE *f, const char *bench, const char *variant,
		    unsigned vcpus, unsigned threads)
{
	fputs("    {", f);
	put_member(f, "bench", bench, ", ");
	put_member(f, "variant", variant, ", ");
	fprintf(f, "\"vcpus\": %u, \"threads\": %u, ", vcpus, threads);
}

static void put_troubles(FILE *f, const struct bench_results *r, int skipped)
{
	const char *between = "\n";

	fprintf(f, "  \"%s\": [", skipped ? "skipped" : "failed");
	for (size_t i = 0; i < r->trouble_count; i++) {
		const struct bench_trouble *t = &r->trouble[i];

		if (t->skipped != skipped)
			continue;
		fputs(between, f);
		put_key(f, t->bench, t->variant, t->vcpus, t->threads);
		put_member(f, "why", t->why, "}");
		between = ",\n";
	}
	fputs("\n  ]", f);
}

static void put_results(FILE *f, const struct bench_results *r)
{
	fputs("  \"results\": [\n", f);
	for (size_t i = 0; i < r->count; i++) {
		const struct bench_result *e = &r->result[i];
		struct bench_spread s = bench_result_spread(e);

		put_key(f, e->bench, e->variant, e->vcpus, e->threads);
		put_member(f, "unit", e->unit, ", ");
		fprintf(f, "\"median\": %.6g, \"min\": %.6g, \"max\": %.6g, "
			"\"n\": %u, \"values\": [", s.median, s.min, s.max,
			e->n);
		for (unsigned k = 0; k < e->n; k++)
			fprintf(f, "%s%.6g", k ? ", " : "", e->value[k]);
		fprintf(f, "]}%s\n", i + 1 < r->count ? "," : "");
	}
	fputs("  ],\n", f);
}

static int finish(FILE *f, const char *path)
{
	int bad = ferror(f);

	if (!fclose(f) && !bad)
		return 0;
	fprintf(stderr, "bench: %s: %s\n", path, strerror(errno));
	return -1;
}

static FILE *begin(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		fprintf(stderr, "bench: %s: %s\n", path, strerror(errno));
	return f;
}

int bench_write_json(const struct bench_results *r, const char *path)
{
	const struct bench_options *o = r->options;
	FILE *f = begin(path);

	if (!f)
		return -1;
	fputs("{\n  ", f);
	put_member(f, "suite", r->suite->name, ",\n  ");
	put_member(f, "commit", o->commit, ",\n  ");
	put_member(f, "date", r->date, ",\n  ");
	put_member(f, "command", o->command, ",\n");
	put_machine(f, r->others);
	fprintf(f, "  \"settings\": {\"repetitions\": %u, \"ms\": %d, "
		"\"stack_bytes\": %zu, \"unit_ns\": %.3f, ", o->reps,
		o->target_ms, o->stack_bytes, o->unit_ns);
	put_member(f, "preempt", o->preempt, "},\n");
	put_results(f, r);
	put_troubles(f, r, 1);
	fputs(",\n", f);
	put_troubles(f, r, 0);
	fputs("\n}\n", f);
	return finish(f, path);
}

int bench_write_csv(const struct bench_results *r, const char *path)
{
	struct bench_machine m;
	FILE *f = begin(path);

	if (!f)
		return -1;
	bench_machine_read(&m);
	fprintf(f, "# %s; %u cores; %s; %s; commit %s; unit %.3f ns; "
		"preempt %s; others %.2f\n", m.cpu, m.cpus, m.kernel,
		m.compiler, r->options->commit, r->options->unit_ns,
		r->options->preempt, r->others);
	fputs("bench,variant,vcpus,threads,unit,median,min,max,n\n", f);
	for (size_t i = 0; i < r->count; i++) {
		const struct bench_result *e = &r->result[i];
		struct bench_spread s = bench_result_spread(e);

		fprintf(f, "%s,%s,%u,%u,%s,%.6g,%.6g,%.6g,%u\n", e->bench,
			e->variant, e->vcpus, e->threads, e->unit, s.median,
			s.min, s.max, e->n);
	}
	return finish(f, path);
}
