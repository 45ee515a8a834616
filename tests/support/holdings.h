/* SPDX-License-Identifier: MIT */
/* holdings.h - what the process has of the kernel and of malloc */
#ifndef WEFT_TESTS_HOLDINGS_H
#define WEFT_TESTS_HOLDINGS_H

#include <dirent.h>
#include <stdio.h>

#include "heap.h"
#include "support.h"

struct holdings {
	size_t descriptors, kernel_threads, maps;
	long pages, resident;	/* of address space, and in memory */
	size_t heap;
};

static inline size_t holdings_entries(const char *path)
{
	DIR *dir = opendir(path);
	size_t n = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static inline size_t holdings_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	for (int c; (c = getc(f)) != EOF; )
		n += c == '\n';
	fclose(f);
	return n;
}

static inline struct holdings holdings(void)
{
	struct holdings h = {
		.descriptors = holdings_entries("/proc/self/fd"),
		.kernel_threads = holdings_entries("/proc/self/task"),
		.maps = holdings_lines("/proc/self/maps"),
		.heap = heap_in_use(),
	};
	FILE *f = fopen("/proc/self/statm", "r");

	CU_ASSERT_FATAL(f && fscanf(f, "%ld %ld", &h.pages, &h.resident) == 2);
	fclose(f);
	return h;
}

#endif
