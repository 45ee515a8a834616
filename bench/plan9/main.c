/* SPDX-License-Identifier: MIT */
/* bench-plan9 - what does a lock in a channel do? Each case is told in bodies.h */
#include "plan9/talk.h"

#define TALK(under, arg_)						\
	{ .name = "program-" under, .body = "program", .group = "program", \
	  .threads = { 1200 }, .arg = (arg_) }

#define PACER(under, arg_)						\
	{ .name = "pacer-" under, .body = "pacer", .group = "pacer",	\
	  .threads = { 1200 }, .arg = (arg_), .slow = "ten seconds each" }

#define COUNT(what, under, arg_, not_for_)				\
	{ .name = what "-" under, .body = "cas", .group = what,		\
	  .threads = { 1200 }, .not_for = (not_for_), .arg = (arg_) }

static const struct bench_case cases[] = {
	TALK("free", UNDER_NOTHING),
	TALK("spin", UNDER_SPIN),
	TALK("greased", UNDER_GREASED),
	TALK("mutex", UNDER_MUTEX),
	COUNT("cas", "free", UNDER_NOTHING, 0),
	COUNT("cas", "spin", UNDER_SPIN, 0),
	COUNT("cas", "greased", UNDER_GREASED, 0),
	COUNT("cas", "mutex", UNDER_MUTEX, BENCH_NOT_PTHREADS),
	COUNT("rmw", "free", UNDER_NOTHING, 0),
	COUNT("rmw", "spin", UNDER_SPIN, 0),
	COUNT("rmw", "greased", UNDER_GREASED, 0),
	COUNT("rmw", "mutex", UNDER_MUTEX, BENCH_NOT_PTHREADS),
	PACER("free", UNDER_NOTHING),
	PACER("spin", UNDER_SPIN),
	PACER("greased", UNDER_GREASED),
	PACER("mutex", UNDER_MUTEX),
	{ .name = NULL },
};

static const struct bench_variant *const variants[] = {
	&bench_plan9_light, &bench_plan9_tls, &bench_plan9_pthreads, NULL,
};

static const unsigned vcpus[] = { 1, 2, 0 };

int main(int argc, char **argv)
{
	static const struct bench_suite suite = {
		.name = "plan9",
		.about = "The Plan 9 talk's experiment: 1,200 threads and "
			 "20,000 operations on a channel, without a lock and "
			 "under three.",
		.cases = cases,
		.variants = variants,
		.vcpus = vcpus,
		.target_ms = 300,
	};

	return bench_main(argc, argv, &suite);
}
