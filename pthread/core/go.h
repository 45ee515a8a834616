/* SPDX-License-Identifier: MIT */
/* pthread/core/go.h - a library with Go's runtime, loaded when there are threads */
#ifndef WEFT_PTHREAD_CORE_GO_H
#define WEFT_PTHREAD_CORE_GO_H

#include <stdint.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"

enum {
	WEFTI_GO_NONE,	/* nothing was loaded since the runtime started */
	WEFTI_GO_LOOK,	/* a library may be loaded at any time */
	WEFTI_GO_HERE,
};

extern _Atomic uint8_t wefti_go_state __attribute__((visibility("hidden")));

/* Called before a library is loaded, while there are green threads. */
void wefti_go_may_come(void);

/* Checks again if something was loaded since the last check. */
int wefti_go_has_come(void);

/* Are new threads libc's from now on? */
static inline int wefti_go_is_here(void)
{
	return unlikely(load_relaxed(&wefti_go_state) != WEFTI_GO_NONE) &&
	       wefti_go_has_come();
}

#endif
