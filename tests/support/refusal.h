/* SPDX-License-Identifier: MIT */
/* refusal.h - may threads be without TLS of their own here? */
#ifndef WEFT_TESTS_REFUSAL_H
#define WEFT_TESTS_REFUSAL_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/*
 * A libc that has its threads in a library of its own (glibc before 2.34) lists them in
 * that library too, where nothing else can read the lists.
 */
static inline int libc_hides_threads(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY);
	const int hides = libc && !dlsym(libc, "pthread_create");

	if (libc)
		dlclose(libc);
	return hides;
}

/* Is `why`, what wefti_tls_reason() says, right here? In all other cases it is a fault. */
static inline int is_refused_rightly(const char *why)
{
	return strstr(why, "sanitizer") ||
	       (libc_hides_threads() &&
		strcmp(why, "a private symbol of glibc is missing") == 0);
}

#endif
