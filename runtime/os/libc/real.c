/* SPDX-License-Identifier: MIT */
/* os/libc/real.c - libc's own functions, whatever stands in front of them */
#include "os/libc/real.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/compiler.h"
#include "os/libc/libc.h"

void *wefti_os_real(const char *name)
{
	void *found = NULL;

#if !defined(WEFT_TSAN) && !defined(WEFT_ASAN)
	found = wefti_os_libc(name);
#endif
	return found ? found : dlsym(RTLD_DEFAULT, name);
}
