/* SPDX-License-Identifier: MIT */
/*
 * os/object/code_on_stack.c - does the program ask for stacks on which code may run?
 *
 * The headers of the files tell, as for the loader. A file without the header, as old
 * linkers made them, asks for it. Files in other namespaces (dlmopen) are not seen.
 */
#include "os/object/code_on_stack.h"

#include <link.h>
#include <stddef.h>
#include <sys/auxv.h>

/* The kernel's own object has no such header, and does not ask for it. */
static int is_kernels(const struct dl_phdr_info *info, unsigned long vdso)
{
	const ElfW(Phdr) *ph = info->dlpi_phdr;

	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (ph[i].p_type == PT_LOAD)
			return info->dlpi_addr + ph[i].p_vaddr == vdso;
	return 0;
}

static int asks(struct dl_phdr_info *info, size_t size, void *vdso)
{
	const ElfW(Phdr) *ph = info->dlpi_phdr;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (ph[i].p_type == PT_GNU_STACK)
			return (ph[i].p_flags & PF_X) != 0;
	return !is_kernels(info, *(unsigned long *)vdso);
}

int wefti_os_code_on_stack(void)
{
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR);

	return dl_iterate_phdr(asks, &vdso);
}
