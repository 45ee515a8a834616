/* SPDX-License-Identifier: MIT */
/* plan9/words.c - fields, quotes, letters of either case, and names of files */
#include "plan9.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <weft/plan9/libc.h>

int weft_plan9_getfields(char *text, char **to, int most, int merges,
			 const char *between)
{
	int n = 0;

	while (n < most) {
		size_t length;

		if (merges)
			text += strspn(text, between);
		if (merges && !*text)
			break;
		to[n++] = text;
		length = strcspn(text, between);
		if (!text[length] || n == most)
			break;
		text[length] = 0;
		text += length + 1;
	}
	return n;
}

/* Takes the quotes off a word; '' inside them is one quote. Returns what is behind. */
static char *end_of_word(char *at, const char *between)
{
	char *to = at;
	int is_quoted = 0;

	for (; *at && (is_quoted || !strchr(between, *at)); at++) {
		if (*at != '\'')
			*to++ = *at;
		else if (is_quoted && at[1] == '\'')
			*to++ = *at++;
		else
			is_quoted = !is_quoted;
	}
	if (*at)
		at++;
	*to = 0;
	return at;
}

int weft_plan9_gettokens(char *text, char **to, int most, const char *between)
{
	int n = 0;

	while (n < most) {
		text += strspn(text, between);
		if (!*text)
			break;
		to[n++] = text;
		text = end_of_word(text, between);
	}
	return n;
}

int weft_plan9_tokenize(char *text, char **to, int most)
{
	return weft_plan9_gettokens(text, to, most, " \t\r\n");
}

char *weft_plan9_quotestrdup(const char *text)
{
	return weft_plan9_smprint("%q", text);
}

char *weft_plan9_unquotestrdup(const char *text)
{
	char *copy = strdup(text), *word;

	if (!copy)
		return NULL;
	word = copy + strspn(copy, " \t\r\n");
	(void)end_of_word(word, " \t\r\n");
	memmove(copy, word, strlen(word) + 1);
	return copy;
}

int weft_plan9_cistrcmp(const char *a, const char *b)
{
	return strcasecmp(a, b);
}

int weft_plan9_cistrncmp(const char *a, const char *b, int n)
{
	return n > 0 ? strncasecmp(a, b, (size_t)n) : 0;
}

char *weft_plan9_cistrstr(const char *text, const char *part)
{
	size_t n = strlen(part);

	for (; strncasecmp(text, part, n) != 0; text++)
		if (!*text)
			return NULL;
	return (char *)(uintptr)text;
}

/* In place: no empty names, no ".", and no ".." behind another name. */
char *weft_plan9_cleanname(char *path)
{
	char *begin = path + (*path == '/'), *to = begin, *from = path;
	int names = 0;			/* in the result, that ".." can take away */
	size_t n;

	for (; from += strspn(from, "/"), (n = strcspn(from, "/")) > 0; from += n) {
		int is_up = n == 2 && from[0] == '.' && from[1] == '.';

		if ((n == 1 && *from == '.') || (is_up && !names && begin > path))
			continue;
		if (is_up && names) {
			while (to > begin && *--to != '/')
				;
			names--;
			continue;
		}
		if (to > begin)
			*to++ = '/';
		memmove(to, from, n);
		to += n;
		names += !is_up;
	}
	if (to == path)
		*to++ = '.';
	*to = 0;
	return path;
}
