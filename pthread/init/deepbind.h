/* SPDX-License-Identifier: MIT */
/* pthread/init/deepbind.h - plug-ins that look for libc's functions past this library */
#ifndef WEFT_PTHREAD_INIT_DEEPBIND_H
#define WEFT_PTHREAD_INIT_DEEPBIND_H

typedef void *wefti_dlopen_fn(const char *file, int mode);

/*
 * Loads it, then binds it and what came with it to this library. Returns load's result.
 */
void *wefti_deepbind(wefti_dlopen_fn *load, const char *file, int mode);

/* Called at load: liburcu calls this library, or libc, and not the program. */
void wefti_bind_quiescent(void);

#endif
