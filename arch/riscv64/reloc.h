/* SPDX-License-Identifier: MIT */
/* arch/riscv64/reloc.h - what relocations say about functions */
#ifndef WEFT_ARCH_RELOC_H
#define WEFT_ARCH_RELOC_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "syscall.h"

/* The relocations that hold the address of a function. */
#define WEFTI_ARCH_R_CALLED	R_RISCV_JUMP_SLOT
#define WEFTI_ARCH_R_NAMED	R_RISCV_JUMP_SLOT	/* it has none of its own: */
#define WEFTI_ARCH_R_POINTER	R_RISCV_64	/* in data and in the GOT */

/* The others in a library: an address in it, and what a variable in TLS has. */
#define WEFTI_ARCH_R_RELATIVE	R_RISCV_RELATIVE
#define WEFTI_ARCH_R_TLS_MODULE	R_RISCV_TLS_DTPMOD64
#define WEFTI_ARCH_R_TLS_OFFSET	R_RISCV_TLS_DTPREL64
#define WEFTI_ARCH_R_TLSDESC	12	/* newer than the headers */

typedef unsigned long wefti_arch_auxval_fn(unsigned long type);

/*
 * The function of an indirect symbol: the symbol is a function that chooses it. That
 * one gets the CPU's features, and since glibc 2.40 a function that tells more of them.
 * The third argument is kept for later (glibc's sys/ifunc.h).
 */
static inline void *wefti_arch_indirect(uintptr_t chooser,
					wefti_arch_auxval_fn *auxval)
{
	typedef int hwprobe_fn(void *, size_t, size_t, unsigned long *, unsigned);

	return ((void *(*)(uint64_t, hwprobe_fn *, void *))chooser)(
		auxval ? auxval(AT_HWCAP) : 0, wefti_arch_hwprobe, NULL);
}

#endif
