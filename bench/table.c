/* SPDX-License-Identifier: MIT */
/* table.c - the results as a table: a column a variant, and ratios */
#include <string.h>

#include "results.h"

#define WIDTH	12

static const char *format(double value, char *to, size_t size)
{
	if (value >= 99999.5)
		snprintf(to, size, "%.0f", value);
	else if (value >= 100)
		snprintf(to, size, "%.4g", value);
	else
		snprintf(to, size, "%.3g", value);
	return to;
}

/* The variant that the others are compared with. */
static const char *base_of(const struct bench_results *r)
{
	return r->suite->base ? r->suite->base : "pthreads";
}

static int is_first_of_row(const struct bench_results *r, size_t at)
{
	const struct bench_result *e = &r->result[at];

	for (size_t i = 0; i < at; i++) {
		const struct bench_result *o = &r->result[i];

		if (o->vcpus == e->vcpus && o->threads == e->threads &&
		    !strcmp(o->bench, e->bench))
			return 0;
	}
	return 1;
}

static void print_cell(const struct bench_results *r,
		       const struct bench_result *row, const char *variant,
		       FILE *out)
{
	const struct bench_result *e = bench_results_find(r, row->bench,
			variant, row->vcpus, row->threads);
	char text[32];

	if (!e) {
		fprintf(out, " %*s", WIDTH, "-");
		return;
	}
	fprintf(out, " %*s", WIDTH,
		format(bench_result_spread(e).median, text, sizeof(text)));
}

/* How many times better than the base. */
static void print_ratio(const struct bench_results *r,
			const struct bench_result *row, const char *variant,
			FILE *out)
{
	const struct bench_result *ours = bench_results_find(r, row->bench,
			variant, row->vcpus, row->threads);
	const struct bench_result *theirs = bench_results_find(r, row->bench,
			base_of(r), row->vcpus, row->threads);
	int more = bench_unit_more_is_better(row->unit);
	double a, b;
	char text[32];

	if (!ours || !theirs || more < 0) {
		fprintf(out, " %9s", "-");
		return;
	}
	a = bench_result_spread(ours).median;
	b = bench_result_spread(theirs).median;
	if (a <= 0 || b <= 0) {
		fprintf(out, " %9s", "-");
		return;
	}
	format(more ? a / b : b / a, text, sizeof(text) - 1);
	strcat(text, "x");
	fprintf(out, " %9s", text);
}

static int takes_part(const struct bench_results *r, const char *variant)
{
	for (size_t i = 0; i < r->count; i++)
		if (!strcmp(r->result[i].variant, variant))
			return 1;
	return 0;
}

static void print_head(const struct bench_results *r, FILE *out)
{
	const struct bench_variant *const *v = r->suite->variants;

	fprintf(out, "\n%-28s %8s %5s %-6s", "bench", "threads", "VCPUs",
		"unit");
	for (size_t i = 0; v[i]; i++)
		if (takes_part(r, v[i]->name))
			fprintf(out, " %*s", WIDTH, v[i]->name);
	for (size_t i = 0; v[i]; i++)
		if (takes_part(r, v[i]->name) &&
		    strcmp(v[i]->name, base_of(r)) && takes_part(r, base_of(r)))
			fprintf(out, " %9s", v[i]->name);
	fputs("\n", out);
}

static void print_row(const struct bench_results *r,
		      const struct bench_result *row, FILE *out)
{
	const struct bench_variant *const *v = r->suite->variants;
	char threads[16] = "-";

	if (row->threads)
		snprintf(threads, sizeof(threads), "%u", row->threads);
	fprintf(out, "%-28s %8s %5u %-6s", row->bench, threads, row->vcpus,
		row->unit);
	for (size_t i = 0; v[i]; i++)
		if (takes_part(r, v[i]->name))
			print_cell(r, row, v[i]->name, out);
	for (size_t i = 0; v[i]; i++)
		if (takes_part(r, v[i]->name) &&
		    strcmp(v[i]->name, base_of(r)) && takes_part(r, base_of(r)))
			print_ratio(r, row, v[i]->name, out);
	fputs("\n", out);
}

void bench_print_table(const struct bench_results *r, FILE *out)
{
	print_head(r, out);
	for (size_t i = 0; i < r->count; i++)
		if (is_first_of_row(r, i))
			print_row(r, &r->result[i], out);
	fprintf(out, "\nMedians. 1 VCPU: process CPU time; more: wall time. "
		"Columns with x: how many\ntimes better than %s.\n", base_of(r));
	if (r->others > 0.05)
		fprintf(out, "Others used %.0f %% of the CPUs' time meanwhile: "
			"wall times are worth little.\n", r->others * 100);
	for (size_t i = 0; i < r->trouble_count; i++) {
		const struct bench_trouble *t = &r->trouble[i];

		fprintf(out, "%s: %s, %s, %u VCPUs, %u threads: %s\n",
			t->skipped ? "not run" : "FAILED", t->bench,
			t->variant, t->vcpus, t->threads, t->why);
	}
}
