/* SPDX-License-Identifier: MIT */
/* os/object/go.h - does an object have Go's runtime in it? */
#ifndef WEFT_OS_OBJECT_GO_H
#define WEFT_OS_OBJECT_GO_H

#include <stddef.h>

/* Are these notes of such an object's (PT_NOTE)? */
int wefti_os_go_is_noted(const void *notes, size_t bytes);

/* Is the program one, or a library that is loaded? Takes the loader's lock. */
int wefti_os_go_is_here(void);

/* Does the address lie in one that is loaded? The same. */
int wefti_os_go_has(const void *address);

#endif
