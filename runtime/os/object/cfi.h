/* SPDX-License-Identifier: MIT */
/*
 * os/object/cfi.h - from a function's frame to its caller's, by the unwind tables
 *
 * One user at a time: the dump's lock.
 */
#ifndef WEFT_OS_OBJECT_CFI_H
#define WEFT_OS_OBJECT_CFI_H

#include <stddef.h>
#include <stdint.h>

#include "registers.h"

/* Registers by DWARF's numbers. Others, of floating point, are left out. */
struct wefti_cfi_frame {
	uintptr_t pc;
	uintptr_t reg[WEFTI_ARCH_UNWIND_REGISTERS];
};

/* Memory, of which any address may be wrong. Returns 0 if not all of it was read. */
int wefti_os_unwind_read(void *to, uintptr_t from, size_t bytes);

/*
 * A program of DWARF's stack machine, which finds *value on its stack.
 * Returns 0, or -1.
 */
int wefti_os_cfi_expression(const struct wefti_cfi_frame *f, uintptr_t at, size_t bytes,
			    uintptr_t *value);

/*
 * Makes the frame its caller's. `pc` is in the function: of a return address it is one
 * less, since the call may be the function's last instruction.
 * Returns 0; -ENOENT: no table has it; -EINVAL: nothing calls it, or the table is wrong.
 * The frame is then of no use.
 */
int wefti_os_cfi_step(struct wefti_cfi_frame *f, uintptr_t pc);

/* Forgets what it has found: the tables may be others now. */
void wefti_os_cfi_forget(void);

#endif
