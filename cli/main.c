/* SPDX-License-Identifier: MIT */
/* cli/main.c - the weft command: finds the part that the first argument names */
#include "cli.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "weft/base.h"

static const char text[] =
	"weft runs programs written for POSIX threads on threads of its own, "
	"which are not kernel threads.\v"
	"Commands:\n"
	"  run PROGRAM [ARGUMENT...]  run a program\n"
	"  dump PID                   print the threads of a process\n"
	"\n"
	"weft COMMAND --help says more.";

const char *argp_program_version = "weft " WEFT_VERSION;

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "run", weft_cli_run },
	{ "dump", weft_cli_dump },
};

/* The arguments in front of the command. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
	static char name[64];

	if (key == ARGP_KEY_NO_ARGS)
		argp_usage(state);
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		char **rest = &state->argv[state->next - 1];

		if (strcmp(arg, commands[i].name) != 0)
			continue;
		snprintf(name, sizeof(name), "weft %s", arg);
		rest[0] = name;
		*(int *)state->input =
			commands[i].run(state->argc - state->next + 1, rest);
		state->next = state->argc;
		return 0;
	}
	argp_error(state, "there is no command %s", arg);
	return EINVAL;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse, .args_doc = "COMMAND ...", .doc = text,
	};
	int status = 0;

	argp_err_exit_status = STATUS_OWN;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &status);
	return status;
}
