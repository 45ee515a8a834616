/* SPDX-License-Identifier: MIT */
/* pthread/init/deepbind.h - plug-ins that look for libc's functions past this library */
#ifndef WEFT_PTHREAD_INIT_DEEPBIND_H
#define WEFT_PTHREAD_INIT_DEEPBIND_H

typedef void *wefti_dlopen_fn(const char *file, int mode);

/* Loads it, and has what came with it call this library. Returns what `load` does. */
void *wefti_deepbind(wefti_dlopen_fn *load, const char *file, int mode);

/* liburcu calls this library, or libc, and not the program. At the load. */
void wefti_bind_quiescent(void);

#endif
