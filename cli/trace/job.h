/* SPDX-License-Identifier: MIT */
/* cli/trace/job.h - what weft trace and weft profile do alike */
#ifndef WEFT_CLI_TRACE_JOB_H
#define WEFT_CLI_TRACE_JOB_H

#include <argp.h>

#include "trace/command.h"

struct trace_job {
	struct trace_target target;
	const char *output;	/* that was asked for; NULL: the usual name */
	const char *recorded;	/* a file to read; NULL: the target is recorded */
	int is_raw;		/* what is written is the recording itself */
	const char *more;	/* what helps if events were lost, in words */
};

enum { TRACE_KEY_FOR = 256, TRACE_KEY_NATIVE, TRACE_KEY_OWN };

#define TRACE_JOB_OPTIONS \
	{ "buffer", 'b', "SIZE", 0, "The recorder's memory, e.g. 64M, if the process has " \
	  "none yet. Default: 64M", 0 }, \
	{ "native", TRACE_KEY_NATIVE, NULL, 0, "PROGRAM is written for weft: start it as " \
	  "it is, not by weft run", 0 }

/* The keys above, 'o', and the arguments. For a command's own parser. */
error_t trace_job_parse(struct trace_job *j, int key, char *arg,
			struct argp_state *state);

/* Writes the recording in the log to `to`, or -1: standard output. Returns what is wrong. */
typedef const char *trace_write_fn(void *arg, int log, int to);

/*
 * Records, or reads what was recorded, and writes. The usual output is weft.PID and the
 * suffix; NULL: standard output. Returns the exit status.
 */
int trace_job_run(struct trace_job *j, const char *suffix, trace_write_fn *write, void *arg);

/* to: as above. Returns NULL with errno. */
FILE *trace_output(int to);

/* Ends it. failed: is something wrong already? Returns NULL, or what is wrong. */
const char *trace_output_end(FILE *file, int failed);

/* The words for an error of writing; 0: none is known. */
const char *trace_output_why(int error);

#endif
