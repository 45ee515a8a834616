/* SPDX-License-Identifier: MIT */
/*
 * pthread/init/deepbind.c - plug-ins that look for libc's functions past this library
 *
 * A plug-in that is opened with RTLD_DEEPBIND, and the libraries that come with it, look
 * up names first among themselves, and libc is one of those libraries. So they would use
 * libc's locks, and the program ours. Once they are loaded, names that they have bound to
 * libc are bound anew if this library defines them. Names that one of them defines itself
 * stay.
 *
 * Their constructors run before that, with libc's functions. A thread that a constructor
 * makes is a kernel thread.
 *
 * Rejected
 *   To drop the flag: a plug-in asks for it because it comes with other versions of the
 *   program's libraries.
 *   To change libc's table of symbols for the time of the call: other threads look up
 *   names in it meanwhile.
 */
#include "pthread/init/deepbind.h"

#include <link.h>
#include <stdint.h>
#include <stdlib.h>

#include "os/kthread/quiescent.h"
#include "os/libc/bind.h"
#include "pthread/core/real.h"

/* The base addresses of the objects that were loaded before. */
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
