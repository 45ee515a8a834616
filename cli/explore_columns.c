/* SPDX-License-Identifier: MIT */
/*
 * cli/explore_columns.c - weft explore: the steps of a run, in a column for each thread
 *
 * A row has one step, so a step's text may go on over the columns to its right. Only their
 * left ends must be apart. Where there are too many threads for that, the steps stay a list.
 * What the program wrote between its steps stays where it is.
 */
#include "explore.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_MOST	24u	/* threads */
#define APART_LEAST	11u	/* "thread 12  " */
#define WIDTH		96u	/* in a file */
#define FIRST		8u	/* column of the first thread: behind the number */

struct step {
	unsigned long number;
	unsigned thread;
	const char *text;
	unsigned length;
};

struct columns {
	unsigned thread[COLUMNS_MOST], n;
	unsigned longest;	/* of the steps' texts */
	unsigned apart;
};

/* Returns 0, or -1: the line tells no step. */
static int read_step(const char *line, struct step *s)
{
	static const char mark[] = "  thread ";
	char *end;

	s->number = strtoul(line, &end, 10);
	if (*line != ' ' || !s->number || strncmp(end, mark, strlen(mark)) != 0)
		return -1;
	s->thread = (unsigned)strtoul(end + strlen(mark), &end, 10);
	s->text = end + strspn(end, " ");
	s->length = (unsigned)strcspn(s->text, "\n");
	return 0;
}

int weft_cli_explore_is_step(const char *line)
{
	struct step s;

	return read_step(line, &s) == 0;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

static unsigned column_of(const struct columns *c, unsigned thread)
{
	unsigned i = 0;

	while (i < c->n && c->thread[i] != thread)
		i++;
	return i;
}

/* In the order of their numbers. */
static void insert(struct columns *c, unsigned thread)
{
	unsigned i = c->n++;

	for (; i > 0 && c->thread[i - 1] > thread; i--)
		c->thread[i] = c->thread[i - 1];
	c->thread[i] = thread;
}

/* Returns 0, or -1: there are too many threads. */
static int collect(struct columns *c, const char *text)
{
	struct step s;

	for (; *text; text = next_line(text)) {
		if (read_step(text, &s) != 0)
			continue;
		if (s.length > c->longest)
			c->longest = s.length;
		if (column_of(c, s.thread) < c->n)
			continue;
		if (c->n == COLUMNS_MOST)
			return -1;
		insert(c, s.thread);
	}
	return 0;
}

static unsigned width_of(FILE *to)
{
	struct winsize size;

	if (isatty(fileno(to)) && ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return WIDTH;
}

/* Returns 0, or -1: the columns do not fit, or there are no two. */
static int set_apart(struct columns *c, unsigned width)
{
	const unsigned used = FIRST + c->longest;

	if (c->n < 2 || width <= used)
		return -1;
	c->apart = (width - used) / (c->n - 1);
	if (c->apart > c->longest + 2)
		c->apart = c->longest + 2;
	return c->apart < APART_LEAST ? -1 : 0;
}

static void put_names(FILE *to, const struct columns *c)
{
	weft_cli_say(to, "%*s", (int)FIRST, "");
	for (unsigned i = 0; i + 1 < c->n; i++)
		weft_cli_say(to, "thread %-*u", (int)(c->apart - strlen("thread ")),
			     c->thread[i]);
	weft_cli_say(to, "thread %u\n", c->thread[c->n - 1]);
}

static void put_step(FILE *to, const struct columns *c, const struct step *s)
{
	weft_cli_say(to, "%6lu  %*s%.*s\n", s->number,
		     (int)(column_of(c, s->thread) * c->apart), "", (int)s->length, s->text);
}

void weft_cli_explore_columns(FILE *to, const char *text)
{
	struct columns c = { .n = 0 };
	int is_named = 0;
	struct step s;

	if (collect(&c, text) != 0 || set_apart(&c, width_of(to)) != 0) {
		weft_cli_say(to, "%s", text);
		return;
	}
	for (; *text; text = next_line(text)) {
		if (read_step(text, &s) != 0) {
			weft_cli_say(to, "%.*s", (int)(next_line(text) - text), text);
			continue;
		}
		if (!is_named)
			put_names(to, &c);
		is_named = 1;
		put_step(to, &c, &s);
	}
}
