/* SPDX-License-Identifier: MIT */
/* pthread/real.c - libc's own definitions of what this library interposes */
#include "pthread/real.h"

#include <dlfcn.h>
#include <string.h>

#include "pthread/allocator.h"
#include "tcb.h"

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

/* An unversioned look-up has been known to find the old ones of these. */
static int has_old_version(const char *name)
{
	static const char *const names[] = {
		"pthread_cond_broadcast", "pthread_cond_destroy",
		"pthread_cond_signal", "pthread_cond_timedwait",
		"pthread_cond_wait",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return 1;
	return 0;
}

/*
 * Nothing is looked for that is not there: the loader allocates for its message,
 * and a program's own malloc() may call us in turn before we have found all. Those of
 * libaio and liburing are in few programs, pthread_yield() is kept for old ones;
 * sched_setattr(), sched_getattr() and pidfd_send_signal() are in new libcs only.
 */
static void *find(const char *name)
{
	if (strcmp(name, "pthread_yield") == 0 || strncmp(name, "io_", 3) == 0 ||
	    strcmp(name, "pidfd_send_signal") == 0 ||
	    strcmp(name, "sched_setattr") == 0 ||
	    strcmp(name, "sched_getattr") == 0)
		return NULL;
	if (has_old_version(name))
		return dlvsym(RTLD_NEXT, name, WEFTI_ARCH_COND_VERSION);
	return dlsym(RTLD_NEXT, name);
}

void wefti_real_find(void)
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		*wanted[i].to = find(wanted[i].name);
	wefti_allocator_bind();
}
