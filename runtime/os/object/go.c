/* SPDX-License-Identifier: MIT */
/*
 * os/object/go.c - does an object have Go's runtime in it?
 *
 * Go's linker leaves a note with the name "Go", whatever is stripped. Its runtime calls
 * the kernel by itself for signals and alternate stacks, knows kernel threads by their
 * ids, and keeps pointers to them: its threads have to be kernel threads.
 */
#include "os/object/go.h"

#include <link.h>
#include <stdint.h>
#include <string.h>

#define ALIGN		4	/* of what is in a note */

static size_t aligned(size_t bytes)
{
	return (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

int wefti_os_go_is_noted(const void *notes, size_t bytes)
{
	static const char name[] = "Go";
	const char *at = notes;
	ElfW(Nhdr) n;

	while (bytes >= sizeof(n)) {
		size_t whole;

		memcpy(&n, at, sizeof(n));
		if (n.n_namesz > bytes || n.n_descsz > bytes)
			return 0;
		whole = sizeof(n) + aligned(n.n_namesz) + aligned(n.n_descsz);
		if (whole > bytes)
			return 0;
		if (n.n_namesz >= sizeof(name) - 1 && n.n_namesz <= 2 * ALIGN &&
		    memcmp(at + sizeof(n), name, sizeof(name) - 1) == 0 &&
		    (n.n_namesz == sizeof(name) - 1 || !at[sizeof(n) + 2]))
			return 1;
		at += whole;
		bytes -= whole;
	}
	return 0;
}

static int has(const struct dl_phdr_info *info, uintptr_t address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD &&
		    address - info->dlpi_addr - p->p_vaddr < p->p_memsz)
			return 1;
	}
	return 0;
}

/* Looks for Go's runtime in any object, or in the one at the address *arg. */
static int find_go(struct dl_phdr_info *info, size_t size, void *arg)
{
	const uintptr_t *address = arg;

	(void)size;
	if (address && !has(info, *address))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_NOTE &&
		    wefti_os_go_is_noted((void *)(info->dlpi_addr + p->p_vaddr),
					 p->p_memsz))
			return 1;
	}
	return 0;
}

int wefti_os_go_is_here(void)
{
	return dl_iterate_phdr(find_go, NULL);
}

int wefti_os_go_has(const void *address)
{
	uintptr_t at = (uintptr_t)address;

	return dl_iterate_phdr(find_go, &at);
}
