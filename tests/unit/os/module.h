/* SPDX-License-Identifier: MIT */
/* module.h - libraries beside the test program, and copies of them elsewhere */
#ifndef WEFT_TESTS_OS_MODULE_H
#define WEFT_TESTS_OS_MODULE_H

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support.h"

/* Beside this program, or in libtool's folder there. Returns 0, or -1. */
static inline int module_path(const char *module, char *path, size_t size)
{
	static const char *const between[] = { "", ".libs/", "../", "../../" };
	char self[PATH_MAX / 2];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *folder;

	if (length < 0)
		return -1;
	self[length] = '\0';
	folder = dirname(self);
	for (int i = 0; i < 4; i++) {
		snprintf(path, size, "%s/%s%s", folder, between[i], module);
		if (access(path, R_OK) == 0)
			return 0;
	}
	return -1;
}

/* The first `most` bytes of it, and of those at most a mebibyte. */
static inline void module_copy(const char *from, const char *to, size_t most)
{
	static char text[1 << 20];
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	size_t bytes = most < sizeof(text) ? most : sizeof(text);

	CU_ASSERT_FATAL(in && out);
	bytes = fread(text, 1, bytes, in);
	CU_ASSERT_EQUAL_FATAL(fwrite(text, 1, bytes, out), bytes);
	fclose(in);
	CU_ASSERT_EQUAL_FATAL(fclose(out), 0);
}

/* A folder of the test's own; and no more. */
static inline void module_folder(char *path, size_t size)
{
	snprintf(path, size, "/tmp/weft-module-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(path));
}

static inline void module_folder_end(const char *path)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", path);
	CU_ASSERT_EQUAL(system(command), 0);
}

#endif
