/* SPDX-License-Identifier: MIT */
/*
 * cli/profile/folded.c - a profile as folded stacks: "thread;main;work 1234"
 *
 * The numbers are those of one type. Samples that differ by a lock's owner, or by where in a
 * function a call is, are one line.
 */
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "profile/profile.h"

struct folded {
	struct profile_table *table;
	FILE *file;		/* the line's text */
	enum profile_value type;
	void *lines;		/* a tree of struct line */
	int failed;		/* there was no memory */
};

struct line {
	char *text;
	int64_t value;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

/* Keeps the text, if it is a new one. */
static void add(struct folded *f, char *text, int64_t value)
{
	struct line *new = malloc(sizeof(*new)), **found;

	if (new)
		*new = (struct line){ text, 0 };
	found = new ? tsearch(new, &f->lines, by_text) : NULL;
	f->failed |= !found;
	if (found && __builtin_add_overflow((*found)->value, value, &(*found)->value))
		(*found)->value = INT64_MAX;
	if (!found || *found != new) {
		free(new);
		free(text);
	}
}

/* Between frames there is ';', and a space in front of the number alone would be enough. */
static void put_frame(const struct folded *f, const char *name)
{
	char text[1024];

	snprintf(text, sizeof(text), "%s", name);
	for (char *c = weft_cli_clean(text, sizeof(text)); *c; c++)
		putc(*c == ';' ? ':' : *c, f->file);
}

static void put_call(const struct folded *f, uint64_t pc)
{
	struct profile_line lines[PROFILE_LINES_MOST];

	for (size_t n = profile_lines(f->table->files, pc, lines); n--;) {
		putc(';', f->file);
		if (lines[n].function)
			put_frame(f, lines[n].function);
		else
			fprintf(f->file, "%#" PRIx64, pc);
	}
}

static void put_stack(const struct folded *f, const struct profile_sample *s)
{
	put_frame(f, s->thread);
	for (size_t i = s->depth; i--;)
		put_call(f, s->pcs[i]);
	if (s->what) {
		putc(';', f->file);
		put_frame(f, s->what);
	}
}

static void add_sample(const struct profile_sample *s, void *arg)
{
	struct folded *f = arg;
	char *text = NULL;
	size_t bytes;

	if (s->value[f->type] <= 0)
		return;
	f->file = open_memstream(&text, &bytes);
	if (f->file)
		put_stack(f, s);
	if (f->file && fclose(f->file) == 0)
		add(f, text, s->value[f->type]);
	else
		f->failed = 1;
}

static void put_line(const void *node, VISIT which, void *file)
{
	const struct line *line = *(struct line *const *)node;

	if (which == postorder || which == leaf)
		fprintf(file, "%s %" PRId64 "\n", line->text, line->value);
}

static void free_line(void *line)
{
	free(((struct line *)line)->text);
	free(line);
}

int profile_write_folded(struct profile_table *table, FILE *file, enum profile_value type)
{
	struct folded f = { .table = table, .type = type };

	profile_each(table, add_sample, &f);
	twalk_r(f.lines, put_line, file);
	tdestroy(f.lines, free_line);
	return f.failed || table->failed ? -1 : 0;
}
