/* SPDX-License-Identifier: MIT */
/*
 * pthread/core/real.h - libc's own definitions of what this library interposes
 *
 * They are found once, when the library is loaded, before the program's constructors run.
 * REAL(pthread_create)(...) calls one. A wrapper never looks one up: dlsym() takes the
 * loader's lock and may allocate.
 */
#ifndef WEFT_PTHREAD_CORE_REAL_H
#define WEFT_PTHREAD_CORE_REAL_H

#include "base/compiler.h"
#include "pthread/core/prototypes.h"
#include "pthread/core/table.h"

#define WEFTI_OURS(name, note)		__typeof__(name) *name;
#define WEFTI_LIBC(name, note)
#define WEFTI_PLANNED(name, note)
struct wefti_real {
	WEFTI_TABLE(WEFTI_OURS, WEFTI_LIBC, WEFTI_PLANNED)
};
#undef WEFTI_OURS
#undef WEFTI_LIBC
#undef WEFTI_PLANNED

extern struct wefti_real wefti_real __attribute__((visibility("hidden")));

void wefti_real_find(void);

/*
 * The same without dlsym(), for what is not found yet. In glibc 2.31 the first dlsym()
 * calls pthread_once(), which is ours and must not call dlsym() again.
 */
void wefti_real_find_in_libc(void);

/* Another library's constructor may call a wrapper before our constructor has run. */
#define REAL(name) \
	(likely(wefti_real.name) ? wefti_real.name : \
	 (wefti_real_find(), wefti_real.name))

#define EXPORT	__attribute__((visibility("default")))

#endif
