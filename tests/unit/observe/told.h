/* SPDX-License-Identifier: MIT */
/* told.h - what was written to a struct wefti_out, as a string */
#ifndef WEFT_TESTS_OBSERVE_TOLD_H
#define WEFT_TESTS_OBSERVE_TOLD_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "observe/out.h"
#include "support.h"

static struct wefti_out told_out;	/* one at a time */
static char told_text[1 << 20];

static inline struct wefti_out *told_begin(void)
{
	told_out = (struct wefti_out){ .fd = memfd_create("told", 0) };
	CU_ASSERT_FATAL(told_out.fd >= 0);
	return &told_out;
}

static inline const char *told_end(void)
{
	ssize_t n;

	wefti_out_flush(&told_out);
	CU_ASSERT_EQUAL(told_out.failed, 0);
	n = pread(told_out.fd, told_text, sizeof(told_text) - 1, 0);
	CU_ASSERT_FATAL(n >= 0);
	told_text[n] = 0;
	close(told_out.fd);
	return told_text;
}

/* If it is not what was told, says what was. */
static inline int told_is(const char *expected)
{
	int is = strcmp(told_text, expected) == 0;

	if (!is)
		printf("    expected \"%s\"\n    told \"%s\"\n", expected,
		       told_text);
	return is;
}

static inline unsigned told_times(const char *what)
{
	unsigned n = 0;

	for (const char *at = told_text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

#endif
