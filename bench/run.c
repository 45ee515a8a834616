/* SPDX-License-Identifier: MIT */
/*
 * run.c - all samples in turns, with progress, and the results at the end
 *
 * The outermost loop is the repetition, and within it the variants of one
 * question follow each other directly: what the machine does besides then
 * falls on all of them alike.
 */
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sample.h"

struct progress {
	unsigned done, planned;
	int64_t began, shown;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

static int is_wanted(const struct bench_results *r,
		     const struct bench_sample *s, unsigned rep)
{
	const struct bench_options *o = r->options;
	const struct bench_case *c = s->question;

	return bench_list_begins(o->only, c->name) &&
	       bench_list_has(o->variants, s->variant->name) &&
	       !(c->not_for & s->variant->bit) &&
	       !(o->quick && c->slow) &&
	       (!c->vcpus_min || s->vcpus >= c->vcpus_min) &&
	       (!c->vcpus_max || s->vcpus <= c->vcpus_max) &&
	       bench_sample_body(s->variant, c) &&
	       /* What failed or was skipped once is left alone. */
	       !(rep && bench_results_trouble_of(r, c->name, s->variant->name,
						 s->vcpus, s->threads));
}

static void show(const struct bench_results *r, struct progress *p,
		 const struct bench_sample *s, unsigned rep)
{
	int64_t now = bench_wall_now();
	int tty = isatty(2);
	double spent = (double)(now - p->began) / 1e9;
	double left = p->done ? spent / p->done * (p->planned - p->done) : 0;

	if (!r->options->verbose && p->shown &&
	    now - p->shown < (tty ? 100000000 : 5000000000))
		return;
	p->shown = now;
	fprintf(stderr, "%s[%u/%u, %.0f s left] round %u of %u: %s, %s, "
		"%u VCPU%s", tty && !r->options->verbose ? "\r\033[K" : "",
		p->done + 1, p->planned, left, rep + 1, r->options->reps,
		s->question->name, s->variant->name, s->vcpus,
		s->vcpus > 1 ? "s" : "");
	if (s->threads)
		fprintf(stderr, ", %u threads", s->threads);
	if (!tty || r->options->verbose)
		fputs("\n", stderr);
	fflush(stderr);
}

static void take(struct bench_results *r, struct progress *p,
		 const struct bench_sample *s, unsigned rep, int plan)
{
	if (interrupted || !is_wanted(r, s, plan ? 0 : rep))
		return;
	if (plan) {
		p->planned++;
		return;
	}
	show(r, p, s, rep);
	bench_sample_take(r, s);
	p->done++;
}

static int same_group(const struct bench_case *a, const struct bench_case *b)
{
	return a == b || (b->name && a->group && b->group &&
			  !strcmp(a->group, b->group));
}

/* One round over the cases from `first` up to `end`, a group. */
static void take_group(struct bench_results *r, struct progress *p,
		       const struct bench_case *first,
		       const struct bench_case *end, unsigned rep, int plan)
{
	const struct bench_options *o = r->options;
	const unsigned *threads = first->threads;
	unsigned count = 0;
	struct bench_sample s;

	while (count < 8 && threads[count])
		count++;
	if (count > 1 && o->threads.count) {
		threads = o->threads.value;
		count = o->threads.count;
	}
	for (unsigned t = 0; t < (count ? count : 1); t++)
		for (unsigned v = 0; v < o->vcpus.count; v++)
			for (const struct bench_case *c = first; c < end; c++)
				for (size_t i = 0; r->suite->variants[i]; i++) {
					s.question = c;
					s.variant = r->suite->variants[i];
					s.vcpus = o->vcpus.value[v];
					s.threads = count ? threads[t] : 0;
					take(r, p, &s, rep, plan);
				}
}

static void take_round(struct bench_results *r, struct progress *p,
		       unsigned rep, int plan)
{
	const struct bench_case *c = r->suite->cases;

	while (c->name) {
		const struct bench_case *end = c;

		while (end->name && same_group(c, end))
			end++;
		take_group(r, p, c, end, rep, plan);
		c = end;
	}
}

static int finish(struct bench_results *r)
{
	const struct bench_options *o = r->options;
	int bad = 0;

	if (!r->count && !r->trouble_count) {
		fprintf(stderr, "bench: nothing to run; see --list\n");
		return 2;
	}
	r->others = bench_machine_others();
	if (r->suite->derive)
		r->suite->derive(r);
	bench_print_table(r, stdout);
	if (o->json)
		bad |= bench_write_json(r, o->json);
	if (o->csv)
		bad |= bench_write_csv(r, o->csv);
	for (size_t i = 0; i < r->trouble_count; i++)
		bad |= !r->trouble[i].skipped;
	return bad || interrupted;
}

int bench_main(int argc, char **argv, const struct bench_suite *suite)
{
	struct bench_options options;
	struct bench_results results = {
		.suite = suite, .options = &options,
	};
	struct progress progress = { .began = bench_wall_now() };
	time_t now = time(NULL);
	struct sigaction act = { .sa_handler = on_interrupt };

	bench_options_parse(&options, argc, argv, suite);
	if (options.sample)
		bench_sample_run(suite, &options);

	/* The child gets the signal as well, and ends by it. */
	sigaction(SIGINT, &act, NULL);
	bench_machine_others();
	strftime(results.date, sizeof(results.date), "%Y-%m-%dT%H:%M:%SZ",
		 gmtime(&now));
	if (suite->prepare)
		suite->prepare(&options);
	for (unsigned rep = 0; rep < options.reps; rep++)
		take_round(&results, &progress, rep, 1);
	for (unsigned rep = 0; rep < options.reps && !interrupted; rep++)
		take_round(&results, &progress, rep, 0);
	fputs(isatty(2) ? "\r\033[K" : "", stderr);
	return finish(&results);
}
