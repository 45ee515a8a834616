/* SPDX-License-Identifier: MIT */
/* pthread/core/real.c - libc's own definitions of what this library interposes */
#include "pthread/core/real.h"

#include <dlfcn.h>

#include "os/libc/libc.h"
#include "pthread/core/above.h"

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

/* Are both in the same library? */
static int are_together(const void *a, const void *b)
{
	Dl_info of_a, of_b;

	return dladdr(a, &of_a) && dladdr(b, &of_b) &&
	       of_a.dli_fbase == of_b.dli_fbase;
}

/*
 * The next definition behind ours: libc's, or that of another library in front of libc.
 * libc's version for new programs is taken. Before glibc 2.36 the loader finds the oldest
 * version, and its arguments may differ (timer_settime(), posix_spawn(),
 * sched_setaffinity(), condition variables).
 *
 * A name that libc does not have is not looked up: the loader would allocate memory for
 * its error message, and a program's own malloc() may call us before we have found all.
 */
static void *find(const char *name)
{
	void *of_libc = wefti_os_libc(name), *next;

	if (!of_libc)
		return NULL;
	next = dlsym(RTLD_NEXT, name);
	return !next || next == of_libc || are_together(next, of_libc) ?
		       of_libc : next;
}

void wefti_real_find_in_libc(void)
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!*wanted[i].to)
			*wanted[i].to = wefti_os_libc(wanted[i].name);
}

void wefti_real_find(void)
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		*wanted[i].to = find(wanted[i].name);
	wefti_above.libc_is_found();
}
