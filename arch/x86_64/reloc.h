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

/* The others in a library: an address in it, and what a variable in TLS has. */
#define WEFTI_ARCH_R_RELATIVE	R_X86_64_RELATIVE
#define WEFTI_ARCH_R_TLS_MODULE	R_X86_64_DTPMOD64
#define WEFTI_ARCH_R_TLS_OFFSET	R_X86_64_DTPOFF64
#define WEFTI_ARCH_R_TLSDESC	R_X86_64_TLSDESC

typedef unsigned long wefti_arch_auxval_fn(unsigned long type);

/* The function of an indirect symbol: the symbol is a function that chooses it. */
static inline void *wefti_arch_indirect(uintptr_t chooser,
					wefti_arch_auxval_fn *auxval)
{
	(void)auxval;
	return ((void *(*)(void))chooser)();
}

#endif
