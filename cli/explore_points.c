/* SPDX-License-Identifier: MIT */
/*
 * cli/explore_points.c - which accesses to memory are points; the first run that finds them
 *
 * The program has to be linked with libweft-points.so (weft cc). The first run is by a seed
 * of its own, with one access in LEARN_ONE_IN as a point, so a loop that waits for a variable
 * ends. All runs of weft explore, and one of weft run --seed, have the sites of such a run.
 */
#include "explore.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEARN		",learn,noraces,points=8"
#define LEARN_SEED	1u
#define LIBRARY		"libweft-points.so"
#define TSAN		"libtsan.so"
#define NATIVE		"libweft.so."

int weft_cli_read_points(const char *text, struct weft_cli_points *points)
{
	char *end;

	points->one_in = 0;
	points->which = WEFT_CLI_SHARED;
	if (strcmp(text, "shared") == 0)
		return 0;
	points->which = WEFT_CLI_NO_POINTS;
	if (strcmp(text, "none") == 0)
		return 0;
	points->which = WEFT_CLI_ONE_IN;
	errno = 0;
	points->one_in = strtoul(text, &end, 10);
	return *text < '0' || *text > '9' || *end || errno || !points->one_in ? -1 : 0;
}

static const char *is_points(char *line)
{
	return strstr(line, LIBRARY) ? LIBRARY : strstr(line, TSAN) ? TSAN : NULL;
}

static const char *is_libweft(char *line)
{
	return strstr(line, NATIVE) ? NATIVE : NULL;
}

int weft_cli_is_native(const struct weft_cli_program *p)
{
	const char *found = p->loader[0] ? weft_cli_libraries(p, is_libweft) : NULL;

	/* Else it is NULL, or what went wrong. */
	return found && strcmp(found, NATIVE) == 0;
}

int weft_cli_points_begin(const struct weft_cli_points *points,
			  const struct weft_cli_program *p)
{
	static char text[64];
	const char *found = p->loader[0] ? weft_cli_libraries(p, is_points) : NULL;

	if (found && strcmp(found, TSAN) == 0)
		exit(weft_cli_complain(STATUS_CANNOT_RUN, p->path, "ThreadSanitizer's library "
				       "is in it: weft cc links weft's"));
	if (!found || strcmp(found, LIBRARY) != 0)
		return 0;
	if (points->which == WEFT_CLI_ONE_IN)
		snprintf(text, sizeof(text), ",points=%lu", points->one_in);
	else if (points->which == WEFT_CLI_SHARED)
		strcpy(text, ",sites");
	if (points->leaves_races)
		strcat(text, ",noraces");
	weft_cli_how.points = text;
	return points->which == WEFT_CLI_SHARED;
}

void weft_cli_explore_learn(struct weft_cli_explored *runs, unsigned long places)
{
	const struct weft_cli_how how = weft_cli_how;

	weft_cli_how.points = LEARN;
	weft_cli_how.strategy = "random";
	weft_cli_how.starts_each = 1;
	weft_cli_how.jobs = 1;
	weft_cli_explore_begin_run(runs, LEARN_SEED, 0);
	while (!weft_cli_explore_take_end(runs))
		weft_cli_explore_wait(runs);
	weft_cli_how = how;
	for (unsigned long i = 1; i < places; i++) {
		runs[i].report->sites = runs[0].report->sites;
		memcpy(runs[i].report->site, runs[0].report->site,
		       sizeof(runs[0].report->site));
	}
}

/* In a process of its own: signals of this one are left alone. */
int weft_cli_explore_learn_alone(const char *program, char **argv)
{
	static struct weft_cli_explored run;
	int status;
	pid_t pid;

	weft_cli_how.program = program;
	weft_cli_how.argv = argv;
	weft_cli_explore_place(&run);
	pid = fork();
	if (pid == 0) {
		if (weft_cli_explore_catch_signals() != 0)
			_exit(STATUS_OWN);
		weft_cli_explore_learn(&run, 1);
		_exit(weft_cli_explore_is_to_end ? STATUS_OWN : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0 ||
	    fcntl(run.report_fd, F_SETFD, 0) != 0)
		return -1;
	memset(run.report, 0, offsetof(struct wefti_ex_report, sites));
	return run.report_fd;
}
