/* SPDX-License-Identifier: MIT */
/* cli/explore_begin.c - a program that will run by a seed: its environment */
#include "explore.h"

#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "explore/report.h"

#define LIBRARY		"libweft-explore.so"
#define LIST_BEGINS	"list:"

/* The text behind a number; NULL: there is none. */
static const char *skip_number(const char *text)
{
	const size_t length = text ? strspn(text, "0123456789") : 0;

	return length ? text + length : NULL;
}

/* Choices as explore/report.h has them: "1r2@4/1t0@5". */
static int is_list(const char *text)
{
	while (*text) {
		text = skip_number(text);
		if (!text || !*text || !strchr("rwtsh", *text))
			return 0;
		text = skip_number(text + 1);
		text = text && *text == '@' ? skip_number(text + 1) : NULL;
		if (!text || (*text && (*text != '/' || !text[1])))
			return 0;
		text += *text == '/';
	}
	return 1;
}

int weft_cli_read_seed(const char *text, struct weft_cli_seed *seed)
{
	static const char *const strategies[] = { "portfolio", "random", "pct", "pos",
						   "weights", "robin", "changes" };
	const char *colon = strchr(text, ':');
	const char *digits = colon ? colon + 1 : text;
	const size_t length = colon ? (size_t)(colon - text) : 0;
	char *end;

	seed->list = NULL;
	if (strncmp(text, LIST_BEGINS, strlen(LIST_BEGINS)) == 0) {
		strcpy(seed->strategy, "list");
		seed->number = 0;
		seed->list = text + strlen(LIST_BEGINS);
		return is_list(seed->list) ? 0 : -1;
	}
	strcpy(seed->strategy, strategies[0]);
	for (size_t i = 0; colon && i < sizeof(strategies) / sizeof(*strategies); i++)
		if (strlen(strategies[i]) == length &&
		    strncmp(text, strategies[i], length) == 0)
			strcpy(seed->strategy, strategies[i]);
	if (colon && strncmp(text, seed->strategy, length) != 0)
		return -1;
	errno = 0;
	seed->number = strtoul(digits, &end, 10);
	return *digits < '0' || *digits > '9' || *end || errno ? -1 : 0;
}

const char *weft_cli_explore_begin(const struct weft_cli_seed *seed, const char *more)
{
	static char found[PATH_MAX + WEFT_CLI_LIBRARY_NAME];
	const char *why = weft_cli_library(LIBRARY, found);
	char *list;
	int length;

	if (why)
		return why;
	length = asprintf(&list, "pid=%ld,seed=%lu,strategy=%s%s%s%s%s%s", (long)getpid(),
			  seed->number, seed->strategy, more,
			  weft_cli_how.is_native ? ",native" : "",
			  weft_cli_how.has_spurious ? ",spurious" : "",
			  seed->list ? ",list=" : "", seed->list ? seed->list : "");
	if (length < 0 || weft_cli_preload(found) != 0 ||
	    setenv(WEFTI_EX_VARIABLE, list, 1) != 0)
		return strerror(errno);
	if (weft_cli_how.is_native && (setenv("WEFT_SCHED", "explore", 1) != 0 ||
				       setenv("WEFT_VCPUS", "1", 1) != 0 ||
				       setenv("WEFT_SLICE", "0", 1) != 0))
		return strerror(errno);
	/* Where this is refused, addresses differ between runs; the order does not. */
	(void)personality(ADDR_NO_RANDOMIZE | (unsigned)personality(0xffffffff));
	return NULL;
}
