/* SPDX-License-Identifier: MIT */
/* cli/top.c - weft top: the threads and objects of a process, again and again */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "figures.h"

struct options {
	struct weft_screen screen;
	int batch;
	long count;		/* 0: until the process ends */
};

static const struct argp_option options[] = {
	{ "every", 'e', "SECONDS", 0, "the time between two pictures: 2", 0 },
	{ "batch", 'b', NULL, 0, "print the pictures, without a screen and keys", 0 },
	{ "count", 'n', "NUMBER", 0, "with --batch: so many", 0 },
	{ "longest", 'L', NULL, 0, "objects in the order of the longest wait", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'e':
		o->screen.every = weft_cli_seconds(state, arg);
		return 0;
	case 'b':
		o->batch = 1;
		return 0;
	case 'n':
		o->count = weft_cli_number(state, arg, 1, LONG_MAX);
		return 0;
	case 'L':
		o->screen.by_longest = 1;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 0)
			argp_usage(state);
		o->screen.pid = weft_cli_pid(state, arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	case ARGP_KEY_END:
		if (o->count && !o->batch)
			argp_error(state, "--count needs --batch");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int print_pictures(const struct options *o)
{
	static struct weft_figures figures[2];
	const struct weft_screen *s = &o->screen;

	if (weft_cli_figures(s->pid, "top", &figures[0]) != 0)
		return 1;
	for (long i = 1; !o->count || i <= o->count; i++) {
		if (weft_cli_pause(s->pid, s->every) != 0)
			return 0;
		if (weft_cli_figures(s->pid, "top", &figures[i % 2]) != 0)
			return 1;
		weft_cli_picture(stdout, s, &figures[i % 2], &figures[(i + 1) % 2]);
		if (printf("\n") < 0 || fflush(stdout) != 0)
			return weft_cli_ask_fails(s->pid, strerror(errno));
	}
	return 0;
}

int weft_cli_top(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "PID",
		.children = weft_cli_help,
		.doc = "Shows which threads of a process run most, and for which objects "
		       "threads wait.\v"
		       "Keys: q ends it, s changes the order of the objects, p stops the "
		       "pictures and lets them go on.",
	};
	struct options o = { .screen.every = 2 };

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (weft_cli_ask_begin(o.screen.pid) != 0)
		return 1;
	return o.batch ? print_pictures(&o) : weft_cli_screen(&o.screen);
}
