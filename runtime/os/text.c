/* SPDX-License-Identifier: MIT */
/* os/text.c - whose text a program counter points into */
#include "os/text.h"

#include <dlfcn.h>
#include <link.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"
#include "os/allocator.h"
#include "os/named.h"

#define RANGES_MAX	16
/* Bytes of malloc's before its first exported function, and of its last. */
#define MALLOC_BEFORE	12288
#define MALLOC_AFTER	256
#define MALLOC_MOST	65536	/* from the first to the last */

struct range {
	_Atomic uintptr_t from, to;
};

/* Renewed in place: a reader may see a range twice or not at all meanwhile. */
static struct range ranges[RANGES_MAX];
static struct range malloc_text;
static _Atomic uint32_t range_count;

static const char *const locked_names[] = {
	"libc.so", "libc-", "libpthread.so", "libpthread-", "libdl.so",
	"ld-linux", "ld-2", "libstdc++.so", "libc++.so", "libc++abi.so",
	"libgcc_s.so", "libunwind", "linux-vdso", "linux-gate",
	"libweft", "libjemalloc", "libtcmalloc", "libmimalloc",
};

static int add_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint32_t *count = arg;

	(void)size;
	if (!wefti_os_is_named(info->dlpi_name, locked_names,
			       sizeof(locked_names) / sizeof(*locked_names)))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) ||
		    *count == RANGES_MAX)
			continue;
		store_relaxed(&ranges[*count].from, from);
		store_relaxed(&ranges[*count].to, from + p->p_memsz);
		++*count;
	}
	return 0;
}

/* All of the object that is at *arg, as far as it can be run. */
static int take_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	const uintptr_t *base = arg;
	uintptr_t from = UINTPTR_MAX, to = 0;

	(void)size;
	if (info->dlpi_addr != *base)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		if (begin < from)
			from = begin;
		if (begin + p->p_memsz > to)
			to = begin + p->p_memsz;
	}
	store_relaxed(&malloc_text.from, from);
	store_relaxed(&malloc_text.to, to);
	return 1;
}

/*
 * Its functions are one object file of libc's, of which these are exported; those
 * that are not lie between and before them.
 */
static void find_malloc(void)
{
	static const char *const names[] = {
		"__libc_malloc", "__libc_free", "__libc_calloc",
		"__libc_realloc", "__libc_memalign", "malloc_trim", "malloc_info",
	};
	uintptr_t from = UINTPTR_MAX, to = 0, base;

	if (wefti_os_allocator_find(&base) == WEFTI_ALLOCATOR_KNOWN) {
		dl_iterate_phdr(take_object, &base);
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uintptr_t at = (uintptr_t)dlsym(RTLD_DEFAULT, names[i]);

		if (at && at < from)
			from = at;
		if (at > to)
			to = at;
	}
	if (to < from || to - from > MALLOC_MOST)
		return;		/* there is none, or something is in front of it */
	store_relaxed(&malloc_text.from, from - MALLOC_BEFORE);
	store_relaxed(&malloc_text.to, to + MALLOC_AFTER);
}

void wefti_os_text_init(void)
{
	uint32_t count = 0;

	dl_iterate_phdr(add_object, &count);
	store_seq_cst(&range_count, count);
	find_malloc();
}

int wefti_os_text_is_locked(uintptr_t pc)
{
	uint32_t count = load_seq_cst(&range_count);

	for (uint32_t i = 0; i < count; i++)
		if (pc >= load_relaxed(&ranges[i].from) &&
		    pc < load_relaxed(&ranges[i].to))
			return 1;
	return 0;
}

int wefti_os_text_is_mallocs(uintptr_t pc)
{
	return pc >= load_relaxed(&malloc_text.from) &&
	       pc < load_relaxed(&malloc_text.to);
}
