/* SPDX-License-Identifier: MIT */
/*
 * observe/layout.h - where a debugger finds the threads, by name
 *
 * tools/weft-gdb.py and cli/core_threads.c read it: also from a core file, also where
 * nothing of weft has debug information.
 */
#ifndef WEFT_OBSERVE_LAYOUT_H
#define WEFT_OBSERVE_LAYOUT_H

#include <stdint.h>

/* "at.x" is an address, "x.y" an offset in x or a value of it. */
struct wefti_layout {
	char name[24];
	int64_t value;
};

/* Raised if an entry changes its meaning. New entries leave it alone. */
#define WEFTI_LAYOUT_VERSION	1

/*
 * Begins with "weft layout", the version, and ends with an empty name. The libraries
 * export it as wefti_debug_layout. An ELF note of the owner "weft" and this type also
 * leads to it: its 8 bytes are the distance from themselves to the table.
 */
extern const struct wefti_layout wefti_layout[]
	__attribute__((visibility("hidden")));

#define WEFTI_LAYOUT_NOTE	1

/* Fills in what is known only when the program runs. */
void wefti_layout_begin(void);

/* Another table, of a layer above. It stays. */
void wefti_layout_add(const struct wefti_layout *more);

#endif
