/* SPDX-License-Identifier: MIT */
/* os/object/unwind_open.h - finds libunwind, and loads it */
#ifndef WEFT_OS_OBJECT_UNWIND_OPEN_H
#define WEFT_OS_OBJECT_UNWIND_OPEN_H

/* As dlopen(). NULL, too, if the process has another root than at its start. */
void *wefti_os_unwind_open(void);

#endif
