/* SPDX-License-Identifier: MIT */
/* cli/cli.h - what the parts of the weft command share */
#ifndef WEFT_CLI_CLI_H
#define WEFT_CLI_CLI_H

#include <errno.h>
#include <stddef.h>

/* As env(1) and its like: our own failure, cannot be run, not found. */
#define STATUS_OWN		125
#define STATUS_CANNOT_RUN	126
#define STATUS_NOT_FOUND	127

/* Each returns the exit status. argv[0] names the command. */
int weft_cli_run(int argc, char **argv);
int weft_cli_dump(int argc, char **argv);

/*
 * Can the preload library be loaded into the program at path? NULL: yes; else
 * why not, in words. *status is then STATUS_CANNOT_RUN or STATUS_NOT_FOUND.
 */
const char *weft_cli_refusal(const char *path, int *status);

#endif
