/* SPDX-License-Identifier: MIT */
/* arch/x86_64/reloc.h - what relocations say about functions */
#ifndef WEFT_ARCH_RELOC_H
#define WEFT_ARCH_RELOC_H

#include <elf.h>
#include <stdint.h>

/* The relocations that hold the address of a function. */
#define WEFTI_ARCH_R_CALLED	R_X86_64_JUMP_SLOT
#define WEFTI_ARCH_R_NAMED	R_X86_64_GLOB_DAT
#define WEFTI_ARCH_R_POINTER	R_X86_64_64	/* in data */

typedef unsigned long wefti_arch_auxval_fn(unsigned long type);

/* The function of an indirect symbol: the symbol is a function that chooses it. */
static inline void *wefti_arch_indirect(uintptr_t chooser,
					wefti_arch_auxval_fn *auxval)
{
	(void)auxval;
	return ((void *(*)(void))chooser)();
}

#endif
