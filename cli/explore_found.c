/* SPDX-License-Identifier: MIT */
/* cli/explore_found.c - weft explore: which failures are the same, and what is told of them */
#include "explore.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES	4096

struct weft_cli_failure *weft_cli_failures;

const char *weft_cli_seed_text(const char *strategy, unsigned long number)
{
	static char text[48];

	snprintf(text, sizeof(text), "%s%s%lu",
		 strcmp(strategy, "portfolio") == 0 ? "" : strategy,
		 strcmp(strategy, "portfolio") == 0 ? "" : ":", number);
	return text;
}

const char *weft_cli_failure_seed(const struct weft_cli_failure *f)
{
	static char *text;

	if (!f->list)
		return weft_cli_seed_text(weft_cli_how.strategy, f->seeds[0]);
	free(text);
	return asprintf(&text, "list:%s", f->list) < 0 ? "" : text;
}

/* The first line of its standard error that is not weft's; "": there is none. */
static const char *first_line(const struct weft_cli_explored *run, char text[LINES])
{
	const ssize_t n = pread(run->error_fd, text, LINES - 1, 0);
	char *line = text, *end;

	text[n > 0 ? n : 0] = 0;
	while (strncmp(line, "weft: ", 6) == 0 && (end = strchr(line, '\n')))
		line = end + 1;
	end = strchr(line, '\n');
	if (end)
		*end = 0;
	return weft_cli_clean(line, (size_t)(text + LINES - line));
}

static uint64_t hash_text(const char *text)
{
	uint64_t h = UINT64_C(14695981039346656037);	/* FNV-1a */

	while (*text)
		h = (h ^ (unsigned char)*text++) * UINT64_C(1099511628211);
	return h;
}

static int line_length(const char *text)
{
	const size_t length = strcspn(text, "\n");

	return (int)(length < 100 ? length : 100);
}

static void by_verdict(struct weft_cli_failure *f, const struct wefti_ex_report *r)
{
	const char *text = r->text, *second = strchr(text, '\n');

	f->kind = FAILED_VERDICT;
	f->value = (int)r->verdict;
	f->key = r->key;
	if (strncmp(text, "weft: ", 6) == 0)
		text += 6;
	second = second ? second + 1 + strspn(second + 1, " ") : "";
	snprintf(f->what, sizeof(f->what), "%.*s%s%.*s", line_length(text), text,
		 *second ? ": " : "", line_length(second), second);
}

static void by_signal(struct weft_cli_failure *f, const struct weft_cli_explored *run)
{
	char text[LINES];
	const char *line = first_line(run, text);

	f->kind = FAILED_SIGNAL;
	f->value = WTERMSIG(run->status);
	f->key = run->report->crash ? run->report->crash : *line ? 0 : run->report->where;
	f->key ^= hash_text(line);
	snprintf(f->what, sizeof(f->what), "%s%s%.120s", strsignal(f->value),
		 *line ? ": " : "", line);
}

static void by_race(struct weft_cli_failure *f, const struct weft_cli_explored *run,
		    const struct wefti_ex_race *race)
{
	const char *line = strchr(race->text, '\n'), *other;

	*f = (struct weft_cli_failure){ .hash = run->report->hash, .kind = FAILED_RACE,
					.key = race->key, .location = race->location };
	snprintf(f->text, sizeof(f->text), "%s", race->text);
	line = line ? line + 1 + strspn(line + 1, " ") : "";
	other = strstr(line, "\n  thread");	/* behind the calls of the first */
	other = other ? other + 3 : "";
	snprintf(f->what, sizeof(f->what), "data race: %.*s; %.*s", line_length(line), line,
		 line_length(other), other);
}

/* In a program of weft's own threads the runtime tells a deadlock, and ends it. */
static void by_status(struct weft_cli_failure *f, const struct weft_cli_explored *run)
{
	static const char told[] = "weft: deadlock: ";
	char text[LINES];
	const ssize_t n = pread(run->error_fd, text, LINES - 1, 0);
	const char *line;

	text[n > 0 ? n : 0] = 0;
	line = weft_cli_how.is_native ? strstr(text, told) : NULL;
	f->kind = FAILED_STATUS;
	f->value = WEXITSTATUS(run->status);
	if (line)
		snprintf(f->what, sizeof(f->what), "%.*s", line_length(line + 6), line + 6);
	else
		snprintf(f->what, sizeof(f->what), "exit status %d", f->value);
}

/* The text's first line is the failure again. */
static void by_time(struct weft_cli_failure *f, const struct weft_cli_explored *run)
{
	f->kind = FAILED_LATE;
	strcpy(f->what, "did not end in time");
	if (run->is_stuck)
		snprintf(f->text, sizeof(f->text), "weft: %s\n  no step behind step %lu, which "
			 "thread %u made: a thread computes, waits in the\n  kernel, or waits "
			 "for a variable in a loop, which is a point only by weft cc\n", f->what,
			 (unsigned long)run->report->steps, run->report->last_thread);
}

/* Returns 0 if the run did not fail; races are failures of their own. */
static int classify(struct weft_cli_failure *f, const struct weft_cli_explored *run)
{
	*f = (struct weft_cli_failure){ .hash = run->report->hash };
	snprintf(f->text, sizeof(f->text), "%s", run->report->text);
	if (run->is_late) {
		by_time(f, run);
	} else if (run->report->verdict == WEFTI_EX_RACE) {
		return 0;
	} else if (run->report->verdict != WEFTI_EX_NONE) {
		by_verdict(f, run->report);
	} else if (WIFSIGNALED(run->status)) {
		by_signal(f, run);
	} else if (WEXITSTATUS(run->status) != 0) {
		by_status(f, run);
	} else {
		return 0;
	}
	return 1;
}

static void note_seed(struct weft_cli_failure *f, unsigned long seed)
{
	if (f->runs < WEFT_CLI_SEEDS_TOLD)
		f->seeds[f->runs] = seed;
	f->runs++;
}

static int are_same(const struct weft_cli_failure *a, const struct weft_cli_failure *b)
{
	return a->kind == b->kind && a->value == b->value &&
	       (a->key == b->key || (a->location && a->location == b->location));
}

int weft_cli_explore_is_same(const struct weft_cli_explored *run,
			     const struct weft_cli_failure *failure)
{
	const struct wefti_ex_report *r = run->report;
	struct weft_cli_failure now;

	for (unsigned i = 0; failure->kind == FAILED_RACE && i < r->races; i++) {
		by_race(&now, run, &r->race[i]);
		if (are_same(&now, failure))
			return 1;
	}
	return classify(&now, run) && are_same(&now, failure);
}

static struct weft_cli_failure *sort(const struct weft_cli_failure *now,
				     const struct weft_cli_explored *run)
{
	struct weft_cli_failure **link = &weft_cli_failures;

	while (*link && !are_same(*link, now))
		link = &(*link)->next;
	if (!*link) {
		*link = malloc(sizeof(*now));
		if (!*link)
			exit(weft_cli_complain(STATUS_OWN, "explore", strerror(ENOMEM)));
		**link = *now;
		if (now->kind == FAILED_RACE) {
			weft_cli_explore_text((*link)->text, sizeof(now->text),
					      weft_cli_how.program);
			weft_cli_explore_text((*link)->what, sizeof(now->what),
					      weft_cli_how.program);
		}
	}
	if (!(*link)->runs && run->seed.list)
		(*link)->list = strdup(run->seed.list);
	note_seed(*link, run->seed.number);
	return *link;
}

struct weft_cli_failure *weft_cli_explore_sort(const struct weft_cli_explored *run)
{
	struct weft_cli_failure now;

	return classify(&now, run) ? sort(&now, run) : NULL;
}

struct weft_cli_failure *weft_cli_explore_sort_race(const struct weft_cli_explored *run,
						    unsigned i)
{
	struct weft_cli_failure now;

	by_race(&now, run, &run->report->race[i]);
	return sort(&now, run);
}

static void put_seeds(FILE *to, const struct weft_cli_failure *f)
{
	if (f->list) {
		fprintf(to, " %s\n", weft_cli_failure_seed(f));
		return;
	}
	for (unsigned i = 0; i < WEFT_CLI_SEEDS_TOLD && i < f->runs; i++)
		fprintf(to, " %lu", f->seeds[i]);
	fputs(f->runs > WEFT_CLI_SEEDS_TOLD ? " ...\n" : "\n", to);
}

void weft_cli_explore_table(const char *command)
{
	unsigned n = 0;

	if (!weft_cli_failures)
		return;
	printf("\n      RUNS  FAILURE, SEEDS\n");
	for (const struct weft_cli_failure *f = weft_cli_failures; f; f = f->next) {
		printf("%3u %6lu  %s\n            seeds", ++n, f->runs, f->what);
		put_seeds(stdout, f);
	}
	printf("\nAgain: weft run --seed %s %s\n",
	       weft_cli_failure_seed(weft_cli_failures), command);
}

int weft_cli_explore_keep(const char *folder, unsigned n, const char *command,
			  const struct weft_cli_failure *failure, const char *list,
			  int steps_fd)
{
	char path[PATH_MAX];
	FILE *to;

	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return -1;
	snprintf(path, sizeof(path), "%s/%u.txt", folder, n);
	to = fopen(path, "w");
	if (!to)
		return -1;
	fprintf(to, "%s\n%lu run%s, seeds", failure->what, failure->runs,
		failure->runs == 1 ? "" : "s");
	put_seeds(to, failure);
	fprintf(to, "weft run --seed %s %s\n",
		weft_cli_failure_seed(failure), command);
	if (list)
		fprintf(to, "weft run --seed list:%s %s\n", list, command);
	fputc('\n', to);
	weft_cli_explore_lines(to, steps_fd, weft_cli_how.program, UINT_MAX);
	return fclose(to) == 0 ? 0 : -1;
}
