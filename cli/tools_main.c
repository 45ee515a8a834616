/* SPDX-License-Identifier: MIT */
/* cli/tools_main.c - the program weft-tools, which does commands for weft (cli/tools.c) */
#include "cli.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

static int profile(int argc, char **argv)
{
#if WEFT_HAS_PROFILE
	return weft_cli_profile(argc, argv);
#else
	(void)argc;
	(void)argv;
	return weft_cli_complain(STATUS_OWN, "profile", "this weft was built without libdw, "
				 "protobuf-c and zlib");
#endif
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "dump", weft_cli_dump },
	{ "top", weft_cli_top },
	{ "trace", weft_cli_trace },
	{ "profile", profile },
};

int main(int argc, char **argv)
{
	char name[64];

	argp_err_exit_status = STATUS_OWN;
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		weft_cli_self_is(argv[0]);
		snprintf(name, sizeof(name), "weft %s", argv[1]);
		argv[1] = name;
		return commands[i].run(argc - 1, argv + 1);
	}
	return weft_cli_complain(STATUS_OWN, "weft-tools", "the command weft runs it");
}
