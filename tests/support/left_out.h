/* SPDX-License-Identifier: MIT */
/* left_out.h - which cases are not to be run, for both harnesses */
#ifndef WEFT_TESTS_LEFT_OUT_H
#define WEFT_TESTS_LEFT_OUT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Has the name one of the words of WEFT_TEST_WITHOUT in it? */
static inline int is_left_out(const char *name)
{
	const char *words = getenv("WEFT_TEST_WITHOUT");
	char word[64];
	int used;

	while (words && sscanf(words, "%63s%n", word, &used) == 1) {
		if (strstr(name, word))
			return 1;
		words += used;
	}
	return 0;
}

#endif
