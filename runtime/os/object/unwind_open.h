/* SPDX-License-Identifier: MIT */
/* os/object/unwind_open.h - finds libunwind, and links it when it is needed */
#ifndef WEFT_OS_OBJECT_UNWIND_OPEN_H
#define WEFT_OS_OBJECT_UNWIND_OPEN_H

/*
 * Maps it. Returns 0, or -ENOENT: it is not there, or the process has another root than at
 * its start.
 */
int wefti_os_unwind_map(void);

/* Once, when it is mapped. Returns 0, or -ENOEXEC. */
int wefti_os_unwind_link(void);

/* When it is linked: a function of its. NULL: there is none. */
void *wefti_os_unwind_function(const char *name);

#endif
