/* SPDX-License-Identifier: MIT */
/*
 * pthread/init/deepbind.c - plug-ins that look for libc's functions past this library
 *
 * A plug-in that is opened with RTLD_DEEPBIND, and the libraries that come with it, find
 * names in themselves first, libc among them. So they would have libc's locks, and the
 * program ours. Once they are loaded, what they have bound to libc and is ours is bound
 * anew. Names that one of them defines itself stay.
 *
 * Their constructors run before that, with libc's functions: a thread that one of them
 * makes is a kernel thread.
 *
 * Rejected: to leave the flag out. A plug-in asks for it because it has other versions of
 * the program's libraries with it. Rejected too: to change libc's table of symbols for
 * the time of the call. Other threads look up names in it meanwhile.
 */
#include "pthread/init/deepbind.h"

#include <link.h>
#include <stdint.h>
#include <stdlib.h>

#include "os/kthread/quiescent.h"
#include "os/libc/bind.h"
#include "pthread/core/real.h"

/* Where the objects lie that were there before. */
struct seen {
	size_t count, room;
	uintptr_t *bases;
};

#define WEFTI_OURS(name, note)	{ #name, (void *)name },
#define WEFTI_LIBC(name, note)
#define WEFTI_PLANNED(name, note)
static const struct wefti_os_binding ours[] = {
	WEFTI_TABLE(WEFTI_OURS, WEFTI_LIBC, WEFTI_PLANNED)
};

static int count_one(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)info;
	(void)size;
	++*(size_t *)arg;
	return 0;
}

static int note_one(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct seen *seen = arg;

	(void)size;
	if (seen->count == seen->room)
		return 1;
	seen->bases[seen->count++] = info->dlpi_addr;
	return 0;
}

static int is_new(const struct seen *seen, uintptr_t base)
{
	for (size_t i = 0; i < seen->count; i++)
		if (seen->bases[i] == base)
			return 0;
	return 1;
}

static int bind_new(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	if (is_new(arg, info->dlpi_addr))
		(void)!wefti_os_bind_libcs(info->dlpi_addr, ours,
					   sizeof(ours) / sizeof(*ours));
	return 0;
}

void wefti_bind_quiescent(void)
{
	wefti_os_quiescent_bind(ours, sizeof(ours) / sizeof(*ours));
}

void *wefti_deepbind(wefti_dlopen_fn *load, const char *file, int mode)
{
	struct seen seen = { .count = 0 };
	void *library;

	(void)dl_iterate_phdr(count_one, &seen.room);
	seen.bases = calloc(seen.room + 1, sizeof(*seen.bases));
	if (seen.bases)
		(void)dl_iterate_phdr(note_one, &seen);
	library = load(file, mode);
	if (library && seen.bases)
		(void)dl_iterate_phdr(bind_new, &seen);
	free(seen.bases);
	return library;
}
