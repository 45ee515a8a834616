/* SPDX-License-Identifier: MIT */
/*
 * cli/run.c - weft run: a program with libweft-pthread.so in front of libc
 *
 * Each option becomes an environment variable, which the library reads. Programs that
 * the program starts inherit these variables and the library. The program replaces
 * this process by exec, so its exit status and signals are its own.
 */
#include "explore.h"

#include <argp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"

#define LIBRARY		"libweft-pthread.so"
#define LONGEST		WEFT_CLI_LIBRARY_NAME

enum { KEY_LIBRARY = 256, KEY_STATS, KEY_PERF_NAMES, KEY_CHECK, KEY_MALLOC, KEY_IO_URING,
       KEY_MPI, KEY_SEED, KEY_STEPS, KEY_POINTS, KEY_NO_RACES, KEY_SPURIOUS };

static const struct argp_option options[] = {
	{ "vcpus", 'n', "N", 0, "How many threads run at a time (WEFT_VCPUS); "
	  "default: one for each allowed CPU", 0 },
	{ "slice", 's', "TIME", 0, "How long a thread may run when others wait, "
	  "e.g. 5ms; 0: for ever (WEFT_SLICE); default: 10ms", 0 },
	{ "stack", 'S', "SIZE", 0, "Stack of a thread that asks for no size, "
	  "e.g. 64K (WEFT_STACK); default: as with libc, by ulimit -s", 0 },
	{ "spare-max", 'm', "N", 0, "The most kernel threads that may stand in "
	  "for blocked ones (WEFT_SPARE_MAX); default: 256", 0 },
	{ "malloc", KEY_MALLOC, "WHOSE", 0, "The malloc with which threads are "
	  "green; libc: only libc's; known: also that of a known library "
	  "(WEFT_MALLOC); default: known", 0 },
	{ "io-uring", KEY_IO_URING, "WHETHER", 0, "Whether the program can use "
	  "io_uring, for which the kernel adds threads: yes or no; auto: unless "
	  "libaio is loaded as well (WEFT_IO_URING); default: auto", 0 },
	{ "log", 'l', "LEVEL", 0, "What to report (WEFT_LOG). error: what ends the "
	  "program; warning: also what it has to do without; info: also what the "
	  "runtime chooses, and why; debug: also what it does about threads that "
	  "block. Default: warning", 0 },
	{ "verbose", 'v', NULL, 0, "The same as --log=info", 0 },
	{ "stats", KEY_STATS, NULL, 0, "Print counts when the program ends "
	  "(WEFT_STATS=1)", 0 },
	{ "perf-names", KEY_PERF_NAMES, NULL, 0, "Kernel threads have the names of the "
	  "threads that they run, for perf and top; costs a system call at each switch "
	  "(WEFT_PERF_NAMES=1)", 0 },
	{ "check", KEY_CHECK, NULL, 0, "Do not run PROGRAM, but say which of the "
	  "functions that it and its libraries import differ under weft", 0 },
	{ "mpi", KEY_MPI, NULL, 0, "Calls of MPI that wait park the thread: for a program "
	  "of Open MPI or MPICH, behind mpirun -n N", 0 },
	{ "seed", KEY_SEED, "SEED", 0, "One thread at a time, in the order that the seed "
	  "gives: 7, pct:7 or list:1r2@4, as weft explore has told", 0 },
	{ "points", KEY_POINTS, "WHICH", 0, "With --seed: as for weft explore", 0 },
	{ "no-races", KEY_NO_RACES, NULL, 0, "With --seed: the same", 0 },
	{ "spurious", KEY_SPURIOUS, NULL, 0, "With --seed: the same", 0 },
	{ "steps", KEY_STEPS, NULL, 0, "With --seed: print each step", 0 },
	{ "library", KEY_LIBRARY, "FILE", 0, "The library to use instead of "
	  "weft's own (LD_PRELOAD)", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

struct run {
	const char *library;
	int check, mpi, steps;
	int needs_seed;		/* an option was given that means nothing without one */
	const char *seed;
	struct weft_cli_points points;
	char **argv;		/* the program's */
};

/* A value about which the library would only complain is an error here. */
static error_t set(const char *name, const char *value)
{
	if (!wefti_settings_accepts(name, value))
		exit(STATUS_OWN);
	setenv(name, value, 1);
	return 0;
}

/* The options that mean nothing without a seed. */
static void parse_for_seed(int key, char *arg, struct argp_state *state)
{
	struct run *run = state->input;

	run->needs_seed = 1;
	if (key == KEY_POINTS && weft_cli_read_points(arg, &run->points) != 0)
		argp_error(state, "%s: shared, none, or a number is wanted", arg);
	run->points.leaves_races |= key == KEY_NO_RACES;
	weft_cli_how.has_spurious |= key == KEY_SPURIOUS;
	run->steps |= key == KEY_STEPS;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run *run = state->input;

	switch (key) {
	case 'n':
		return set("WEFT_VCPUS", arg);
	case 's':
		return set("WEFT_SLICE", arg);
	case 'S':
		return set("WEFT_STACK", arg);
	case 'm':
		return set("WEFT_SPARE_MAX", arg);
	case KEY_MALLOC:
		return set("WEFT_MALLOC", arg);
	case KEY_IO_URING:
		return set("WEFT_IO_URING", arg);
	case 'l':
		return set("WEFT_LOG", arg);
	case 'v':
		return set("WEFT_LOG", "info");
	case KEY_STATS:
		return set("WEFT_STATS", "1");
	case KEY_PERF_NAMES:
		return set("WEFT_PERF_NAMES", "1");
	case KEY_CHECK:
		run->check = 1;
		return 0;
	case KEY_MPI:
		run->mpi = 1;
		return 0;
	case KEY_SEED:
		run->seed = arg;
		return 0;
	case KEY_POINTS:
	case KEY_NO_RACES:
	case KEY_SPURIOUS:
	case KEY_STEPS:
		parse_for_seed(key, arg, state);
		return 0;
	case KEY_LIBRARY:
		run->library = arg;
		return 0;
	case ARGP_KEY_ARG:
		run->argv = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * The library of this build tree, or of this installation, which may have been moved as
 * a whole; else the place that configure was told.
 */
static void find_library(const char *name, char found[PATH_MAX + LONGEST])
{
	static const char *const from_here[] = { "../.libs", WEFT_LIBDIR_FROM_BINDIR };

	for (size_t i = 0; i < sizeof(from_here) / sizeof(*from_here); i++)
		if (weft_cli_folder(found, from_here[i], name)) {
			strcat(strcat(found, "/"), name);
			return;
		}
	snprintf(found, PATH_MAX + LONGEST, "%s/%s", WEFT_LIBDIR, name);
}

/* Why the loader would not load the library; NULL: it can be read. */
static const char *why_no_library(const char *library)
{
	if (strpbrk(library, ": "))
		return "LD_PRELOAD has no place for a path with a space or a colon";
	if (access(library, R_OK) == 0)
		return NULL;
	return WEFT_HAS_PRELOAD || errno != ENOENT ? strerror(errno) :
	       "this weft was built without it (by --disable-shared, or with a sanitizer)";
}

const char *weft_cli_library(const char *name, char found[PATH_MAX + LONGEST])
{
	find_library(name, found);
	return why_no_library(found);
}

static int is_program(const char *path)
{
	struct stat st;

	return access(path, X_OK) == 0 && stat(path, &st) == 0 &&
	       !S_ISDIR(st.st_mode);
}

const char *weft_cli_find_program(const char *name)
{
	static char path[PATH_MAX];
	const char *dirs = getenv("PATH");

	if (strchr(name, '/') || !*name)
		return *name ? name : NULL;
	for (dirs = dirs ? dirs : "/usr/bin:/bin"; *dirs;) {
		size_t length = strcspn(dirs, ":");

		if (snprintf(path, sizeof(path), "%.*s%s%s", (int)length, dirs,
			     length ? "/" : "", name) < (int)sizeof(path) &&
		    is_program(path))
			return path;
		dirs += length;
		dirs += *dirs == ':';
	}
	return NULL;
}

int weft_cli_complain(int status, const char *what, const char *why)
{
	weft_cli_say(stderr, "weft: %s: %s\n", what, why);
	return status;
}

/* If the program is a script, it is its interpreter that cannot be run. */
static int refuse(const char *program, const struct weft_cli_program *p,
		  const char *why)
{
	char what[2 * PATH_MAX + 3];
	int is_script = strcmp(program, p->path) != 0;

	snprintf(what, sizeof(what), "%s%s%s", program, is_script ? ": " : "",
		 is_script ? p->path : "");
	return weft_cli_complain(p->status, what, why);
}

/* AddressSanitizer's library ends the program if another library comes before it. */
const char weft_cli_asan[] = "AddressSanitizer has to be the first library";

int weft_cli_preload(const char *library)
{
	const char *before = getenv("LD_PRELOAD");
	char *value;

	if (asprintf(&value, "%s%s%s", library, before && *before ? ":" : "",
		     before ? before : "") < 0)
		return -1;
	return setenv("LD_PRELOAD", value, 1);
}

/* Behind weft's other libraries. mpi: the second library, or "". */
static int preload(const char *library, const char *mpi)
{
	if (*mpi && weft_cli_preload(mpi) != 0)
		return -1;
	return weft_cli_preload(library);
}

/* By a seed. Returns 0, or -1 after a line that says what is wrong. */
static int begin_seed(const struct run *run, const struct weft_cli_program *p,
		      const char *program)
{
	struct weft_cli_seed seed;
	const char *why = "it is no seed, as 7, pct:7 or list:1r2@4 are";
	char more[96], file[32] = "";
	int fd = -1;

	if (weft_cli_read_seed(run->seed, &seed) == 0) {
		if (weft_cli_points_begin(&run->points, p))
			fd = weft_cli_explore_learn_alone(program, run->argv);
		if (fd >= 0)
			snprintf(file, sizeof(file), ",fd=%d,tell", fd);
		snprintf(more, sizeof(more), "%s%s%s", run->steps ? ",trace" : "", file,
			 weft_cli_how.points);
		why = weft_cli_explore_begin(&seed, more);
	}
	if (why)
		(void)weft_cli_complain(STATUS_OWN, run->seed, why);
	return why ? -1 : 0;
}

/* Finds the program's libweft-mpi. Returns NULL, or what is wrong, in words. */
static const char *find_mpi(const struct weft_cli_program *p, char found[PATH_MAX + LONGEST])
{
	const char *name, *vendor, *why = weft_cli_mpi(p, &name, &vendor);

	if (why)
		return why;
	find_library(name, found);
	if (access(found, R_OK) != 0 && errno == ENOENT)
		return "this weft was built without the libweft-mpi for its MPI";
	return why_no_library(found);
}

/* "#!/usr/bin/env python3": what env will run is looked at, if it is there. */
static void follow_env(struct weft_cli_program *p)
{
	const char *slash = strrchr(p->path, '/'), *next;
	struct weft_cli_program found;

	if (!p->is_script || !slash || strcmp(slash, "/env") != 0 || !p->word[0])
		return;
	next = weft_cli_find_program(p->word);
	if (next && !weft_cli_refusal(next, &found)) {
		*p = found;
		p->is_script = 1;
	}
}

static int has_wrong_options(const struct run *run)
{
	if (run->needs_seed && !run->seed)
		return weft_cli_complain(STATUS_OWN, "--steps, --points, --no-races and --spurious",
					 "these are for --seed");
	if (run->mpi && run->seed)
		return weft_cli_complain(STATUS_OWN, "--mpi and --seed",
					 "other processes decide when a rank goes on");
	return 0;
}

int weft_cli_run(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .children = weft_cli_help,
		.args_doc = "PROGRAM [ARGUMENT...]",
		.doc = "Runs PROGRAM with its POSIX threads as threads of weft."
		       "\vThe exit status is the program's, or 127: the program "
		       "was not found, 126: it cannot be run under weft, 125: "
		       "weft itself failed.",
	};
	struct weft_cli_program p;
	struct run run = { .library = NULL };
	const char *program, *why, *library;
	static char found[PATH_MAX + LONGEST], mpi[PATH_MAX + LONGEST];
	char name[PATH_MAX];

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &run);
	if (has_wrong_options(&run))
		return STATUS_OWN;
	find_library(LIBRARY, found);
	library = run.library ? run.library : found;
	why = why_no_library(library);
	if (why)
		return weft_cli_complain(STATUS_OWN, library, why);
	program = weft_cli_find_program(run.argv[0]);
	if (!program)
		return weft_cli_complain(STATUS_NOT_FOUND, run.argv[0],
					 "not found");
	why = weft_cli_refusal(program, &p);
	if (why && run.check)
		printf("Verdict: weft cannot run it.\n");
	if (why)
		return refuse(program, &p, why);
	if (run.check) {
		snprintf(name, sizeof(name), "%s", program);
		follow_env(&p);
		return weft_cli_check(name, &p);
	}
	if (run.mpi) {
		follow_env(&p);
		why = find_mpi(&p, mpi);
		if (why)
			return weft_cli_complain(STATUS_CANNOT_RUN, run.argv[0], why);
	}
	if (p.asan && run.seed)
		return weft_cli_complain(STATUS_CANNOT_RUN, run.argv[0], weft_cli_asan);
	if (p.asan)
		wefti_log(WEFTI_LOG_WARNING, "weft: threads stay kernel threads%s: "
			  "%s\n", run.mpi ? ", and wait inside MPI" : "",
			  weft_cli_asan);
	weft_cli_how.is_native = run.seed && weft_cli_is_native(&p);
	if (!p.asan && !run.seed && preload(library, mpi) != 0)
		return weft_cli_complain(STATUS_OWN, "LD_PRELOAD",
					 strerror(errno));
	if (run.seed && begin_seed(&run, &p, program) != 0)
		return STATUS_OWN;
	execv(program, run.argv);
	return weft_cli_complain(STATUS_CANNOT_RUN, program, strerror(errno));
}
