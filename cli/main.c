/* SPDX-License-Identifier: MIT */
/* cli/main.c - the weft command: finds the part that the first argument names */
#include "cli.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

static const char text[] =
	"weft runs programs written for POSIX threads on threads of its own, "
	"which are not kernel threads.\v"
	"Commands:\n"
	"  run PROGRAM [ARGUMENT...]  run a program\n"
	"  dump PID                   print the threads of a process\n"
	"  stat PID                   print counters and levels of a process\n"
	"  top PID                    show the threads that run most, and what others wait for\n"
	"  core PID                   write a core file with all threads' stacks\n"
	"  core CORE -o OUT           make parked threads threads of a core file\n"
	"  trace PID | PROGRAM...     record what threads do, and write it\n"
	"  profile PID | PROGRAM...   measure where the time goes\n"
	"  explore PROGRAM...         look for bugs that depend on the order of threads\n"
	"  cc FILE..., c++ FILE...    compile a program so that explore sees its memory\n"
	"  9c FILE...                 compile a program for Plan 9's threads\n"
	"  help [COMMAND]             the same as weft [COMMAND] --help\n"
	"\n"
	"weft COMMAND --help says more.";

static int help(int argc, char **argv);

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "run", weft_cli_run },
	{ "dump", weft_cli_tools },
	{ "stat", weft_cli_stat },
	{ "top", weft_cli_tools },
	{ "9c", weft_cli_compile },
	{ "cc", weft_cli_compile_points },
	{ "c++", weft_cli_compile_points },
	{ "core", weft_cli_core },
	{ "trace", weft_cli_tools },
	{ "profile", weft_cli_tools },
	{ "explore", weft_cli_explore },
	{ "help", help },
};

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	return NULL;
}

/* The arguments in front of the command. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
	static char name[64];
	const struct command *command;

	if (key == ARGP_KEY_NO_ARGS)
		argp_usage(state);
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	command = find(arg);
	if (command) {
		char **rest = &state->argv[state->next - 1];

		snprintf(name, sizeof(name), "weft %s", arg);
		rest[0] = name;
		*(int *)state->input =
			command->run(state->argc - state->next + 1, rest);
		state->next = state->argc;
		return 0;
	}
	argp_error(state, "there is no command %s", arg);
	return EINVAL;
}

static const struct argp argp = {
	.parser = parse, .args_doc = "COMMAND ...", .doc = text,
	.children = weft_cli_help,
};

static int help(int argc, char **argv)
{
	char name[64], of[] = "--help", *asked[] = { name, of, NULL };
	const struct command *command = argc > 1 ? find(argv[1]) : NULL;

	if (argc > 1 && !command) {
		fprintf(stderr, "weft: there is no command %s\n", argv[1]);
		return STATUS_OWN;
	}
	if (command && command->run != help) {
		snprintf(name, sizeof(name), "weft %s", argv[1]);
		return command->run(2, asked);
	}
	snprintf(name, sizeof(name), "weft");
	argp_help(&argp, stdout, ARGP_HELP_STD_HELP, name);
	return 0;
}

int main(int argc, char **argv)
{
	int status = 0;

	argp_err_exit_status = STATUS_OWN;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &status);
	return status;
}
