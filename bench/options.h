/* SPDX-License-Identifier: MIT */
/* options.h - what the command line asked for */
#ifndef WEFT_BENCH_OPTIONS_H
#define WEFT_BENCH_OPTIONS_H

#include "bench.h"

struct bench_list {
	unsigned count;
	unsigned value[BENCH_LIST_MAX];
};

struct bench_options {
	struct bench_list vcpus;
	struct bench_list threads;	/* empty: as the case says */
	const char *variants;		/* comma list; NULL: all */
	const char *only;		/* comma list of beginnings of names */
	unsigned reps;
	int target_ms;
	int timeout_s;			/* of a sample */
	int quick;
	int verbose;
	size_t stack_bytes;
	const char *preempt;
	const char *json;		/* path; NULL: none */
	const char *csv;
	const char *commit;
	char command[256];		/* to repeat the run; without outputs */
	unsigned unit_steps;
	double unit_ns;
	/* "case:variant:vcpus:threads": this process is a child */
	const char *sample;
};

/* Exits with a message where the command line is wrong, or after --help. */
void bench_options_parse(struct bench_options *options, int argc, char **argv,
			 const struct bench_suite *suite);

/* What holds unless the command line says otherwise. */
unsigned bench_suite_reps(const struct bench_suite *suite, int quick);
int bench_suite_ms(const struct bench_suite *suite, int quick);

void bench_help(const struct bench_suite *suite);
/* The names, with commas between them. */
void bench_print_variants(const struct bench_suite *suite, FILE *out);

/* Is `name` in the comma list, or the list NULL? */
int bench_list_has(const char *list, const char *name);
/* Does `name` begin with an entry of the comma list, or is the list NULL? */
int bench_list_begins(const char *list, const char *name);

#endif
