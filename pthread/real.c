/* SPDX-License-Identifier: MIT */
/* pthread/real.c - libc's own definitions of what this library interposes */
#include "pthread/real.h"

#include <dlfcn.h>
#include <string.h>

struct wefti_real wefti_real;

struct wanted {
	const char *name;
	void **to;
};

#define WEFTI_OURS(name, note)	{ #name, (void **)(void *)&wefti_real.name },
#define WEFTI_LIBC(name, note)
#define WEFTI_PLANNED(name, note)
static const struct wanted wanted[] = {
	WEFTI_TABLE(WEFTI_OURS, WEFTI_LIBC, WEFTI_PLANNED)
};

/*
 * Condition variables have two versions; the old one, whose object is a
 * pointer, is what an unversioned look-up has been known to find.
 */
static void *find(const char *name)
{
	void *found = NULL;

	if (strncmp(name, "pthread_cond_", 13) == 0)
		found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
	return found ? found : dlsym(RTLD_NEXT, name);
}

void wefti_real_find(void)
{
	/* NULL for pthread_yield(), which libc keeps for old programs only. */
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		*wanted[i].to = find(wanted[i].name);
}
