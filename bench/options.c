/* SPDX-License-Identifier: MIT */
/* options.c - the command line, the same for every benchmark */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum {
	OPT_ONLY = 256, OPT_MS, OPT_TIMEOUT, OPT_QUICK, OPT_STACK, OPT_PREEMPT,
	OPT_CSV, OPT_COMMIT, OPT_UNIT_STEPS, OPT_UNIT_NS, OPT_SAMPLE, OPT_LIST, OPT_MPI,
};

static const struct option long_options[] = {
	{ "variants", required_argument, NULL, 'v' },
	{ "vcpus", required_argument, NULL, 'n' },
	{ "threads", required_argument, NULL, 't' },
	{ "reps", required_argument, NULL, 'r' },
	{ "json", required_argument, NULL, 'o' },
	{ "only", required_argument, NULL, OPT_ONLY },
	{ "ms", required_argument, NULL, OPT_MS },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "quick", no_argument, NULL, OPT_QUICK },
	{ "stack", required_argument, NULL, OPT_STACK },
	{ "preempt", required_argument, NULL, OPT_PREEMPT },
	{ "mpi", required_argument, NULL, OPT_MPI },
	{ "csv", required_argument, NULL, OPT_CSV },
	{ "commit", required_argument, NULL, OPT_COMMIT },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "verbose", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	/* From the parent to a child; not in the help. */
	{ "unit-steps", required_argument, NULL, OPT_UNIT_STEPS },
	{ "unit-ns", required_argument, NULL, OPT_UNIT_NS },
	{ "sample", required_argument, NULL, OPT_SAMPLE },
	{ NULL, 0, NULL, 0 },
};

static __attribute__((noreturn)) void wrong(const char *option,
					    const char *value)
{
	fprintf(stderr, "bench: --%s: not understood: `%s'; see --help\n",
		option, value);
	exit(2);
}

static unsigned long parse_number(const char *option, const char *text,
				  unsigned long least, unsigned long most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || *end || *text == '-' || n < least || n > most)
		wrong(option, text);
	return n;
}

static void parse_list(struct bench_list *list, const char *option,
		       const char *text)
{
	const char *at = text;

	list->count = 0;
	for (;;) {
		char *end;
		unsigned long n = strtoul(at, &end, 10);

		if (end == at || n == 0 || n > 100000000 ||
		    list->count == BENCH_LIST_MAX)
			wrong(option, text);
		list->value[list->count++] = (unsigned)n;
		if (!*end)
			return;
		if (*end != ',')
			wrong(option, text);
		at = end + 1;
	}
}

static int list_match(const char *list, const char *name, int whole)
{
	size_t name_len = strlen(name);

	if (!list)
		return 1;
	for (const char *at = list; *at; ) {
		size_t len = strcspn(at, ",");

		if (len && len <= name_len && !strncmp(at, name, len) &&
		    (!whole || len == name_len))
			return 1;
		at += len;
		at += *at == ',';
	}
	return 0;
}

int bench_list_has(const char *list, const char *name)
{
	return list_match(list, name, 1);
}

int bench_list_begins(const char *list, const char *name)
{
	return list_match(list, name, 0);
}

static void check_variants(const struct bench_suite *suite, const char *list)
{
	char name[BENCH_NAME_MAX];

	for (const char *at = list; *at; ) {
		size_t len = strcspn(at, ",");
		int known = 0;

		if (len >= sizeof(name))
			wrong("variants", list);
		memcpy(name, at, len);
		name[len] = 0;
		for (size_t i = 0; suite->variants[i]; i++)
			known |= !strcmp(name, suite->variants[i]->name);
		if (!known) {
			fprintf(stderr, "bench: there is no variant `%s', but ",
				name);
			bench_print_variants(suite, stderr);
			fputc('\n', stderr);
			exit(2);
		}
		at += len;
		at += *at == ',';
	}
}

/* Each entry of --only is the beginning of some case's name. */
static void check_cases(const struct bench_suite *suite, const char *only)
{
	for (const char *at = only ? only : ""; *at; ) {
		size_t len = strcspn(at, ",");
		int known = !len;

		for (const struct bench_case *c = suite->cases; c->name; c++)
			known |= !strncmp(c->name, at, len);
		if (!known) {
			fprintf(stderr, "bench: no case begins with `%.*s'; see "
				"bench-%s --list\n", (int)len, at, suite->name);
			exit(2);
		}
		at += len;
		at += *at == ',';
	}
}

unsigned bench_suite_reps(const struct bench_suite *suite, int quick)
{
	return quick ? 3 : suite->reps ? suite->reps : 5;
}

int bench_suite_ms(const struct bench_suite *suite, int quick)
{
	return !quick ? suite->target_ms : suite->quick_ms ? suite->quick_ms :
	       suite->target_ms / 4;
}

static void set_defaults(struct bench_options *o,
			 const struct bench_suite *suite)
{
	memset(o, 0, sizeof(*o));
	for (const unsigned *v = suite->vcpus; *v; v++)
		o->vcpus.value[o->vcpus.count++] = *v;
	o->timeout_s = 300;
	o->stack_bytes = 16384;
	o->preempt = "none";
	o->commit = "unknown";
}

static void list_cases(const struct bench_suite *suite)
{
	for (const struct bench_case *c = suite->cases; c->name; c++)
		puts(c->name);
}

static void take(struct bench_options *o, int c,
		 const struct bench_suite *suite)
{
	switch (c) {
	case 'v': check_variants(suite, optarg); o->variants = optarg; break;
	case 'n': parse_list(&o->vcpus, "vcpus", optarg); break;
	case 't': parse_list(&o->threads, "threads", optarg); break;
	case 'r': o->reps = parse_number("reps", optarg, 1, 1000); break;
	case 'o': o->json = optarg; break;
	case 'V': o->verbose = 1; break;
	case OPT_ONLY: o->only = optarg; break;
	case OPT_MS: o->target_ms = parse_number("ms", optarg, 1, 60000); break;
	case OPT_TIMEOUT:
		o->timeout_s = parse_number("timeout", optarg, 1, 36000);
		break;
	case OPT_QUICK: o->quick = 1; break;
	case OPT_STACK:
		o->stack_bytes = parse_number("stack", optarg, 16384, 1u << 30);
		break;
	case OPT_PREEMPT:
		if (!bench_list_has("none,threads,processes", optarg))
			wrong("preempt", optarg);
		o->preempt = optarg;
		break;
	case OPT_MPI:
		if (!bench_list_has("openmpi,mpich", optarg))
			wrong("mpi", optarg);
		/* For the samples, which are processes. */
		setenv("WEFT_BENCH_MPI", optarg, 1);
		break;
	case OPT_CSV: o->csv = optarg; break;
	case OPT_COMMIT: o->commit = optarg; break;
	case OPT_UNIT_STEPS:
		o->unit_steps = parse_number("unit-steps", optarg, 1, 1000000);
		break;
	case OPT_UNIT_NS: o->unit_ns = atof(optarg); break;
	case OPT_SAMPLE: o->sample = optarg; break;
	case OPT_LIST: list_cases(suite); exit(0);
	case 'h': bench_help(suite); exit(0);
	default:
		fprintf(stderr, "bench: see bench-%s --help\n", suite->name);
		exit(2);
	}
}

/* Adds an option to the command that repeats the run, by its long name. */
static void note(struct bench_options *o, int c)
{
	const struct option *l = long_options;
	size_t used = strlen(o->command);

	if (c == 'o' || c == 'V' || c == OPT_CSV || c == OPT_COMMIT)
		return;
	while (l->name && l->val != c)
		l++;
	if (l->name)
		snprintf(o->command + used, sizeof(o->command) - used,
			 " --%s%s%s", l->name, optarg ? "=" : "",
			 optarg ? optarg : "");
}

void bench_options_parse(struct bench_options *o, int argc, char **argv,
			 const struct bench_suite *suite)
{
	int c;

	set_defaults(o, suite);
	snprintf(o->command, sizeof(o->command), "bench-%s", suite->name);
	while ((c = getopt_long(argc, argv, "v:n:t:r:o:Vh", long_options,
				NULL)) != -1) {
		take(o, c, suite);
		note(o, c);
	}
	if (optind < argc) {
		fprintf(stderr, "bench: `%s' is no option; see --help\n",
			argv[optind]);
		exit(2);
	}
	check_cases(suite, o->only);
	if (!o->reps)
		o->reps = bench_suite_reps(suite, o->quick);
	if (!o->target_ms)
		o->target_ms = bench_suite_ms(suite, o->quick);
}
