/* SPDX-License-Identifier: MIT */
/* help.c - what a benchmark can be asked: its options, variants and cases */
#include <string.h>

#include "options.h"

static void print_list(const unsigned *list, size_t most)
{
	for (size_t i = 0; i < most && list[i]; i++)
		printf("%s%u", i ? "," : "", list[i]);
}

void bench_print_variants(const struct bench_suite *suite, FILE *out)
{
	for (size_t i = 0; suite->variants[i]; i++)
		fprintf(out, "%s%s", i ? "," : "", suite->variants[i]->name);
}

static void print_defaults(const struct bench_suite *suite)
{
	printf("\nDefaults: %u repetitions of %d ms; with --quick %u of %d ms.\n"
	       "VCPUs: ", bench_suite_reps(suite, 0), bench_suite_ms(suite, 0),
	       bench_suite_reps(suite, 1), bench_suite_ms(suite, 1));
	print_list(suite->vcpus, BENCH_LIST_MAX);
	fputs("\nVariants: ", stdout);
	bench_print_variants(suite, stdout);
	putchar('\n');
}

static void print_cases(const struct bench_suite *suite)
{
	puts("\nCases, with their numbers of threads where they have a choice:");
	for (const struct bench_case *c = suite->cases; c->name; c++) {
		printf("  %s", c->name);
		if (c->threads[0]) {
			putchar(' ');
			print_list(c->threads, sizeof(c->threads) /
				   sizeof(c->threads[0]));
		}
		if (c->vcpus_min > 1)
			printf("; from %u VCPUs on", c->vcpus_min);
		if (c->vcpus_max)
			printf("; up to %u VCPU%s", c->vcpus_max,
			       c->vcpus_max > 1 ? "s" : "");
		if (c->slow)
			printf("; not with --quick: %s", c->slow);
		putchar('\n');
	}
}

void bench_help(const struct bench_suite *suite)
{
	printf("Usage: bench-%s [OPTION]...\n%s\n\n", suite->name,
	       suite->about);
	fputs(
"What is measured:\n"
"      --only=LIST      cases whose names begin so (all)\n"
"  -v, --variants=LIST  variants, which are the columns of the table (all)\n"
"  -n, --vcpus=LIST     numbers of VCPUs; pthreads get as many CPUs\n"
"  -t, --threads=LIST   numbers of threads, where a case has a choice\n"
"      --stack=BYTES    the stack of each thread (16384)\n", stdout);
	if (!strcmp(suite->name, "mutex"))
		fputs(
"      --preempt=HOW    stop owners of the mutex by computing `threads' or\n"
"                       `processes', one for each VCPU (none)\n", stdout);
	if (!strcmp(suite->name, "mpi"))
		fputs(
"      --mpi=NAME       `openmpi' or `mpich' (openmpi)\n", stdout);
	fputs(
"\nHow long:\n"
"  -r, --reps=N         repetitions, with the variants in turns\n"
"      --ms=N           how long the measured part of a sample lasts\n"
"      --timeout=S      after which a sample counts as failed (300)\n"
"      --quick          less of everything: for a look, not for a claim\n"
"\nWhat comes out:\n"
"  -o, --json=PATH      write the results as JSON\n"
"      --csv=PATH       write the results as CSV\n"
"      --commit=NAME    goes into the results\n"
"  -V, --verbose        a line for each sample\n"
"      --list           name the cases, and end\n"
"  -h, --help           this text\n"
"\n"
"A LIST has commas: --vcpus=1,2. On 1 VCPU, process CPU time counts (pthreads\n"
"are kept on one CPU); on more, wall time.\n", stdout);
	print_defaults(suite);
	print_cases(suite);
}
