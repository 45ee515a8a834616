/* SPDX-License-Identifier: MIT */
/*
 * cli/explain.c - adds to the lines of a dump what can be found out from outside
 *
 * The process writes its dump without memory of its own and without locks of libc's. So
 * it knows neither lines of the source nor what a descriptor is. This command knows both,
 * by libdw and by /proc, and adds them behind the process's own words. It leaves out the
 * calls of weft's own at both ends of a stack, unless all are asked for. What a thread waits
 * for is in its first line, and how weft begins a thread is no news.
 */
#include "explain.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "descriptor.h"
#if WEFT_HAS_PROFILE
#include "profile/profile.h"
#endif

#define FRAMES_MOST	64u

struct weft_explain {
	FILE *to;
	long pid;
	int all_frames;
	int runs;		/* the thread of the last line is stopped at its first call */
	size_t frames;		/* of the stack that is being read */
	char *frame[FRAMES_MOST];
	struct profile_files *files;
};

#if WEFT_HAS_PROFILE

static void open_files(struct weft_explain *x)
{
	size_t bytes;
	char *maps = weft_cli_maps(x->pid, &bytes);

	if (maps)
		x->files = profile_files_open(maps, bytes);
	free(maps);
}

/* " at shop.c:48": the call is before the place where it returns to. */
static void tell_line(const struct weft_explain *x, unsigned number, uint64_t pc)
{
	struct profile_line lines[PROFILE_LINES_MOST];

	if (!x->files)
		return;
	(void)profile_lines(x->files, number == 0 && x->runs ? pc : pc - 1, lines);
	if (lines[0].file)
		weft_cli_say(x->to, " at %s:%d", lines[0].file, lines[0].line);
}

static void close_files(struct weft_explain *x)
{
	if (x->files)
		profile_files_close(x->files);
}

#else

static void open_files(struct weft_explain *x)
{
	(void)x;
}

static void tell_line(const struct weft_explain *x, unsigned number, uint64_t pc)
{
	(void)x, (void)number, (void)pc;
}

static void close_files(struct weft_explain *x)
{
	(void)x;
}

#endif

/* "    #3  0x0000564b17dfe38c sell+0x2c (shop)". Returns what is behind the address, or NULL. */
static const char *read_frame(const char *line, unsigned *number, uint64_t *pc)
{
	int length = 0;

	return sscanf(line, "    #%u 0x%lx %n", number, pc, &length) == 2 && length > 0 ?
	       line + length : NULL;
}

/* Is it a call of weft's own? In a program with libweft.a only its name tells. */
static int is_own(const char *line)
{
	unsigned number;
	uint64_t pc;
	const char *name = read_frame(line, &number, &pc);
	const char *object = strrchr(line, '(');

	return (object && strncmp(object, "(libweft", 8) == 0) ||
	       (name && (strncmp(name, "weft_", 5) == 0 || strncmp(name, "wefti_", 6) == 0));
}

/* The function below which a thread of weft begins, in a program with libweft.a. */
static int is_below(const char *line)
{
	return is_own(line) || strstr(line, " child_main+0x");
}

static void tell_frames(struct weft_explain *x)
{
	size_t first = 0, end = x->frames;

	while (!x->all_frames && first < end && is_own(x->frame[first]))
		first++;
	while (!x->all_frames && end > first && is_below(x->frame[end - 1]))
		end--;
	if (first == end) {	/* nothing would be left */
		first = 0;
		end = x->frames;
	}
	for (size_t i = 0; i < x->frames; i++) {
		unsigned number = 0;
		uint64_t pc = 0;

		if (i >= first && i < end && read_frame(x->frame[i], &number, &pc)) {
			weft_cli_say(x->to, "%s", x->frame[i]);
			tell_line(x, number, pc);
			fputc('\n', x->to);
		}
		free(x->frame[i]);
	}
	x->frames = 0;
}

static void tell_other(struct weft_explain *x, const char *line)
{
	static const char waits[] = "waits for descriptor ";
	const char *at = strstr(line, waits);
	char what[256];

	weft_cli_say(x->to, "%s", line);
	if (at && isdigit((unsigned char)at[sizeof(waits) - 1]) &&
	    strncmp(at + sizeof(waits) - 1, "0x", 2) != 0 &&
	    weft_cli_descriptor(x->pid, atoi(at + sizeof(waits) - 1), what, sizeof(what)))
		weft_cli_say(x->to, " (%s)", what);
	fputc('\n', x->to);
}

void weft_cli_explain_line(struct weft_explain *x, const char *line)
{
	unsigned number;
	uint64_t pc;

	if (x->frames < FRAMES_MOST && read_frame(line, &number, &pc)) {
		x->frame[x->frames] = strdup(line);
		x->frames += x->frame[x->frames] != NULL;
		return;
	}
	tell_frames(x);
	if (strncmp(line, "    ", 4) != 0)
		x->runs = strstr(line, ": running") != NULL;
	tell_other(x, line);
}

struct weft_explain *weft_cli_explain_begin(FILE *to, long pid, int all_frames)
{
	struct weft_explain *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->to = to;
	x->pid = pid;
	x->all_frames = all_frames;
	open_files(x);
	return x;
}

void weft_cli_explain_end(struct weft_explain *x)
{
	tell_frames(x);
	close_files(x);
	free(x);
}
