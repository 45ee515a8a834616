/* SPDX-License-Identifier: MIT */
/*
 * cli/dump.c - weft dump: a program prints its threads to its standard error
 *
 * By SIGQUIT, which the runtime takes where the program leaves it alone. It is
 * sent only where weft's library is loaded and something catches it: otherwise
 * it would end the program.
 */
#include "cli.h"

#include <argp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static error_t parse(int key, char *arg, struct argp_state *state)
{
	char *end;

	if (key == ARGP_KEY_END && state->arg_num != 1)
		argp_usage(state);
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	*(long *)state->input = strtol(arg, &end, 10);
	if (*end || end == arg || *(long *)state->input <= 0)
		argp_error(state, "%s is no process", arg);
	return 0;
}

/* Calls test with each line of /proc/PID/NAME until one fits. -1: no file. */
static int any_line(long pid, const char *name, int (*test)(const char *line))
{
	char path[64], *line = NULL;
	size_t size = 0;
	int found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/%s", pid, name);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (!found && getline(&line, &size, file) > 0)
		found = test(line);
	free(line);
	fclose(file);
	return found;
}

static int is_library(const char *line)
{
	return strstr(line, "/libweft") != NULL;
}

static int catches_quit(const char *line)
{
	uint64_t caught;

	return sscanf(line, "SigCgt: %" SCNx64, &caught) == 1 &&
	       (caught >> (SIGQUIT - 1) & 1);
}

static int fail(long pid, const char *why)
{
	fprintf(stderr, "weft: %ld: %s\n", pid, why);
	return 1;
}

int weft_cli_dump(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse, .args_doc = "PID",
		.doc = "Has a process that weft runs print its threads, with "
		       "their stacks, to its own standard error.",
	};
	long pid = 0;
	int found;

	argp_parse(&argp, argc, argv, 0, NULL, &pid);
	found = any_line(pid, "maps", is_library);
	if (found < 0)
		return fail(pid, strerror(errno));
	if (!found)
		return fail(pid, "weft does not run it");
	if (any_line(pid, "status", catches_quit) <= 0)
		return fail(pid, "it does not catch SIGQUIT: it has made no "
			    "thread yet, or runs with WEFT_DUMP=off");
	return kill((pid_t)pid, SIGQUIT) == 0 ? 0 : fail(pid, strerror(errno));
}
