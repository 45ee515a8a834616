/* SPDX-License-Identifier: MIT */
/* cli/help.c - the options that all commands have */
#include "cli.h"

#include <stdio.h>

#include "weft/base.h"

/* libc looks for it in the program. */
__attribute__((visibility("default")))
const char *argp_program_version = "weft " WEFT_VERSION;

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != 'h')
		return ARGP_ERR_UNKNOWN;
	argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
	return 0;
}

static const struct argp_option help_options[] = {
	{ NULL, 'h', NULL, OPTION_HIDDEN, "", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static const struct argp help_argp = {
	.options = help_options, .parser = parse_help,
};

const struct argp_child weft_cli_help[] = {
	{ &help_argp, 0, NULL, 0 },
	{ NULL, 0, NULL, 0 },
};
