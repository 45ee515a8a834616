/* SPDX-License-Identifier: MIT */
/*
 * os/object/text.c - which object's code a program counter is in
 *
 * Writers
 *   range.from  add_object, find_malloc, take_text
 *   range.to  add_object, find_malloc, take_text
 *   range_count  wefti_os_text_init
 */
#include "os/object/text.h"

#include <link.h>
#include <sys/syscall.h>

#include "base/compiler.h"
#include "interrupted.h"
#include "lockfree/atomic.h"
#include "os/libc/allocator.h"
#include "os/libc/named.h"
#include "os/libc/real.h"

#define RANGES_MAX	16
/* Bytes of malloc's before its first exported function, and of its last. */
#define MALLOC_BEFORE	12288
#define MALLOC_AFTER	256
#define MALLOC_MOST	65536	/* from the first to the last */

struct range {
	_Atomic uintptr_t from, to;
};

/* Updated in place: meanwhile a reader may see a range twice, or not at all. */
static struct range ranges[RANGES_MAX];
static struct range malloc_text, libc_text[2];	/* before glibc 2.34: libpthread's too */
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

/* All executable parts of the object. */
static void take_text(const struct dl_phdr_info *info, struct range *r)
{
	uintptr_t from = UINTPTR_MAX, to = 0;

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
	store_relaxed(&r->from, from);
	store_relaxed(&r->to, to);
}

/* What is at *arg is malloc's. */
static int take_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	const uintptr_t *base = arg;

	(void)size;
	if (info->dlpi_addr != *base)
		return 0;
	take_text(info, &malloc_text);
	return 1;
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *arg)
{
	static const char *const names[][2] = {
		{ "libc.so", "libc-" }, { "libpthread.so", "libpthread-" },
	};

	(void)size;
	(void)arg;
	for (int i = 0; i < 2; i++)
		if (wefti_os_is_named(info->dlpi_name, names[i], 2))
			take_text(info, &libc_text[i]);
	return 0;
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
		uintptr_t at = (uintptr_t)wefti_os_real(names[i]);

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
	dl_iterate_phdr(find_libc, NULL);
}

static int is_in(const struct range *r, uintptr_t pc)
{
	return pc >= load_relaxed(&r->from) && pc < load_relaxed(&r->to);
}

int wefti_os_text_is_locked(uintptr_t pc)
{
	uint32_t count = load_seq_cst(&range_count);

	for (uint32_t i = 0; i < count; i++)
		if (is_in(&ranges[i], pc))
			return 1;
	return 0;
}

int wefti_os_text_is_libcs(uintptr_t pc)
{
	return is_in(&libc_text[0], pc) || is_in(&libc_text[1], pc);
}

int wefti_os_text_waits(const ucontext_t *uc)
{
	if (!wefti_os_text_is_libcs(wefti_arch_ucontext_pc(uc)))
		return 0;
	switch (wefti_arch_ucontext_call(uc)) {
	case SYS_brk: case SYS_mmap: case SYS_munmap: case SYS_mremap:
	case SYS_madvise: case SYS_mprotect: case SYS_futex:
	case SYS_getrandom: case SYS_prctl: case SYS_sched_getaffinity:
	case SYS_rt_sigreturn:
		return 0;
	case -1:
		return wefti_arch_ucontext_was_ended(uc);
	}
	return 1;
}

int wefti_os_text_is_mallocs(uintptr_t pc)
{
	return is_in(&malloc_text, pc);
}
