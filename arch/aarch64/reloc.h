/* SPDX-License-Identifier: MIT */
/* arch/aarch64/reloc.h - the relocations that hold the address of a function */
#ifndef WEFT_ARCH_RELOC_H
#define WEFT_ARCH_RELOC_H

#include <elf.h>

#define WEFTI_ARCH_R_CALLED	R_AARCH64_JUMP_SLOT
#define WEFTI_ARCH_R_NAMED	R_AARCH64_GLOB_DAT

#endif
