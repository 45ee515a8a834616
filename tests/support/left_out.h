/* SPDX-License-Identifier: MIT */
/* left_out.h - which cases are not to be run, for both harnesses */
#ifndef WEFT_TESTS_LEFT_OUT_H
#define WEFT_TESTS_LEFT_OUT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Has the name one of the variable's words in it? "=word" is a whole name. */
static inline int has_word_of(const char *variable, const char *name)
{
	const char *words = getenv(variable);
	char word[128];
	int used;

	while (words && sscanf(words, "%127s%n", word, &used) == 1) {
		if (word[0] == '=' ? strcmp(name, word + 1) == 0 :
				     strstr(name, word) != NULL)
			return 1;
		words += used;
	}
	return 0;
}

static inline int is_left_out(const char *name)
{
	return has_word_of("WEFT_TEST_WITHOUT", name);
}

/* Others are passed over without a word. */
static inline int is_wanted(const char *name)
{
	return !getenv("WEFT_TEST_ONLY") || has_word_of("WEFT_TEST_ONLY", name);
}

#endif
