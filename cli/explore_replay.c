/* SPDX-License-Identifier: MIT */
/* cli/explore_replay.c - weft explore: each failure once more, and its shortest run */
#include "explore.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINES_TOLD	40u	/* of the steps of a failure, on the terminal */
#define SHRUNK_MOST	8u	/* failures */
#define COURSES_MOST	5u	/* replays, to find two that differ */
#define STEP		512u	/* of a step in text */

/* Tells of the failure by its shortest run, which has just ended, and keeps it. */
static void tell_shortest(const struct weft_cli_explored *run,
			  const struct weft_cli_failure *f, unsigned n, const char *list,
			  const char *folder, const char *command)
{
	if (list) {
		weft_cli_say(stdout, "\n%u. %s\n", n, f->what);
		weft_cli_explore_lines(stdout, run->error_fd, weft_cli_how.program,
				       LINES_TOLD);
	}
	if (list)
		weft_cli_say(stdout, "   weft run --seed list:%s %s\n", list, command);
	if (folder && weft_cli_explore_keep(folder, n, command, f, list, run->error_fd) != 0)
		(void)weft_cli_complain(STATUS_OWN, folder, strerror(errno));
}

/* All that the run has written to its standard error. For free(). */
static char *text_of(const struct weft_cli_explored *run)
{
	const off_t size = lseek(run->error_fd, 0, SEEK_END);
	char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
	ssize_t n;

	if (!text)
		return NULL;
	n = pread(run->error_fd, text, (size_t)size, 0);
	text[n > 0 ? n : 0] = 0;
	return text;
}

/* The next line that tells a step, from this one on; NULL: there is none. */
static char *step(char *line)
{
	while (line && !weft_cli_explore_is_step(line))
		line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
	return line;
}

static void tell_step(const char *what, const char *line)
{
	char text[STEP] = "the run had ended";

	if (line) {
		line += strspn(line, " ");
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(line, "\n"), line);
	}
	weft_cli_explore_text(text, sizeof(text), weft_cli_how.program);
	weft_cli_say(stdout, "  %s %s\n", what, text);
}

/* The first step of two runs by one seed that is not the same. Returns 0 if there is none. */
static int tell_first(char *one, char *other)
{
	for (;;) {
		size_t length;

		one = step(one);
		other = step(other);
		if (!one && !other)
			return 0;
		length = one ? strcspn(one, "\n") + 1 : 0;
		if (!one || !other || strncmp(one, other, length) != 0)
			break;
		one += length;
		other += length;
	}
	tell_step("first in one replay:  ", one);
	tell_step("and in the next one:  ", other);
	return 1;
}

/* list: the choices, in the place of the seed; or NULL */
static void run_seed(struct weft_cli_explored *run, unsigned long seed, const char *list,
		     int has_trace)
{
	if (list)
		weft_cli_explore_begin_list(run, list, has_trace);
	else
		weft_cli_explore_begin_run(run, seed, has_trace);
	while (!weft_cli_explore_take_end(run))
		weft_cli_explore_wait(run);
}

/* The run has just been replayed, with its steps. */
static void tell_course(struct weft_cli_explored *run, unsigned long seed,
			const char *list)
{
	const uint64_t hash = run->report->hash;
	char *one = text_of(run), *other = NULL;
	int is_told = 0;

	weft_cli_say(stdout, "seed %s%s: its replay took another course: the program depends on "
		     "more than the order of threads\n", list ? "list:" : "",
		     list ? list : weft_cli_seed_text(weft_cli_how.strategy, seed));
	for (unsigned i = 0; one && !is_told && i < COURSES_MOST; i++) {
		run_seed(run, seed, list, 1);
		if (weft_cli_explore_is_to_end)
			break;
		if (run->report->hash == hash)
			continue;
		free(other);
		other = text_of(run);
		is_told = other && tell_first(one, other);
	}
	if (!is_told)
		weft_cli_say(stdout, "  its replays are like each other\n");
	free(one);
	free(other);
}

void weft_cli_explore_check_course(struct weft_cli_explored *run, unsigned long seed,
				   uint64_t hash)
{
	const unsigned long jobs = weft_cli_how.jobs;

	weft_cli_how.jobs = 1;
	run_seed(run, seed, NULL, 1);
	if (!weft_cli_explore_is_to_end && !run->is_late && run->report->hash != hash)
		tell_course(run, seed, NULL);
	weft_cli_how.jobs = jobs;
}

void weft_cli_explore_replay(struct weft_cli_explored *run, const char *folder,
			     const char *command)
{
	const unsigned long jobs = weft_cli_how.jobs;
	unsigned n = 0;
	char *list;

	weft_cli_how.jobs = 1;
	for (struct weft_cli_failure *f = weft_cli_failures;
	     f && !weft_cli_explore_is_to_end; f = f->next) {
		const int is_hang = f->kind == FAILED_VERDICT && f->value == WEFTI_EX_HANG;

		n++;
		if (f->kind == FAILED_LATE)
			continue;
		run->race = f->kind == FAILED_RACE ? f : NULL;
		run_seed(run, f->seeds[0], f->list, !is_hang);
		if (weft_cli_explore_is_to_end)
			break;
		if (f->kind == FAILED_RACE ? !weft_cli_explore_is_same(run, f) :
					     run->report->hash != f->hash)
			tell_course(run, f->seeds[0], f->list);
		list = is_hang || n > SHRUNK_MOST ? NULL : weft_cli_explore_shrink(run, f);
		if (!weft_cli_explore_is_to_end)
			tell_shortest(run, f, n, list, folder, command);
		free(list);
	}
	run->race = NULL;
	weft_cli_how.jobs = jobs;
}
