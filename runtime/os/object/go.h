/* SPDX-License-Identifier: MIT */
/* os/object/go.h - does an object have Go's runtime in it? */
#ifndef WEFT_OS_OBJECT_GO_H
#define WEFT_OS_OBJECT_GO_H

#include <stddef.h>

/* Are these notes (PT_NOTE) those of such an object? */
int wefti_os_go_is_noted(const void *notes, size_t bytes);

/* Is the program or a loaded library such an object? Takes the loader's lock. */
int wefti_os_go_is_here(void);

/* Is the address in a loaded object of that kind? Takes the loader's lock. */
int wefti_os_go_has(const void *address);

#endif
