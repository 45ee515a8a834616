/* SPDX-License-Identifier: MIT */
/*
 * cli/explore_lines.c - weft explore: source lines in the place of addresses
 *
 * The library names a place by its file and how far in it the place is: "prog+0x11fa". The
 * lines of the program itself are asked of addr2line(1), all at once.
 */
#include "explore.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLACES_MOST	512u
#define TEXT_MOST	(256u * 1024u)
#define PLACE_TEXT	24u

struct places {
	unsigned long at[PLACES_MOST];
	char line[PLACES_MOST][128];	/* "" or "??:0": it is not known */
	unsigned n;
};

/* The next "NAME+0x" behind text, or NULL. *end is behind the number. */
static char *find(char *text, const char *name, unsigned long *at, char **end)
{
	char mark[PATH_MAX + 4];
	char *place;

	snprintf(mark, sizeof(mark), "%s+0x", name);
	place = strstr(text, mark);
	if (place)
		*at = strtoul(place + strlen(mark), end, 16);
	return place;
}

static void collect(struct places *p, char *text, const char *name)
{
	unsigned long at;
	unsigned i;

	while ((text = find(text, name, &at, &text)) && p->n < PLACES_MOST) {
		for (i = 0; i < p->n && p->at[i] != at; i++)
			;
		if (i == p->n)
			p->at[p->n++] = at;
		text++;
	}
}

/* The program's addresses are those behind calls: the call is one byte before. */
static _Noreturn void become_addr2line(const struct places *p, const char *program, int to)
{
	static char text[PLACES_MOST][PLACE_TEXT];
	char *argv[PLACES_MOST + 5] = { "addr2line", "-s", "-e", (char *)program };

	for (unsigned i = 0; i < p->n; i++) {
		snprintf(text[i], sizeof(text[i]), "0x%lx", p->at[i] - 1);
		argv[4 + i] = text[i];
	}
	if (dup2(to, STDOUT_FILENO) >= 0)
		execvp(argv[0], argv);
	_exit(STATUS_NOT_FOUND);
}

static void ask(struct places *p, const char *program)
{
	int ends[2], status;
	FILE *from;
	pid_t pid;

	if (!p->n || pipe(ends) != 0)
		return;
	pid = fork();
	if (pid == 0)
		become_addr2line(p, program, ends[1]);
	close(ends[1]);
	from = fdopen(ends[0], "r");
	for (unsigned i = 0; from && i < p->n; i++) {
		if (!fgets(p->line[i], sizeof(p->line[i]), from))
			break;
		p->line[i][strcspn(p->line[i], " \n")] = 0;
	}
	if (from)
		fclose(from);
	if (pid > 0)
		(void)waitpid(pid, &status, 0);
}

static const char *line_of(const struct places *p, unsigned long at)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->at[i] == at)
			return *p->line[i] && *p->line[i] != '?' ? p->line[i] : NULL;
	return NULL;
}

static void put(FILE *to, const struct places *p, char *text, const char *name)
{
	unsigned long at;
	char *end, *place;

	while ((place = find(text, name, &at, &end))) {
		const char *line = line_of(p, at);

		weft_cli_say(to, "%.*s", (int)(place - text), text);
		if (line)
			weft_cli_say(to, "%s", line);
		else
			weft_cli_say(to, "%.*s", (int)(end - place), place);
		text = end;
	}
	weft_cli_say(to, "%s", text);
}

/* The end of the text, from the begin of a line on. NULL: there is no memory. */
static char *read_end(int fd)
{
	char *text = malloc(TEXT_MOST);
	const off_t size = lseek(fd, 0, SEEK_END);
	const off_t from = size < TEXT_MOST ? 0 : size - TEXT_MOST + 1;
	ssize_t n;

	if (!text)
		return NULL;
	n = pread(fd, text, TEXT_MOST - 1, from);
	text[n > 0 ? n : 0] = 0;
	if (from && strchr(text, '\n'))
		memmove(text, strchr(text, '\n') + 1, strlen(strchr(text, '\n')));
	return text;
}

static char *last_lines(char *text, unsigned most)
{
	char *from = text + strlen(text);

	for (unsigned n = 0; from > text; from--)
		if (from[-1] == '\n' && n++ == most)
			break;
	return from;
}

static const char *file_name(const char *program)
{
	const char *slash = strrchr(program, '/');

	return slash ? slash + 1 : program;
}

/* The text with lines, for free(); NULL: there is no memory. */
static char *put_lines(char *text, const char *program)
{
	struct places *p = calloc(1, sizeof(*p));
	char *with_lines = NULL;
	size_t bytes;
	FILE *to = p ? open_memstream(&with_lines, &bytes) : NULL;

	if (to) {
		collect(p, text, file_name(program));
		ask(p, program);
		put(to, p, text, file_name(program));
		fclose(to);
	}
	free(p);
	return with_lines;
}

void weft_cli_explore_text(char *text, size_t most, const char *program)
{
	char *with_lines = put_lines(text, program);

	if (with_lines)
		snprintf(text, most, "%s", with_lines);
	free(with_lines);
}

void weft_cli_explore_lines(FILE *to, int fd, const char *program, unsigned most)
{
	char *whole = read_end(fd), *text, *with_lines;

	if (!whole)
		return;
	text = last_lines(whole, most);
	if (text != whole)
		fputs("   ...\n", to);
	with_lines = put_lines(text, program);
	weft_cli_explore_columns(to, with_lines ? with_lines : text);
	free(with_lines);
	free(whole);
}
