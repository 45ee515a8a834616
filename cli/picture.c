/* SPDX-License-Identifier: MIT */
/* cli/picture.c - what weft top shows of a process at one time */
#include "figures.h"

#include "cli.h"

#include <stdlib.h>
#include <string.h>

#define BAR	20

static void tell_head(FILE *to, const struct weft_screen *s, const struct weft_figures *now,
		      const struct weft_figures *before)
{
	char path[64], name[WEFT_SHOWN_BYTES(31)] = "";
	FILE *comm;

	snprintf(path, sizeof(path), "/proc/%ld/comm", s->pid);
	comm = fopen(path, "re");
	if (comm) {
		const size_t bytes = fread(name, 1, 31, comm);

		name[bytes ? bytes - 1 : 0] = 0;	/* its newline; it may have more */
		fclose(comm);
	}
	fprintf(to, "%ld %s: %.0f s, %lu threads, %lu VCPUs, %lu kernel threads\n", s->pid,
		weft_cli_clean(name, sizeof(name)), weft_cli_elapsed(now, NULL), weft_cli_threads(now),
		now->value[VALUE_VCPUS], now->value[VALUE_KERNEL_THREADS]);
	fprintf(to, "each second: %.0f switches, %.0f steals, %.0f preemptions, "
		"%.0f compensations; ready for %.3f ms\n",
		weft_cli_rate(now, before, VALUE_SWITCHES),
		weft_cli_rate(now, before, VALUE_STEALS),
		weft_cli_rate(now, before, VALUE_PREEMPTIONS),
		weft_cli_rate(now, before, VALUE_COMPENSATIONS),
		weft_cli_wait_ms(now, before));
	fprintf(to, "now: %lu running, %lu ready, %lu blocked, %lu ended",
		now->value[VALUE_RUNNING], now->value[VALUE_READY],
		now->value[VALUE_BLOCKED], now->value[VALUE_ENDED]);
	for (size_t i = 0; i < now->parked_count; i++)
		if (now->parked[i].count)
			fprintf(to, ", %s %lu", now->parked[i].kind, now->parked[i].count);
	fprintf(to, "\n\n");
}

static const char *name_of(const struct weft_figures *f, uint64_t id)
{
	for (size_t i = 0; i < f->thread_count; i++)
		if (f->thread[i].id == id)
			return f->thread[i].name;
	return "";
}

static void tell_thread(FILE *to, const char *name, uint64_t id)
{
	if (*name)
		fprintf(to, "\"%s\" (id %lu)", name, id);
	else
		fprintf(to, "id %lu", id);
}

static void tell_vcpus(FILE *to, const struct weft_figures *now,
		       const struct weft_figures *before)
{
	for (size_t i = 0; i < now->vcpu_count; i++) {
		const struct weft_vcpu_figures *v = &now->vcpu[i];
		const double busy = weft_cli_busy(now, before, i);

		fprintf(to, "VCPU %-3u [%-*.*s] %5.1f %%  ready %-4u ", v->index, BAR,
			(int)(busy * BAR + 0.5), "||||||||||||||||||||", 100 * busy,
			v->ready);
		if (v->thread)
			tell_thread(to, name_of(now, v->thread), v->thread);
		fprintf(to, "\n");
	}
	fprintf(to, "\n");
}

struct share {
	const struct weft_thread_figures *thread;
	double share;
};

static int by_share(const void *one, const void *other)
{
	const double a = ((const struct share *)one)->share;
	const double b = ((const struct share *)other)->share;

	return (a < b) - (a > b);
}

/* The time that a thread ran until before; 0 if its entry is new. */
static uint64_t ran_before(const struct weft_figures *before, uint64_t id, uint64_t most)
{
	for (size_t i = 0; i < before->thread_count; i++)
		if (before->thread[i].id == id)
			return before->thread[i].run_ns <= most ?
			       before->thread[i].run_ns : 0;
	return 0;
}

static void tell_threads(FILE *to, const struct weft_figures *now,
			 const struct weft_figures *before)
{
	static struct share shares[WEFT_ROWS_MOST];
	const double elapsed = weft_cli_elapsed(now, before);
	size_t n = 0;

	for (size_t i = 0; i < now->thread_count; i++) {
		const struct weft_thread_figures *t = &now->thread[i];
		const uint64_t ran = t->run_ns - ran_before(before, t->id, t->run_ns);

		if (ran > 0)
			shares[n++] = (struct share){ t, (double)ran / 1e9 / elapsed };
	}
	qsort(shares, n, sizeof(*shares), by_share);
	fprintf(to, " VCPU %%  STATE     FOR         THREAD\n");
	for (size_t i = 0; i < n; i++) {
		const struct weft_thread_figures *t = shares[i].thread;

		fprintf(to, "%7.1f  %-8s  %-10s  ", 100 * shares[i].share, t->state,
			strcmp(t->state, "parked") == 0 ? t->kind : "");
		tell_thread(to, t->name, t->id);
		fprintf(to, "\n");
	}
	fprintf(to, "\n");
}

static int by_longest(const void *one, const void *other)
{
	const uint64_t a = ((const struct weft_object_figures *)one)->longest_ns;
	const uint64_t b = ((const struct weft_object_figures *)other)->longest_ns;

	return (a < b) - (a > b);
}

static int by_waiting(const void *one, const void *other)
{
	const uint64_t a = ((const struct weft_object_figures *)one)->waiting;
	const uint64_t b = ((const struct weft_object_figures *)other)->waiting;

	return a != b ? (a < b) - (a > b) : by_longest(one, other);
}

static void tell_objects(FILE *to, const struct weft_screen *s,
			 const struct weft_figures *now)
{
	static struct weft_object_figures objects[WEFT_ROWS_MOST];

	memcpy(objects, now->object, now->object_count * sizeof(*objects));
	qsort(objects, now->object_count, sizeof(*objects),
	      s->by_longest ? by_longest : by_waiting);
	fprintf(to, "WAITING  LONGEST s  FOR         OBJECT              OWNER\n");
	for (size_t i = 0; i < now->object_count; i++) {
		const struct weft_object_figures *o = &objects[i];

		fprintf(to, "%7lu  %9.3f  %-10s  %-18s  ", o->waiting,
			(double)o->longest_ns / 1e9, o->kind, o->object);
		if (o->owner)
			tell_thread(to, o->name, o->owner);
		fprintf(to, "\n");
	}
}

void weft_cli_picture(FILE *to, const struct weft_screen *s, const struct weft_figures *now,
		      const struct weft_figures *before)
{
	tell_head(to, s, now, before);
	tell_vcpus(to, now, before);
	tell_threads(to, now, before);
	tell_objects(to, s, now);
}
