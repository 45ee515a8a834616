/* SPDX-License-Identifier: MIT */
/* cli/explore.h - what the parts of weft explore share */
#ifndef WEFT_CLI_EXPLORE_H
#define WEFT_CLI_EXPLORE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "cli.h"
#include "explore/report.h"

#define WEFT_CLI_SEEDS_TOLD	5u
#define WEFT_CLI_JOBS_MOST	64u

/*
 * A place for a run: a program that runs, or has run, by a seed. The server is the program at
 * its main(), which makes a child for each run (explore/serve.c).
 */
struct weft_cli_explored {
	int is_busy;
	enum { WEFT_CLI_ALONE, WEFT_CLI_STARTS, WEFT_CLI_SERVED } how;
	pid_t pid;		/* ALONE: of the run; else of the server. 0: there is none */
	int socket;		/* the server's; or -1 */
	struct weft_cli_seed seed;
	int has_trace;
	const struct weft_cli_failure *race;	/* at which the run ends; NULL: at its end */
	uint32_t order;		/* of a search: explore_search.c; list: its choices */
	char *list;
	int64_t since_ns;
	int is_late;		/* it was killed for it */
	uint64_t steps_seen;	/* at the last look, and when they were fewer */
	int64_t seen_ns;
	int is_stuck;		/* it was late, and made no more steps */
	int report_fd, error_fd;	/* files in memory; error_fd: its standard error */
	struct wefti_ex_shared *shared;
	struct wefti_ex_report *report;
	int status;		/* as waitpid() tells it */
};

/* What the options say of each run. */
struct weft_cli_how {
	unsigned long jobs, steps;
	int searches;		/* the strategy is preempt or delay */
	int is_native;		/* linked with libweft.so: weft's own threads */
	int has_spurious;	/* a wait for a condition variable may end without a signal */
	int starts_each;	/* no server: the program is started for each run */
	int64_t timeout_ns;
	const char *strategy;
	const char *points;	/* which accesses are points: for the library, or "" */
	const char *program;	/* its file */
	char **argv;
};
extern struct weft_cli_how weft_cli_how;
extern int weft_cli_explore_is_to_end;	/* by this signal: SIGINT, SIGTERM or SIGHUP */

/* explore_runs.c: a place for a run; a run begins there. has_trace: it tells its steps */
void weft_cli_explore_place(struct weft_cli_explored *run);
void weft_cli_explore_begin_run(struct weft_cli_explored *run, unsigned long seed,
				int has_trace);

/* A run by a list of choices; returns at its end. */
void weft_cli_explore_run_list(struct weft_cli_explored *run, const char *list,
			       int has_trace);

/* Takes the end of one of `jobs` runs. Returns it; NULL: none has ended. */
struct weft_cli_explored *weft_cli_explore_take_end(struct weft_cli_explored *runs);

/* Waits for the end of a run or for a signal, not for long, and ends runs that are late. */
void weft_cli_explore_wait(struct weft_cli_explored *runs);

/* explore_points.c. A first run finds the places that are points, for these places. */
void weft_cli_explore_learn(struct weft_cli_explored *runs, unsigned long places);

/* The same file. Is the program linked with libweft.so? */
int weft_cli_is_native(const struct weft_cli_program *p);

/* SIGCHLD, SIGINT and SIGTERM come by weft_cli_explore_wait() from here on. */
int weft_cli_explore_catch_signals(void);

/* explore_process.c: the process of a place. serves: it is to be a server. */
void weft_cli_explore_process(struct weft_cli_explored *run, int serves);
void weft_cli_explore_kill(struct weft_cli_explored *run);
/* Has it had little CPU, and wants more, or has just ended? Then it is not late. */
int weft_cli_explore_is_starved(const struct weft_cli_explored *run);

/* One of the different failures. Equal kind, value and key: the same. */
struct weft_cli_failure {
	enum { FAILED_VERDICT, FAILED_LATE, FAILED_SIGNAL, FAILED_STATUS, FAILED_RACE } kind;
	int value;		/* verdict, signal, exit status */
	uint64_t key;
	uint64_t location;	/* of a race: the same variable, the same race; or 0 */
	uint64_t hash;		/* of the first such run's interleaving */
	char what[240];		/* one line */
	char text[WEFTI_EX_TEXT];	/* what the library says of it; "" */
	unsigned long runs;
	unsigned long seeds[WEFT_CLI_SEEDS_TOLD];
	char *list;		/* a search has no seeds, but the choices of the first run */
	struct weft_cli_failure *next;
};

/*
 * Sorts a run in. Returns the failure it was, new with runs == 1, or NULL: it did not fail.
 */
struct weft_cli_failure *weft_cli_explore_sort(const struct weft_cli_explored *run);
extern struct weft_cli_failure *weft_cli_failures;	/* in order of their finding */

/* The same for the race number i of the run. */
struct weft_cli_failure *weft_cli_explore_sort_race(const struct weft_cli_explored *run,
						    unsigned i);

/* Did this run fail in that way? */
int weft_cli_explore_is_same(const struct weft_cli_explored *run,
			     const struct weft_cli_failure *failure);

/*
 * Once more, a run that did not fail. If it takes another course, the first step that differs
 * is told.
 */
void weft_cli_explore_check_course(struct weft_cli_explored *run, unsigned long seed,
				   uint64_t hash);
/*
 * explore_replay.c: each failure once more: it must be the same. Then the shortest run that
 * fails so is told, and kept in the folder. folder: NULL, or a path
 */
void weft_cli_explore_replay(struct weft_cli_explored *run, const char *folder,
			     const char *command);

/*
 * explore_shrink.c: takes choices out of the run, as long as it fails in the same way. The
 * run has just ended. Returns the list, for free(), and leaves the last run with its steps
 * on standard error; NULL: there are too many, or they do not lead to the failure.
 */
char *weft_cli_explore_shrink(struct weft_cli_explored *run,
			      const struct weft_cli_failure *failure);

/*
 * explore_lines.c: copies the last `most` lines of the descriptor's text, with the program's
 * source lines in the place of its addresses, where addr2line(1) is there and knows them.
 * The steps stand in a column for each thread.
 */
void weft_cli_explore_lines(FILE *to, int fd, const char *program, unsigned most);

/* The same for a text in memory, which has room for `most` bytes. */
void weft_cli_explore_text(char *text, size_t most, const char *program);

/* explore_columns.c: copies the text, with the steps in it in a column for each thread. */
void weft_cli_explore_columns(FILE *to, const char *text);

/* Does the line, of a run that tells its steps, tell one? */
int weft_cli_explore_is_step(const char *line);

/* The table, on standard output. command: how the program is named there. */
void weft_cli_explore_table(const char *command);

/* Keeps the failure number n of a folder: its text, and what the replay has printed. */
int weft_cli_explore_keep(const char *folder, unsigned n, const char *command,
			  const struct weft_cli_failure *failure, const char *list,
			  int steps_fd);

/* A seed as `weft run --seed` takes it. */
const char *weft_cli_seed_text(const char *strategy, unsigned long number);

/* The seed of its first run, the same. */
const char *weft_cli_failure_seed(const struct weft_cli_failure *failure);

/*
 * explore_search.c. reduces: orders that differ only in steps on different objects run once.
 * next() fills in a run's list; -1: no order is left. ended() adds the orders behind a run.
 */
void weft_cli_search_begin(int is_delay, int reduces, unsigned long bound,
			   unsigned long seed);
int weft_cli_search_next(struct weft_cli_explored *run);
void weft_cli_search_ended(const struct weft_cli_explored *run);
void weft_cli_search_tell(FILE *to);

/* explore_runs.c: begins a run by its list. */
void weft_cli_explore_begin_list(struct weft_cli_explored *run, const char *list,
				 int has_trace);

#endif
