/* SPDX-License-Identifier: MIT */
/*
 * cli/trace/job.c - what weft trace and weft profile do alike
 *
 * A living process is recorded into a log, which has no name (raw: it is the output). When
 * it is complete, the command writes what the log has in its own way.
 */
#include "trace/job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "trace/recording.h"

#define MIB_MOST	65535u

static unsigned parse_size(struct argp_state *state, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || n == 0 || n > MIB_MOST ||
	    (strcmp(end, "M") != 0 && strcmp(end, "G") != 0) ||
	    (*end == 'G' && n > MIB_MOST / 1024))
		argp_error(state, "%s is not a size such as 64M or 1G", text);
	return (unsigned)n * (*end == 'G' ? 1024 : 1);
}

static int is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == 0;
}

/* A process, a recording, or a program with its arguments. */
static void parse_what(struct trace_job *j, char *arg, struct argp_state *state)
{
	const int is_alone = state->next == state->argc;

	if (is_alone && is_number(arg))
		j->target.pid = weft_cli_pid(state, arg);
	else if (is_alone && trace_is_recording(arg))
		j->recorded = arg;
	else
		j->target.program = &state->argv[state->next - 1];
	state->next = state->argc;
}

error_t trace_job_parse(struct trace_job *j, int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'o':
		j->output = arg;
		return 0;
	case 'b':
		j->target.mib = parse_size(state, arg);
		return 0;
	case TRACE_KEY_FOR:
		j->target.for_ns = weft_cli_time(state, arg, 0);
		return 0;
	case TRACE_KEY_NATIVE:
		j->target.is_native = 1;
		return 0;
	case ARGP_KEY_ARG:
		parse_what(j, arg, state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int is_standard(const char *output)
{
	return strcmp(output, "-") == 0;
}

FILE *trace_output(int to)
{
	return to < 0 ? stdout : fdopen(to, "w");
}

const char *trace_output_why(int error)
{
	return error ? strerror(error) :
		       "not all of it could be written: is the disk full?";
}

const char *trace_output_end(FILE *file, int failed)
{
	failed |= ferror(file);		/* errno is no longer that error's */
	errno = 0;
	failed |= file == stdout ? fflush(file) : fclose(file);
	return failed ? trace_output_why(errno) : NULL;
}

static int open_log(const struct trace_job *j, const char *output, int to)
{
	if (j->recorded)
		return open(j->recorded, O_RDONLY | O_CLOEXEC);
	return j->is_raw ? to : trace_file_nameless(is_standard(output) ? "." : output);
}

static void say(const struct trace_job *j, const char *output)
{
	if (!j->recorded)
		fprintf(stderr, "weft: %s: %" PRIu64 " events\n", output, j->target.events);
	else if (!j->output && !is_standard(output))
		fprintf(stderr, "weft: %s is written\n", output);
	if (j->target.lost)
		fprintf(stderr, "weft: %" PRIu64 " events were lost: they were overwritten "
			"before they were read (%s)\n", j->target.lost, j->more);
}

/* The user may mean a recording: "not found" would be about a program. */
static int is_neither(char **program)
{
	const char *found = weft_cli_find_program(program[0]);
	struct stat st;

	return !program[1] && access(program[0], F_OK) == 0 &&
	       (!found || access(found, X_OK) != 0 ||
		(stat(found, &st) == 0 && S_ISDIR(st.st_mode)));
}

static const char *work(struct trace_job *j, const char *output, int to,
			trace_write_fn *write, void *arg)
{
	const int log = open_log(j, output, to);
	const char *why = NULL;

	if (log < 0)
		return strerror(errno);
	if (!j->recorded)
		why = trace_collect(&j->target, log);
	return why || j->is_raw ? why : write(arg, log, to);
}

static const char *subject(const struct trace_job *j, char text[32])
{
	snprintf(text, 32, "%ld", j->target.pid);
	return j->recorded ? j->recorded : j->target.program ? j->target.program[0] : text;
}

static int run(struct trace_job *j, const char *output, trace_write_fn *write, void *arg)
{
	const int to = is_standard(output) ? -1 : trace_file_new(output);
	const char *why;
	char text[32];

	if (to < 0 && !is_standard(output))
		return weft_cli_complain(1, output, errno == EEXIST ?
			"there is such a file, and it is not overwritten" : strerror(errno));
	why = work(j, output, to, write, arg);
	if (why && to >= 0)
		unlink(output);
	if (!why)
		say(j, output);
	else
		weft_cli_complain(1, subject(j, text), why);
	if (j->target.program)
		trace_child_wait(&j->target);
	free(j->target.maps);
	return j->target.program && (j->target.status || !why) ? j->target.status : why != NULL;
}

int trace_job_run(struct trace_job *j, const char *suffix, trace_write_fn *write, void *arg)
{
	const long pid = j->target.pid ? j->target.pid : (long)getpid();
	char name[64] = "-";

	if (j->target.program && is_neither(j->target.program))
		return weft_cli_complain(1, j->target.program[0],
					 "it is neither a recording nor a program");
	if (suffix)
		snprintf(name, sizeof(name), "weft.%ld%s", pid, suffix);
	if (j->is_raw && (j->recorded || is_standard(j->output ? j->output : name)))
		return weft_cli_complain(STATUS_OWN, "raw", j->recorded ?
			"the recording is that already" : "it needs a file");
	return run(j, j->output ? j->output : name, write, arg);
}
