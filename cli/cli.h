/* SPDX-License-Identifier: MIT */
/* cli/cli.h - what the parts of the weft command share */
#ifndef WEFT_CLI_CLI_H
#define WEFT_CLI_CLI_H

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>

/* As for env(1): our own failure, the program cannot be run, it was not found. */
#define STATUS_OWN		125
#define STATUS_CANNOT_RUN	126
#define STATUS_NOT_FOUND	127

/* Each returns the exit status. argv[0] names the command. */
int weft_cli_run(int argc, char **argv);
int weft_cli_dump(int argc, char **argv);
int weft_cli_compile(int argc, char **argv);
int weft_cli_core(int argc, char **argv);

/* A process's number, or the usage error of a text that is none. */
long weft_cli_pid(struct argp_state *state, const char *text);

/* The path of this program's file. Returns 0 if it is not known. */
int weft_cli_self(char path[PATH_MAX]);

/* Can the file in this folder be read? */
int weft_cli_has(const char *folder, const char *file);

/*
 * The folder that is at from_here, seen from this program's own folder. Returns 0 if it
 * does not have the file.
 */
int weft_cli_folder(char found[PATH_MAX], const char *from_here, const char *file);

/* The option -h of each command; --help is argp's. */
extern const struct argp_child weft_cli_help[];

/* What is known of a program. For a script, this is about its interpreter. */
struct weft_cli_program {
	int status;		/* to exit with, if it cannot be run */
	char path[PATH_MAX];
	char loader[PATH_MAX];	/* "": the program may be run, but not read */
	int asan;		/* it starts only without the library */
	int is_script;
	char word[256];		/* of a script: the interpreter's first argument; "" */
};

/*
 * Can the preload library be loaded into the program at path? Returns NULL if it can,
 * else why not, in words. p->status is then STATUS_CANNOT_RUN or STATUS_NOT_FOUND.
 */
const char *weft_cli_refusal(const char *path, struct weft_cli_program *p);

/* Why the threads of a program with AddressSanitizer's library are libc's. */
extern const char weft_cli_asan[];

/* Does the ELF file contain Go's runtime? */
int weft_cli_is_go(const char *path);

/* Prints "weft: what: why". Returns the status. */
int weft_cli_complain(int status, const char *what, const char *why);

/*
 * Says what the program `name` will meet under weft, from the functions that it and
 * its libraries import. Returns the exit status.
 */
int weft_cli_check(const char *name, const struct weft_cli_program *p);

/*
 * Calls each() with the name of each symbol that the ELF file imports or
 * exports. Returns NULL, or why the file cannot be read, in words.
 */
typedef void weft_cli_symbol_fn(const char *name, int is_import, void *arg);
const char *weft_cli_symbols(const char *path, weft_cli_symbol_fn *each,
			     void *arg);

#endif
