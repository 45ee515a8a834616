/* SPDX-License-Identifier: MIT */
/* inline_call.h - system calls by the instructions of a library, not of libc's */
#ifndef WEFT_TESTS_INLINE_CALL_H
#define WEFT_TESTS_INLINE_CALL_H

#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "trapped.h"

static long (*inline_call_raw)(long number, const long *six);

/*
 * Before the first thread is made: from then on it is trapped. Where that cannot be, a
 * thread that waits so is the kernel's, and none of the cases is run.
 */
__attribute__((constructor)) static void inline_call_find(void)
{
	char self[PATH_MAX - 64], path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	void *module;

	if (!inline_calls_are_trapped()) {
		printf("not here: the kernel cannot tell of a library's calls\n");
		exit(0);
	}
	if (length < 0)
		abort();
	self[length] = '\0';
	snprintf(path, sizeof(path), "%s/../libgomp-module.so", dirname(self));
	module = dlopen(path, RTLD_NOW);
	if (!module) {
		fprintf(stderr, "%s\n", dlerror());
		abort();
	}
	inline_call_raw = (long (*)(long, const long *))
		dlsym(module, "weft_test_call");
}

/* As syscall(), which it stands for. */
static inline long inline_call(long number, ...)
{
	long six[6], result;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		six[i] = va_arg(list, long);
	va_end(list);
	result = inline_call_raw(number, six);
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

#endif
