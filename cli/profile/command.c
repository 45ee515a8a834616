/* SPDX-License-Identifier: MIT */
/*
 * cli/profile/command.c - weft profile: where the time of a program goes
 *
 * The process is recorded as by weft trace, with stacks. Then its events become times.
 */
#include <argp.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "figures.h"
#include "profile/profile.h"
#include "trace/job.h"

#define HZ_MOST		1000
#define KIB_MOST	63

enum { KEY_FOLDED = TRACE_KEY_OWN, KEY_RAW, KEY_RATE, KEY_EVERY, KEY_STACK };

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "The file to write, which must not exist; -: "
	  "standard output. Default: weft.PID.pb.gz; of folded stacks: -", 0 },
	{ "folded", KEY_FOLDED, "TYPE", OPTION_ARG_OPTIONAL, "Write folded stacks with the "
	  "numbers of one type: samples, cpu, waits, wait, lock_waits, lock, ready or "
	  "spawns. Default: cpu", 0 },
	{ "raw", KEY_RAW, NULL, 0, "Write the recording itself, which weft profile and weft "
	  "trace read", 0 },
	{ "for", TRACE_KEY_FOR, "TIME", 0, "For how long to measure, e.g. 500ms or 10s. Default: "
	  "until the process ends, or Ctrl-C", 0 },
	{ "rate", KEY_RATE, "NUMBER", 0, "How often in a second of CPU time to see what a "
	  "VCPU runs; 0: never. Default: 99", 0 },
	{ "every", KEY_EVERY, "NUMBER", 0, "Take a stack of each long wait, and of so many "
	  "short ones and of so many spawns one; 0: none. Default: 10", 0 },
	{ "stack", KEY_STACK, "KIB", 0, "How much of a stack to take. Default: 8", 0 },
	TRACE_JOB_OPTIONS,
	{ NULL, 0, NULL, 0, NULL, 0 },
};

struct command {
	struct trace_job job;
	enum profile_value folded;	/* PROFILE_VALUES: pprof's format */
	long hz, every, kib;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct command *c = state->input;

	switch (key) {
	case KEY_FOLDED:
		c->folded = arg ? profile_type_of(arg) : PROFILE_CPU;
		if (c->folded == PROFILE_VALUES)
			argp_error(state, "%s is not a type: there are samples, cpu, waits, "
				   "wait, lock_waits, lock, ready and spawns", arg);
		return 0;
	case KEY_RAW:
		c->job.is_raw = 1;
		return 0;
	case KEY_RATE:
		c->hz = weft_cli_number(state, arg, 0, HZ_MOST);
		return 0;
	case KEY_EVERY:
		c->every = weft_cli_number(state, arg, 0, UINT16_MAX);
		return 0;
	case KEY_STACK:
		c->kib = weft_cli_number(state, arg, 1, KIB_MOST);
		return 0;
	default:
		return trace_job_parse(&c->job, key, arg, state);
	}
}

static const char *fill(struct profile_table *table, int log)
{
	struct trace_recording recording;
	const char *why = trace_recording_open(&recording, log);
	int error;

	if (why)
		return why;
	if (recording.maps)
		table->files = profile_files_open(recording.maps, recording.maps_bytes);
	error = profile_gather(table, &recording);
	trace_recording_close(&recording);
	return error ? "no memory" : NULL;
}

static const char *put(struct profile_table *table, const struct command *c, int to)
{
	FILE *file;

	errno = 0;
	if (c->folded == PROFILE_VALUES)
		return profile_write_pprof(table, to < 0 ? STDOUT_FILENO : to) == 0 ? NULL :
		       trace_output_why(errno);
	file = trace_output(to);
	return !file ? strerror(errno) :
	       trace_output_end(file, profile_write_folded(table, file, c->folded) != 0);
}

static const char *write_times(void *command, int log, int to)
{
	const struct command *c = command;
	struct profile_table table = { .files = NULL };
	const char *why = fill(&table, log);

	if (!why)
		why = put(&table, c, to);
	if (!why && table.stacks == 0 && (c->hz || c->every))
		fputs("weft: there is no stack in the recording: it was too short, or is "
		      "weft trace's, or the process has an older weft, or WEFT_DUMP=off and "
		      "WEFT_DEADLOCK=off\n", stderr);
	profile_table_free(&table);
	profile_files_close(table.files);
	return why;
}

static const char *suffix(const struct command *c)
{
	if (c->folded != PROFILE_VALUES)
		return NULL;
	return c->job.is_raw ? ".weft" : ".pb.gz";
}

int weft_cli_profile(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .children = weft_cli_help,
		.args_doc = "PID\nFILE\nPROGRAM [ARGUMENT...]",
		.doc = "Measures where the time of a program goes, by thread and stack: on the "
		       "CPU, in waits and for what, and in waits for a lock. PROGRAM is started "
		       "as by weft run. FILE is a recording of --raw. pprof and speedscope "
		       "read the result."
		       "\vThe exit status is the program's; 1: there is no profile; 125: weft "
		       "itself failed.",
	};
	struct command c = {
		.job = {
			.target = { .for_ns = -1, .mib = 64 },
			.more = "a larger --buffer, or --every, helps",
		},
		.folded = PROFILE_VALUES, .hz = 99, .every = 10, .kib = 8,
	};

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &c);
	c.job.target.stacks = WEFTI_RECORD_STACKS(c.hz, c.kib, c.every);
	return trace_job_run(&c.job, suffix(&c), write_times, &c);
}
