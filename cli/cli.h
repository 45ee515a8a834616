/* SPDX-License-Identifier: MIT */
/* cli/cli.h - what the parts of the weft command share */
#ifndef WEFT_CLI_CLI_H
#define WEFT_CLI_CLI_H

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* As for env(1): our own failure, the program cannot be run, it was not found. */
#define STATUS_OWN		125
#define STATUS_CANNOT_RUN	126
#define STATUS_NOT_FOUND	127

/* Each returns the exit status. argv[0] names the command. */
int weft_cli_run(int argc, char **argv);
int weft_cli_dump(int argc, char **argv);
int weft_cli_stat(int argc, char **argv);
int weft_cli_top(int argc, char **argv);
int weft_cli_compile(int argc, char **argv);
int weft_cli_compile_points(int argc, char **argv);	/* cc and c++ */
int weft_cli_core(int argc, char **argv);
int weft_cli_trace(int argc, char **argv);
int weft_cli_profile(int argc, char **argv);
int weft_cli_explore(int argc, char **argv);

/* The command is weft-tools's: the process becomes that program. */
int weft_cli_tools(int argc, char **argv);

/*
 * Copies a core file to the new file `to`, with a thread for each parked or ready thread
 * of weft. Returns the exit status.
 */
int weft_cli_core_threads(const char *core, const char *to);

/* A process's number, or the usage error of a text that is none. */
long weft_cli_pid(struct argp_state *state, const char *text);

/*
 * numbers.c. A number from least to most; seconds, greater than 0; a time with a unit, as
 * 500ms, 10s or 2m, in nanoseconds. Or the usage error of a text that is none.
 */
long weft_cli_number(struct argp_state *state, const char *text, long least, long most);
double weft_cli_seconds(struct argp_state *state, const char *text);
int64_t weft_cli_time(struct argp_state *state, const char *text, int64_t least_ns);

/* The text of /proc/PID/maps, for free(). NULL: there is none, or no memory. */
char *weft_cli_maps(long pid, size_t *bytes);

/* Prints "weft: PID: why". Returns 1. */
int weft_cli_ask_fails(long pid, const char *why);

/*
 * Can the process be asked? Root becomes the process's user. Returns 0, or 1 after a line
 * that says why not.
 */
int weft_cli_ask_begin(long pid);

/*
 * Asks the process (observe/requests.c has the words; NULL: for a dump, which an older
 * weft gives too). Returns a descriptor from which the answer is read to its end, or -1
 * after a line that says why there is none.
 */
int weft_cli_ask(long pid, const char *request);

/*
 * As read(2) of an answer. -1, with ETIME: nothing has come for ten seconds, because the
 * process was stopped in the middle of it.
 */
ssize_t weft_cli_answer(int from, char *text, size_t most);

/* The words for the error of weft_cli_answer(). */
const char *weft_cli_no_more(int error);

/*
 * Other programs choose names, and a terminal would obey what is in them. clean: makes
 * control characters \x1b, in a buffer with so much room, and returns the text. What has no
 * room is cut off. show: writes the same, and keeps newlines. It returns how much it has
 * written: not the beginning of a character at the end, unless this is_all. say: printf by
 * show.
 */
char *weft_cli_clean(char *text, size_t room);
size_t weft_cli_show(FILE *to, const char *text, size_t bytes, int is_all);
void weft_cli_say(FILE *to, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Does the answer say that the process does not know the request? */
int weft_cli_is_refusal(const char *text, size_t bytes);
extern const char weft_cli_other_weft[];
/* Does weft's runtime run in the process? -1, with errno: there is no such process. */
int weft_cli_has_monitor(long pid);

/* Has the process ended? Also one for which its parent has not waited yet. */
int weft_cli_has_ended(long pid);

/* Finds a program as the shell does; valid until the next call. NULL: there is none. */
const char *weft_cli_find_program(const char *name);

/* The path of weft's file. Returns 0 if it is not known. weft-tools is told it, once. */
int weft_cli_self(char path[PATH_MAX]);
void weft_cli_self_is(const char *path);

/* The path without links, or as it is if realpath() is refused. Returns 0 for an error. */
int weft_cli_real(char real[PATH_MAX], const char *path);

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

/*
 * The path of weft's library `name`. Returns NULL, or why the loader would not load it, in
 * words.
 */
#define WEFT_CLI_LIBRARY_NAME	64u	/* at most, with its "/" */
const char *weft_cli_library(const char *name,
			     char found[PATH_MAX + WEFT_CLI_LIBRARY_NAME]);

/* Puts a library in front of LD_PRELOAD. Returns 0, or -1 with errno. */
int weft_cli_preload(const char *library);

/*
 * A seed of weft explore: "7", "pct:7", or "list:CHOICES" (explore/report.h). Returns 0, or
 * -1: it is none. list is what the text holds there.
 */
struct weft_cli_seed {
	char strategy[16];
	unsigned long number;
	const char *list;
};
int weft_cli_read_seed(const char *text, struct weft_cli_seed *seed);

/*
 * The program that this process will exec runs by the seed. `more` is for the end of the
 * library's list (explore/report.h). Returns NULL, or what is wrong, in words.
 */
const char *weft_cli_explore_begin(const struct weft_cli_seed *seed, const char *more);

/* Which accesses to memory are points, in a program that weft cc has compiled. */
struct weft_cli_points {
	enum { WEFT_CLI_SHARED, WEFT_CLI_ONE_IN, WEFT_CLI_NO_POINTS } which;
	unsigned long one_in;
	int leaves_races;
};
/* Returns 0, or -1: the text is neither of "shared", "none" and a number. */
int weft_cli_read_points(const char *text, struct weft_cli_points *points);
/*
 * Sets what runs are told (weft_cli_how.points). Returns 1: a first run is to find the points.
 * Ends weft for a program with ThreadSanitizer's own library.
 */
int weft_cli_points_begin(const struct weft_cli_points *points,
			  const struct weft_cli_program *p);
/* For weft run --seed. Returns the descriptor of the report, or -1. */
int weft_cli_explore_learn_alone(const char *program, char **argv);

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
 * Calls each() with each line of what the program's loader lists, until one returns an
 * error, in words. Returns that, or why there is no list, or NULL.
 */
typedef const char *weft_cli_line_fn(char *line);
const char *weft_cli_libraries(const struct weft_cli_program *p,
			       weft_cli_line_fn *each);

/*
 * Which libweft-mpi the program needs, by its libraries. Returns NULL, and the file's name
 * in *library; or why there is none, in words. *vendor is set if the program has an MPI.
 */
const char *weft_cli_mpi(const struct weft_cli_program *p, const char **library,
			 const char **vendor);

/*
 * Calls each() with the name of each symbol that the ELF file imports or
 * exports. Returns NULL, or why the file cannot be read, in words.
 */
typedef void weft_cli_symbol_fn(const char *name, int is_import, void *arg);
const char *weft_cli_symbols(const char *path, weft_cli_symbol_fn *each,
			     void *arg);

#endif
