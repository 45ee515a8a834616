/* SPDX-License-Identifier: MIT */
/* cli/dump.c - weft dump: has a process print its threads */
#include "cli.h"

#include "explain.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

struct options {
	long pid;
	const char *request;	/* NULL: a dump, which an older weft gives too */
	int all_frames;
};

enum { KEY_ALL_FRAMES = 256 };

static const struct argp_option options[] = {
	{ "graph", 'g', "FORM", OPTION_ARG_OPTIONAL, "print which thread waits for which "
	  "other one, and cycles of them: as text, or with FORM dot for Graphviz", 0 },
	{ "all-frames", KEY_ALL_FRAMES, NULL, 0, "weft's own calls too, at both ends of a "
	  "stack", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'g':
		if (arg && strcmp(arg, "dot") != 0 && strcmp(arg, "text") != 0)
			argp_error(state, "%s is not text or dot", arg);
		o->request = arg && strcmp(arg, "dot") == 0 ? "graph dot" : "graph";
		return 0;
	case KEY_ALL_FRAMES:
		o->all_frames = 1;
		return 0;
	case ARGP_KEY_ARG:
		o->pid = weft_cli_pid(state, arg);
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num != 1)
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Prints the whole lines of a text. Returns how many bytes they are. */
static size_t tell_lines(struct weft_explain *x, char *text, size_t bytes, int is_full)
{
	size_t told = 0;
	char *end;

	while ((end = memchr(text + told, '\n', bytes - told))) {
		*end = 0;
		weft_cli_explain_line(x, text + told);
		told = (size_t)(end + 1 - text);
	}
	if (told == 0 && is_full) {	/* a line that no weft writes */
		text[bytes] = 0;
		weft_cli_explain_line(x, text);
		told = bytes;
	}
	return told;
}

/* Prints the answer, until the other side has closed the pipe. Returns 0 or why not. */
static int tell(struct weft_explain *x, int from)
{
	char text[8192];
	size_t kept = 0, told;
	int is_first = 1;
	ssize_t n;

	while ((n = weft_cli_answer(from, text + kept, sizeof(text) - 1 - kept)) > 0) {
		kept += (size_t)n;
		if (is_first && weft_cli_is_refusal(text, kept))
			return EPROTO;
		is_first = 0;
		told = tell_lines(x, text, kept, kept == sizeof(text) - 1);
		kept -= told;
		memmove(text, text + told, kept);
		if (ferror(stdout))
			return errno;
	}
	if (n < 0)
		return errno;
	text[kept] = 0;
	if (kept)
		weft_cli_explain_line(x, text);
	return 0;
}

static int print(const struct options *o, int answer)
{
	struct weft_explain *x = weft_cli_explain_begin(stdout, o->pid, o->all_frames);
	int error = x ? tell(x, answer) : ENOMEM;

	if (x)
		weft_cli_explain_end(x);
	if (fflush(stdout) != 0 && !error)
		error = errno;
	return error;
}

int weft_cli_dump(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "PID",
		.children = weft_cli_help,
		.doc = "Prints the threads of a process that runs on weft, with "
		       "their stacks. The process itself writes the dump.",
	};
	struct options o = { 0 };
	int answer, error;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (weft_cli_ask_begin(o.pid) != 0)
		return 1;
	answer = weft_cli_ask(o.pid, o.request);
	if (answer < 0)
		return 1;
	error = print(&o, answer);
	return error ? weft_cli_ask_fails(o.pid, error == EPROTO ? weft_cli_other_weft :
						 weft_cli_no_more(error)) : 0;
}
