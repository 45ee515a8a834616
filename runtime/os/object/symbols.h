/* SPDX-License-Identifier: MIT */
/*
 * os/object/symbols.h - which function an address lies in
 *
 * By the symbol tables of the objects' files, which are mapped from the first
 * use until wefti_os_symbols_forget(). No malloc, no lock. One user at a time.
 */
#ifndef WEFT_OS_OBJECT_SYMBOLS_H
#define WEFT_OS_OBJECT_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "os/object/objects.h"

/*
 * Writes the function's name, as the file has it, and returns the offset in it.
 * -1: not known, buf is empty.
 */
long wefti_os_symbol(const struct wefti_object *o, uintptr_t pc, char *buf,
		     size_t size);

void wefti_os_symbols_forget(void);

/*
 * The same in the child of a fork, if another thread was using the symbols. The mappings
 * stay, because that thread may have been about to forget one, and unmapped it already.
 */
void wefti_os_symbols_abandon(void);

#endif
