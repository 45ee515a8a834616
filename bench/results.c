/* SPDX-License-Identifier: MIT */
/* results.c - the figures of all samples */
#include <stdlib.h>
#include <string.h>

#include "results.h"

static void *grow(void *array, size_t count, size_t size)
{
	void *grown = array;

	/* Doubled whenever the count is a power of two. */
	if ((count & (count - 1)) == 0)
		grown = realloc(array, (count ? 2 * count : 1) * size);
	if (!grown)
		bench_fail("out of memory");
	return grown;
}

const struct bench_result *bench_results_find(const struct bench_results *r,
		const char *bench, const char *variant, unsigned vcpus,
		unsigned threads)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct bench_result *e = &r->result[i];

		if (e->vcpus == vcpus && e->threads == threads &&
		    !strcmp(e->bench, bench) && !strcmp(e->variant, variant))
			return e;
	}
	return NULL;
}

void bench_results_add(struct bench_results *r, const char *bench,
		       const char *unit, const char *variant, unsigned vcpus,
		       unsigned threads, double value)
{
	struct bench_result *e = (struct bench_result *)
		bench_results_find(r, bench, variant, vcpus, threads);

	if (!e) {
		r->result = grow(r->result, r->count, sizeof(*r->result));
		e = &r->result[r->count++];
		memset(e, 0, sizeof(*e));
		snprintf(e->bench, sizeof(e->bench), "%s", bench);
		snprintf(e->unit, sizeof(e->unit), "%s", unit);
		e->variant = variant;
		e->vcpus = vcpus;
		e->threads = threads;
	}
	e->value = grow(e->value, e->n, sizeof(*e->value));
	e->value[e->n++] = value;
}

void bench_results_trouble(struct bench_results *r,
			   const struct bench_trouble *trouble)
{
	r->trouble = grow(r->trouble, r->trouble_count, sizeof(*r->trouble));
	r->trouble[r->trouble_count++] = *trouble;
}

const struct bench_trouble *bench_results_trouble_of(
		const struct bench_results *r, const char *bench,
		const char *variant, unsigned vcpus, unsigned threads)
{
	for (size_t i = 0; i < r->trouble_count; i++) {
		const struct bench_trouble *t = &r->trouble[i];

		if (t->vcpus == vcpus && t->threads == threads &&
		    !strcmp(t->bench, bench) && !strcmp(t->variant, variant))
			return t;
	}
	return NULL;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct bench_spread bench_result_spread(const struct bench_result *result)
{
	size_t bytes = result->n * sizeof(double);
	double *sorted = malloc(bytes);
	struct bench_spread s;

	if (!sorted)
		bench_fail("out of memory");
	memcpy(sorted, result->value, bytes);
	qsort(sorted, result->n, sizeof(double), compare_doubles);
	s.min = sorted[0];
	s.max = sorted[result->n - 1];
	s.median = (sorted[(result->n - 1) / 2] + sorted[result->n / 2]) / 2;
	free(sorted);
	return s;
}

int bench_unit_more_is_better(const char *unit)
{
	if (!strcmp(unit, "M/s") || !strcmp(unit, "k/s"))
		return 1;
	if (!strcmp(unit, "share") || !strcmp(unit, "times"))
		return -1;
	return 0;
}
