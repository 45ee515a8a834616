/* SPDX-License-Identifier: MIT */
/*
 * os/object/code_on_stack.c - does the program ask for stacks on which code may run?
 *
 * By the headers of the files, as the loader does: a file that says nothing, as old
 * linkers made them, asks for it. Those in other namespaces (dlmopen) are not seen.
 */
#include "os/object/code_on_stack.h"

#include <link.h>
#include <stddef.h>
#include <sys/auxv.h>

static int asks(struct dl_phdr_info *info, size_t size, void *vdso)
{
	const ElfW(Phdr) *ph = info->dlpi_phdr;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (ph[i].p_type == PT_GNU_STACK)
			return (ph[i].p_flags & PF_X) != 0;
	/* The kernel's own says nothing, and asks for nothing. */
	return info->dlpi_addr != *(unsigned long *)vdso;
}

int wefti_os_code_on_stack(void)
{
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR);

	return dl_iterate_phdr(asks, &vdso);
}
