/* SPDX-License-Identifier: MIT */
/* os/libc/loaded.c - does some loaded library, or the program, export a name? */
#include "os/libc/loaded.h"

#include <dlfcn.h>
#include <link.h>

#include "os/libc/exports.h"
#include "os/libc/named.h"

/* The kernel's, which has another table than a library. */
static const char *const vdso[] = { "linux-vdso", "linux-gate" };

struct search {
	const char *const *names;
	size_t count;
	int found;	/* -1: none yet */
	int is_unsure;	/* a library has no table that we read */
};

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	struct wefti_exports e = { .base = 0 };

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			e = wefti_exports_read(info->dlpi_addr,
				(const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
	if (!e.hash)
		s->is_unsure |= !wefti_os_is_named(e.base ? e.soname : "", vdso, 2);
	for (size_t i = 0; i < s->count; i++)
		if (wefti_exports_find(&e, s->names[i]) && (s->found < 0 || (int)i < s->found))
			s->found = (int)i;
	return 0;
}

int wefti_os_loaded_exports(const char *const *names, size_t count)
{
	struct search s = { names, count, -1, 0 };

	(void)dl_iterate_phdr(look_at, &s);
	for (size_t i = 0; s.is_unsure && s.found < 0 && i < count; i++)
		if (dlsym(RTLD_DEFAULT, names[i]))
			s.found = (int)i;
	return s.found;
}
