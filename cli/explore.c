/* SPDX-License-Identifier: MIT */
/*
 * cli/explore.c - weft explore: a program runs again and again, each time by another seed
 *
 * Each run is a process of its own, with libweft-explore.so in front of its functions. The
 * library writes what it finds into a file in memory, which is read when the process has
 * ended. A failure is replayed once, step by step, before it is told.
 */
#include "explore.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/settings.h"
#include "os/call/clock.h"

#define PROGRESS_NS	100000000
#define COMMAND		1024

enum { KEY_STEPS = 256, KEY_TIMEOUT, KEY_START_EACH, KEY_FIRST, KEY_POINTS, KEY_NO_RACES,
       KEY_BOUND, KEY_REDUCE, KEY_SPURIOUS };

static const struct argp_option options[] = {
	{ "runs", 'r', "N", 0, "How many runs; default: 1000", 0 },
	{ "time", 't', "TIME", 0, "Begin no run after this time, e.g. 30s", 0 },
	{ "strategy", 's', "NAME", 0, "How the next thread is chosen: random, pct, pos, weights, "
	  "robin, changes; portfolio, the default: most of them, by the seed. Or, all "
	  "orders: preempt, delay", 0 },
	{ "bound", KEY_BOUND, "N", 0, "No more preemptions or delays in a run; default: any "
	  "number, the fewer first", 0 },
	{ "reduce", KEY_REDUCE, NULL, 0, "Run one of the orders that differ only in steps "
	  "on different objects", 0 },
	{ "spurious", KEY_SPURIOUS, NULL, 0, "Waits for condition variables also end without "
	  "a signal", 0 },
	{ "seed", 'S', "N", 0, "The first seed; default: 1", 0 },
	{ "jobs", 'j', "N", 0, "How many runs at a time; default: one for each CPU", 0 },
	{ "steps", KEY_STEPS, "N", 0, "A run with more steps hangs; default: 1000000", 0 },
	{ "timeout", KEY_TIMEOUT, "TIME", 0, "A run that takes longer is killed; "
	  "default: 10s", 0 },
	{ "first", KEY_FIRST, NULL, 0, "Stop at the first failure, without a replay", 0 },
	{ "start-each", KEY_START_EACH, NULL, 0, "Start the program for each run, in the place "
	  "of once up to its main()", 0 },
	{ "points", KEY_POINTS, "WHICH", 0, "Which accesses to memory are points, in a "
	  "program that weft cc has compiled: shared, the default; N: one in N; none", 0 },
	{ "no-races", KEY_NO_RACES, NULL, 0, "Do not look for data races in such a program", 0 },
	{ "output", 'o', "FOLDER", 0, "Keep each failure in this folder, with the steps of "
	  "the run", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static unsigned long runs_most = 1000, first_seed = 1;
static int64_t time_most_ns = INT64_MAX;
static unsigned long bound = ULONG_MAX;
static int is_first_enough, reduces;
static const char *folder;
static struct weft_cli_points points;
static const char *which_points;	/* as it was given, or NULL */
static char command[COMMAND];	/* behind `weft run --seed N`: options, the program, arguments */

static unsigned places;		/* for runs; as many as jobs */

static struct {
	unsigned long begun, ended;
	uint64_t hash;		/* of the run by the first seed */
	uint64_t steps_least, steps_most, threads_most;
	int64_t since_ns, shown_ns;
	int is_shown;		/* a line of progress is on the terminal */
} so_far = { .steps_least = UINT64_MAX };

static const char *read_strategy(struct argp_state *state, const char *name)
{
	char text[32];
	struct weft_cli_seed seed;

	weft_cli_how.searches = strcmp(name, "preempt") == 0 || strcmp(name, "delay") == 0;
	snprintf(text, sizeof(text), "%s:1", name);
	if (!weft_cli_how.searches && (weft_cli_read_seed(text, &seed) != 0 || seed.list))
		argp_error(state, "%s: the strategies are random, pct, pos, weights, robin, "
			   "changes, portfolio, preempt and delay", name);
	return name;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'r':
		runs_most = (unsigned long)weft_cli_number(state, arg, 1, 1000000000);
		return 0;
	case 't':
		time_most_ns = weft_cli_time(state, arg, 1);
		return 0;
	case 's':
		weft_cli_how.strategy = read_strategy(state, arg);
		return 0;
	case 'S':
		first_seed = (unsigned long)weft_cli_number(state, arg, 0, 1000000000000);
		return 0;
	case 'j':
		weft_cli_how.jobs = (unsigned long)weft_cli_number(state, arg, 1, WEFT_CLI_JOBS_MOST);
		return 0;
	case KEY_STEPS:
		weft_cli_how.steps = (unsigned long)weft_cli_number(state, arg, 1, 1000000000000);
		return 0;
	case KEY_TIMEOUT:
		weft_cli_how.timeout_ns = weft_cli_time(state, arg, 1);
		return 0;
	case KEY_BOUND:
		bound = (unsigned long)weft_cli_number(state, arg, 0, 63);
		return 0;
	case KEY_REDUCE:
		reduces = 1;
		return 0;
	case KEY_FIRST:
		is_first_enough = 1;
		return 0;
	case KEY_POINTS:
		if (weft_cli_read_points(arg, &points) != 0)
			argp_error(state, "%s: shared, none, or a number is wanted", arg);
		which_points = arg;
		return 0;
	case KEY_NO_RACES:
		points.leaves_races = 1;
		return 0;
	case KEY_SPURIOUS:
		weft_cli_how.has_spurious = 1;
		return 0;
	case KEY_START_EACH:
		weft_cli_how.starts_each = 1;
		return 0;
	case 'o':
		folder = arg;
		return 0;
	case ARGP_KEY_ARG:
		weft_cli_how.argv = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void show_progress(unsigned failures)
{
	const int64_t now = wefti_os_now_ns();
	const double s = (double)(now - so_far.since_ns) / 1e9;

	if (now - so_far.shown_ns < PROGRESS_NS || !isatty(STDERR_FILENO))
		return;
	so_far.shown_ns = now;
	fprintf(stderr, "\r%lu runs, %.0f a second, failures: %u ", so_far.ended,
		s > 0 ? (double)so_far.ended / s : 0, failures);
	so_far.is_shown = 1;
}

static void end_progress(void)
{
	if (so_far.is_shown)
		fputs("\r\033[K", stderr);
	so_far.is_shown = 0;
}

static unsigned failures_found(void)
{
	unsigned n = 0;

	for (const struct weft_cli_failure *f = weft_cli_failures; f; f = f->next)
		n++;
	return n;
}

static void end_processes(struct weft_cli_explored *runs)
{
	for (unsigned i = 0; i < places; i++)
		weft_cli_explore_kill(&runs[i]);
}

/* Nothing that the runs find would be right. */
static _Noreturn void give_up(struct weft_cli_explored *runs)
{
	end_progress();
	end_processes(runs);
	exit(weft_cli_complain(STATUS_OWN, weft_cli_how.program,
			       "libweft-explore.so was not loaded there"));
}

/* f: NULL, or a failure of this run */
static void tell_new(const struct weft_cli_failure *f)
{
	if (!f || f->runs != 1)
		return;
	end_progress();
	printf("seed %s: %s\n", weft_cli_failure_seed(f), f->what);
	if (strchr(f->text, '\n'))
		fputs(strchr(f->text, '\n') + 1, stdout);
	fflush(stdout);
}

static void note(const struct weft_cli_explored *run, struct weft_cli_explored *runs)
{
	const struct wefti_ex_report *r = run->report;

	if (r->magic != WEFTI_EX_MAGIC && !run->is_late)
		give_up(runs);
	so_far.ended++;
	if (run->seed.number == first_seed)
		so_far.hash = r->hash;
	if (r->steps < so_far.steps_least)
		so_far.steps_least = r->steps;
	if (r->steps > so_far.steps_most)
		so_far.steps_most = r->steps;
	if (r->threads > so_far.threads_most)
		so_far.threads_most = r->threads;
	for (unsigned i = 0; i < r->races; i++)
		tell_new(weft_cli_explore_sort_race(run, i));
	tell_new(weft_cli_explore_sort(run));
	show_progress(failures_found());
}

static int may_begin(void)
{
	return !weft_cli_explore_is_to_end && so_far.begun < runs_most &&
	       !(is_first_enough && weft_cli_failures) &&
	       wefti_os_now_ns() - so_far.since_ns < time_most_ns;
}

/* Returns 0, or -1: no order is left to run, perhaps until a run has ended. */
static int begin_next(struct weft_cli_explored *run)
{
	if (!weft_cli_how.searches) {
		weft_cli_explore_begin_run(run, first_seed + so_far.begun++, 0);
		return 0;
	}
	if (weft_cli_search_next(run) != 0)
		return -1;
	so_far.begun++;
	weft_cli_explore_begin_list(run, run->list, 0);
	return 0;
}

static void explore(struct weft_cli_explored *runs)
{
	struct weft_cli_explored *ended;
	unsigned running = 0;

	for (;;) {
		for (unsigned i = 0; i < weft_cli_how.jobs; i++)
			if (!runs[i].is_busy && may_begin() && begin_next(&runs[i]) == 0)
				running++;
		if (!running)
			return;
		ended = weft_cli_explore_take_end(runs);
		if (!ended) {
			weft_cli_explore_wait(runs);
			continue;
		}
		running--;
		if (weft_cli_how.searches)
			weft_cli_search_ended(ended);
		if (!weft_cli_explore_is_to_end)
			note(ended, runs);
	}
}

static void put_sum(void)
{
	const double s = (double)(wefti_os_now_ns() - so_far.since_ns) / 1e9;

	end_progress();
	printf("%lu run%s, %.0f a second; up to %lu threads, %lu to %lu steps; "
	       "different failures: %u\n", so_far.ended, so_far.ended == 1 ? "" : "s",
	       s > 0 ? (double)so_far.ended / s : 0, (unsigned long)so_far.threads_most,
	       (unsigned long)(so_far.ended ? so_far.steps_least : 0),
	       (unsigned long)so_far.steps_most, failures_found());
	if (so_far.ended && so_far.threads_most <= 1)
		puts("It has made no threads: there was one order.");
}

static unsigned long cpus(void)
{
	cpu_set_t set;
	const int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return n < (int)WEFT_CLI_JOBS_MOST ? (unsigned long)n : WEFT_CLI_JOBS_MOST;
}

static void join_words(char **argv)
{
	size_t length = (size_t)snprintf(command, sizeof(command), "%s%s%.40s%s%s",
					 weft_cli_how.has_spurious ? "--spurious " : "",
					 which_points ? "--points " : "",
					 which_points ? which_points : "",
					 which_points && points.leaves_races ? " " : "",
					 points.leaves_races ? "--no-races" : "");

	if (length && command[length - 1] == ' ')
		length--;
	for (; *argv && length < sizeof(command); argv++)
		length += (size_t)snprintf(command + length,
					   sizeof(command) - length, "%s%s",
					   length ? " " : "", *argv);
}

static int explore_all(int learns)
{
	static struct weft_cli_explored runs[WEFT_CLI_JOBS_MOST];

	if (weft_cli_explore_catch_signals() != 0)
		return weft_cli_complain(STATUS_OWN, "signalfd", strerror(errno));
	for (; places < weft_cli_how.jobs; places++)
		weft_cli_explore_place(&runs[places]);
	so_far.since_ns = wefti_os_now_ns();
	if (learns)
		weft_cli_explore_learn(runs, places);
	if (weft_cli_how.searches)
		weft_cli_search_begin(strcmp(weft_cli_how.strategy, "delay") == 0, reduces, bound,
				      first_seed);
	explore(runs);
	put_sum();
	if (weft_cli_how.searches)
		weft_cli_search_tell(stdout);
	if (!is_first_enough)
		weft_cli_explore_replay(runs, folder, command);
	if (!is_first_enough && !weft_cli_failures && so_far.hash && !weft_cli_how.searches &&
	    !weft_cli_explore_is_to_end)
		weft_cli_explore_check_course(runs, first_seed, so_far.hash);
	end_processes(runs);
	weft_cli_explore_table(command);
	return weft_cli_failures ? 1 :
	       weft_cli_explore_is_to_end ? 128 + weft_cli_explore_is_to_end : 0;
}

/* Told before the runs, which may take long. */
static int can_keep(void)
{
	return (mkdir(folder, 0777) == 0 || errno == EEXIST) &&
	       access(folder, W_OK | X_OK) == 0;
}

int weft_cli_explore(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .children = weft_cli_help,
		.args_doc = "PROGRAM [ARGUMENT...]",
		.doc = "Runs PROGRAM many times, with one thread at a time, each time in "
		       "another order. Tells of each different failure once, with the seeds "
		       "that repeat it."
		       "\vA run fails by a signal, an exit status other than 0, a deadlock, "
		       "undefined use of a lock, or without an end. In a program of weft cc a "
		       "data race is a failure, too. The exit status is 0, or "
		       "1: a failure was found, 125: weft itself failed.",
	};
	struct weft_cli_program p;
	static char path[PATH_MAX];
	const char *why;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, NULL);
	if ((bound != ULONG_MAX || reduces) && !weft_cli_how.searches)
		return weft_cli_complain(STATUS_OWN, "--bound and --reduce",
					 "these are for --strategy preempt and delay");
	if (folder && !can_keep())
		return weft_cli_complain(STATUS_OWN, folder, strerror(errno));
	weft_cli_how.program = weft_cli_find_program(weft_cli_how.argv[0]);
	if (!weft_cli_how.program)
		return weft_cli_complain(STATUS_NOT_FOUND, weft_cli_how.argv[0], "not found");
	snprintf(path, sizeof(path), "%s", weft_cli_how.program);
	weft_cli_how.program = path;
	why = weft_cli_refusal(weft_cli_how.program, &p);
	if (!why && p.asan) {
		p.status = STATUS_CANNOT_RUN;
		why = weft_cli_asan;
	}
	if (why)
		return weft_cli_complain(p.status, weft_cli_how.argv[0], why);
	weft_cli_how.is_native = weft_cli_is_native(&p);
	if (!weft_cli_how.jobs)
		weft_cli_how.jobs = cpus();
	join_words(weft_cli_how.argv);
	return explore_all(weft_cli_points_begin(&points, &p));
}
