/* SPDX-License-Identifier: MIT */
/*
 * cli/trace/command.c - weft trace: records what threads do, and writes it in a format
 *
 * The events are read, and written in the format that was asked for.
 */
#include <argp.h>
#include <errno.h>
#include <string.h>

#include "cli.h"
#include "figures.h"
#include "trace/job.h"
#include "trace/story.h"

enum { KEY_FORMAT = TRACE_KEY_OWN, KEY_STACKS };

#define STACK_KIB	8

enum format { PERFETTO, CHROME, TEXT, RAW, FORMATS };

static const struct {
	const char *name, *suffix;
} formats[FORMATS] = {
	[PERFETTO] = { "perfetto", ".pftrace" },
	[CHROME] = { "chrome", ".json" },
	[TEXT] = { "text", ".txt" },
	[RAW] = { "raw", ".weft" },
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "The file to write, which must not exist; -: "
	  "standard output. Default: weft.PID and the format's suffix; for text: -", 0 },
	{ "for", TRACE_KEY_FOR, "TIME", 0, "For how long to record, e.g. 500ms or 10s; 0: "
	  "only write what WEFT_TRACE=flight has recorded. Default: until the process "
	  "ends, or Ctrl-C", 0 },
	{ "format", KEY_FORMAT, "NAME", 0, "perfetto (.pftrace), chrome (.json), text "
	  "(.txt) or raw (.weft). Default: by the suffix of FILE, else perfetto", 0 },
	{ "stacks", KEY_STACKS, "NUMBER", 0, "Also take a stack of each long wait, and of so "
	  "many short ones and of so many spawns one; 0: none. Default: 0", 0 },
	TRACE_JOB_OPTIONS,
	{ NULL, 0, NULL, 0, NULL, 0 },
};

struct command {
	struct trace_job job;
	int format;		/* -1: not given */
};

static int parse_format(struct argp_state *state, const char *text)
{
	for (int i = 0; i < FORMATS; i++)
		if (strcmp(text, formats[i].name) == 0)
			return i;
	argp_error(state, "%s is not a format: there are perfetto, chrome, text and raw",
		   text);
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct command *c = state->input;

	switch (key) {
	case KEY_FORMAT:
		c->format = parse_format(state, arg);
		return 0;
	case KEY_STACKS:
		c->job.target.stacks = WEFTI_RECORD_STACKS(0, STACK_KIB,
			weft_cli_number(state, arg, 0, UINT16_MAX));
		return 0;
	default:
		return trace_job_parse(&c->job, key, arg, state);
	}
}

static int has_suffix(const char *text, const char *suffix)
{
	const size_t n = strlen(text), m = strlen(suffix);

	return n > m && strcmp(text + n - m, suffix) == 0;
}

/* Without a word about it: Perfetto's, if it was built in. */
static int usual_format(const char *output)
{
	for (int i = 0; output && i < FORMATS; i++)
		if (has_suffix(output, formats[i].suffix))
			return i;
	return WEFT_HAS_PERFETTO ? PERFETTO : CHROME;
}

static const char *convert(int format, int log, FILE *file)
{
	struct trace_recording recording;
	struct trace_writer writer = { .file = file };
	const char *why = trace_recording_open(&recording, log);
	int error;

	if (why)
		return why;
#if WEFT_HAS_PERFETTO
	writer.format = format == PERFETTO ? &trace_perfetto : &trace_chrome;
#else
	writer.format = &trace_chrome;
#endif
	error = format == TEXT ? trace_text(&recording, file) :
				 trace_tell(&recording, &writer);
	trace_recording_close(&recording);
	return error ? "no memory" : NULL;
}

static const char *write_as(void *command, int log, int to)
{
	const struct command *c = command;
	FILE *file = trace_output(to);
	const char *why;

	if (!file)
		return strerror(errno);
	why = convert(c->format, log, file);
	if (!why)
		return trace_output_end(file, 0);
	(void)trace_output_end(file, 1);
	return why;
}

int weft_cli_trace(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .children = weft_cli_help,
		.args_doc = "PID\nFILE\nPROGRAM [ARGUMENT...]",
		.doc = "Records what the threads of a process do: which runs where, what "
		       "each waits for, and which thread woke it. PROGRAM is started as "
		       "by weft run. FILE is a recording of format raw, or a core file."
		       "\vThe exit status is the program's; 1: there is no trace; 125: weft "
		       "itself failed.",
	};
	struct command c = {
		.job = {
			.target = { .for_ns = -1, .mib = 64 },
			.more = "a larger --buffer helps",
		},
		.format = -1,
	};

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &c);
	if (c.format < 0)
		c.format = usual_format(c.job.output);
	if (c.format == PERFETTO && !WEFT_HAS_PERFETTO)
		return weft_cli_complain(STATUS_OWN, "perfetto", "this weft was built without "
			"protobuf-c; take --format=chrome, which Perfetto reads too");
	c.job.is_raw = c.format == RAW;
	return trace_job_run(&c.job, c.format == TEXT ? NULL : formats[c.format].suffix,
			     write_as, &c);
}
