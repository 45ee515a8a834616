/* SPDX-License-Identifier: MIT */
/* cli/cli.h - what the parts of the weft command share */
#ifndef WEFT_CLI_CLI_H
#define WEFT_CLI_CLI_H

#include <errno.h>
#include <limits.h>
#include <stddef.h>

/* As env(1) and its like: our own failure, cannot be run, not found. */
#define STATUS_OWN		125
#define STATUS_CANNOT_RUN	126
#define STATUS_NOT_FOUND	127

/* Each returns the exit status. argv[0] names the command. */
int weft_cli_run(int argc, char **argv);
int weft_cli_dump(int argc, char **argv);

/* What is known of a program. Of a script: of what interprets it. */
struct weft_cli_program {
	int status;		/* to exit with, if it cannot be run */
	char path[PATH_MAX];
	char loader[PATH_MAX];	/* "": it may be run, not read */
	int asan;		/* it starts without the library only */
};

/*
 * Can the preload library be loaded into the program at path? NULL: yes; else
 * why not, in words. p->status is then STATUS_CANNOT_RUN or STATUS_NOT_FOUND.
 */
const char *weft_cli_refusal(const char *path, struct weft_cli_program *p);

/* Why the threads of a program with AddressSanitizer's library are libc's. */
extern const char weft_cli_asan[];

/* Has the ELF file Go's runtime in it? */
int weft_cli_is_go(const char *path);

/* Prints "weft: what: why". Returns the status. */
int weft_cli_complain(int status, const char *what, const char *why);

/*
 * Says what the program will meet under weft, from the functions that it and
 * its libraries import. Returns the exit status.
 */
int weft_cli_check(const struct weft_cli_program *p);

/*
 * Calls each() with the name of each symbol that the ELF file imports or
 * exports. Returns NULL, or why the file cannot be read, in words.
 */
typedef void weft_cli_symbol_fn(const char *name, int is_import, void *arg);
const char *weft_cli_symbols(const char *path, weft_cli_symbol_fn *each,
			     void *arg);

#endif
