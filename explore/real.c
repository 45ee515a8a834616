/* SPDX-License-Identifier: MIT */
/* explore/real.c - finds the next library's functions */
#include "real.h"

#include <dlfcn.h>

struct wefti_ex_real wefti_ex_real;

void wefti_ex_real_find(void)
{
	struct wefti_ex_real *r = &wefti_ex_real;

	wefti_ex_heap_find();
	wefti_ex_copies_find();

#define FIND(name)	r->name = (__typeof__(r->name))dlsym(RTLD_NEXT, #name);
	WEFTI_EX_REAL(FIND)
#undef FIND
	r->is_found = 1;
}
