/* SPDX-License-Identifier: MIT */
/*
 * test_small_stack.c - libc's functions on small stacks: it looks how large they
 * are before it takes much of them
 */
#include "compare.h"

#include <glob.h>
#include <regex.h>
#include <wchar.h>

#define STACK	((size_t)64 * 1024)
#define BYTES	(48 * 1024)	/* what libc would take of a large stack */

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void *sort(void *arg)
{
	const int count = BYTES / (int)sizeof(int);
	int *list = malloc(BYTES), wrong = 0;

	for (int i = 0; i < count; i++)
		list[i] = (int)((unsigned)i * 7919u % (unsigned)count);
	qsort(list, (size_t)count, sizeof(*list), by_number);
	for (int i = 0; i < count; i++)
		wrong += list[i] != i;
	free(list);
	printf("sorted: %d\n", wrong);
	return arg;
}

/* As long as the text is what it keeps of each place. */
static void *match(void *arg)
{
	char *text = malloc(BYTES + 1);
	regmatch_t found[3];
	regex_t r;

	memset(text, 'a', BYTES);
	text[BYTES] = 0;
	memcpy(text + BYTES - 8, "xyzzxyzz", 8);
	printf("compiled: %d\n", regcomp(&r, "(x[yz]*)a*\\1", REG_EXTENDED));
	printf("found: %d", regexec(&r, text, 3, found, 0));
	printf(" %d\n", (int)found[0].rm_so - BYTES);
	regfree(&r);
	free(text);
	return arg;
}

static void *print(void *arg)
{
	char *text = malloc(BYTES * 2);
	int n = snprintf(text, BYTES * 2, "%*d|%-*s|%.*f", BYTES / 4, 5,
			 BYTES / 4, "left", 40, 1.0 / 3);

	printf("printed: %d, %.8s\n", n, text + BYTES / 4 - 1);
	n = swprintf((wchar_t *)(void *)text, BYTES / 8, L"%*d", BYTES / 16, 7);
	printf("wide: %d\n", n);
	free(text);
	return arg;
}

static void *expand(void *arg)
{
	char *pattern = malloc(BYTES);
	glob_t g;

	memset(pattern, '/', BYTES);
	memcpy(pattern + BYTES - 6, "/etc*", 6);
	printf("expanded: %d\n", glob(pattern, 0, NULL, &g) == GLOB_NOMATCH ||
				 g.gl_pathc > 0);
	free(pattern);
	return arg;
}

static void libc_sees_how_small_a_stack_is(void)
{
	void *(*const all[])(void *) = { sort, match, print, expand };
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	show("stack", pthread_attr_setstacksize(&attr, STACK));
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		pthread_t t;

		if (pthread_create(&t, &attr, all[i], NULL) != 0)
			abort();
		finish(t);
	}
}

static const struct compare_case cases[] = {
	COMPARE(libc_sees_how_small_a_stack_is),
};

COMPARE_MAIN(cases)
