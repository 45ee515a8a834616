/* SPDX-License-Identifier: MIT */
/* arch/aarch64/reloc.h - what relocations say about functions */
#ifndef WEFT_ARCH_RELOC_H
#define WEFT_ARCH_RELOC_H

#include <elf.h>
#include <stdint.h>

/* The relocations that hold the address of a function. */
#define WEFTI_ARCH_R_CALLED	R_AARCH64_JUMP_SLOT
#define WEFTI_ARCH_R_NAMED	R_AARCH64_GLOB_DAT
#define WEFTI_ARCH_R_POINTER	R_AARCH64_ABS64	/* in data */

/* The others in a library: an address in it, and what a variable in TLS has. */
#define WEFTI_ARCH_R_RELATIVE	R_AARCH64_RELATIVE
#define WEFTI_ARCH_R_TLS_MODULE	R_AARCH64_TLS_DTPMOD
#define WEFTI_ARCH_R_TLS_OFFSET	R_AARCH64_TLS_DTPREL
#define WEFTI_ARCH_R_TLSDESC	R_AARCH64_TLSDESC

typedef unsigned long wefti_arch_auxval_fn(unsigned long type);

/*
 * The function of an indirect symbol: the symbol is a function that chooses it. That
 * one gets the CPU's features, with a bit that says that there is a second argument
 * (AAELF64, 5.7.5, "Relocation of indirect functions"; glibc's sys/ifunc.h).
 */
static inline void *wefti_arch_indirect(uintptr_t chooser,
					wefti_arch_auxval_fn *auxval)
{
	struct {
		unsigned long bytes, hwcap, hwcap2;
	} more = { sizeof(more), 0, 0 };

	if (auxval) {
		more.hwcap = auxval(AT_HWCAP);
		more.hwcap2 = auxval(AT_HWCAP2);
	}
	return ((void *(*)(uint64_t, const void *))chooser)(
		more.hwcap | UINT64_C(1) << 62, &more);
}

#endif
