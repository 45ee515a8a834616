/* SPDX-License-Identifier: MIT */
/* coherence/scale.c - coherence-scale CASE VCPUS: runs a case of cases.c */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coherence/scale.h"
#include "coherence/turn.h"

/* WEFT_COHERENCE_PART changes it. The warm-up is twice as long. */
#define PART_NS		200000
#define STACK		(256 * 1024)	/* the results are written there */

static struct scale_crew crew;
static uint64_t ops_before;
static int64_t part_ns = PART_NS;

void scale_check(int error, const char *what)
{
	if (error)
		bench_fail("%s: %s", what, strerror(-error));
}

void scale_compute(int64_t ns)
{
	turn_spend(coherence_cpu(), ns * 1000);
}

static void *member_main(void *arg)
{
	struct scale_member *me = arg;

	me->crew->what->body(me);
	return NULL;
}

static uint64_t sum_ops(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < crew.count; i++)
		sum += crew.member[i].ops;
	return sum;
}

static void begin_part(void)
{
	ops_before = sum_ops();
	coherence_count(1);
}

static void end_part(void)
{
	struct bench_case question = { .name = crew.what->name };
	struct bench_ctx ctx = { .question = &question, .vcpus = crew.vcpus,
				 .threads = crew.count };

	coherence_count(0);
	coherence_tell(&ctx, "", (double)(sum_ops() - ops_before), (double)part_ns);
	_exit(0);
}

static const struct scale_case *find(const char *name)
{
	for (const struct scale_case *c = scale_cases; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	bench_fail("no case `%s'", name);
}

int main(int argc, char **argv)
{
	struct weft_options options = { 0 };
	struct weft_attr light = { .flags = WEFT_LIGHT, .stack_bytes = STACK };
	const char *s = getenv("WEFT_COHERENCE_PART");

	if (argc != 3)
		bench_fail("usage: coherent-scale CASE VCPUS");
	part_ns = s ? strtoll(s, NULL, 10) : PART_NS;
	crew.what = find(argv[1]);
	crew.vcpus = options.vcpus = (unsigned)atoi(argv[2]);
	crew.count = (crew.vcpus * crew.what->per_eight + 7) / 8;
	crew.count += crew.count % 2;
	crew.member = aligned_alloc(128, crew.count * sizeof(*crew.member));
	if (!crew.member)
		bench_fail("out of memory");
	memset(crew.member, 0, crew.count * sizeof(*crew.member));
	scale_check(weft_start(&options), "weft_start");
	if (crew.what->prepare)
		crew.what->prepare(&crew);
	coherence_gather();
	turn_at(2 * part_ns, begin_part);
	turn_at(3 * part_ns, end_part);
	for (unsigned i = 0; i < crew.count; i++) {
		struct scale_member *m = &crew.member[i];

		*m = (struct scale_member){ .crew = &crew, .index = i };
		scale_check(weft_spawn(&m->id, &light, member_main, m),
			    "weft_spawn");
	}
	scale_check(weft_join(crew.member[0].id, NULL), "weft_join");
	return 1;
}
