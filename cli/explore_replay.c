/* SPDX-License-Identifier: MIT */
/* cli/explore_replay.c - weft explore: each failure once more, and its shortest run */
#include "explore.h"

#include <stdlib.h>
#include <string.h>

#define LINES_TOLD	40u	/* of the steps of a failure, on the terminal */
#define SHRUNK_MOST	8u	/* failures */

/* Tells of the failure by its shortest run, which has just ended, and keeps it. */
static void tell_shortest(const struct weft_cli_explored *run,
			  const struct weft_cli_failure *f, unsigned n, const char *list,
			  const char *folder, const char *command)
{
	if (list) {
		weft_cli_say(stdout, "\n%u. %s\n", n, f->what);
		weft_cli_explore_lines(stdout, run->error_fd, weft_cli_how.program,
				       LINES_TOLD);
		weft_cli_say(stdout, "   weft run --seed list:%s %s\n", list, command);
	}
	if (folder && weft_cli_explore_keep(folder, n, weft_cli_how.strategy, command, f,
					    list, run->error_fd) != 0)
		(void)weft_cli_complain(STATUS_OWN, folder, strerror(errno));
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
		weft_cli_explore_begin_run(run, f->seeds[0], !is_hang);
		while (!weft_cli_explore_take_end(run))
			weft_cli_explore_wait(run);
		if (weft_cli_explore_is_to_end)
			break;
		if (f->kind == FAILED_RACE ? !weft_cli_explore_is_same(run, f) :
					     run->report->hash != f->hash)
			weft_cli_say(stdout, "seed %s: its replay took another course: the "
				     "program depends on more than the order of threads\n",
				     weft_cli_seed_text(weft_cli_how.strategy, f->seeds[0]));
		list = is_hang || n > SHRUNK_MOST ? NULL :
		       weft_cli_explore_shrink(run, f);
		if (!weft_cli_explore_is_to_end)
			tell_shortest(run, f, n, list, folder, command);
		free(list);
	}
	run->race = NULL;
	weft_cli_how.jobs = jobs;
}
