/* SPDX-License-Identifier: MIT */
/*
 * explore/copies.c - memcpy() and its like, which gcc leaves to libc: accesses all the same
 *
 * clang calls a hook for them. Only calls out of instrumented code count: another library
 * may have an order for its memory that nobody has told of.
 */
#include "race.h"

#include <dlfcn.h>
#include <string.h>

#include "real.h"

static struct {
	void *(*memcpy)(void *, const void *, size_t);
	void *(*memmove)(void *, const void *, size_t);
	void *(*memset)(void *, int, size_t);
} next;

void wefti_ex_copies_find(void)
{
	next.memcpy = (__typeof__(next.memcpy))dlsym(RTLD_NEXT, "memcpy");
	next.memmove = (__typeof__(next.memmove))dlsym(RTLD_NEXT, "memmove");
	next.memset = (__typeof__(next.memset))dlsym(RTLD_NEXT, "memset");
}

#define NEXT(name)	(*(next.memset ? (void)0 : wefti_ex_copies_find(), &next.name))

static int counts(const void *where)
{
	return (wefti_ex.looks_for_races || wefti_ex.learns) && wefti_ex_toucher() &&
	       wefti_ex_is_instrumented(where);
}

static void copies(const void *to, const void *from, size_t bytes, const void *where)
{
	wefti_ex_access_memory(from, bytes, WEFTI_EX_LOADS, where);
	wefti_ex_access_memory(to, bytes, WEFTI_EX_STORES, where);
}

EXPORT void *memcpy(void *to, const void *from, size_t bytes)
{
	if (counts(CALLER))
		copies(to, from, bytes, CALLER);
	return NEXT(memcpy)(to, from, bytes);
}

EXPORT void *memmove(void *to, const void *from, size_t bytes)
{
	if (counts(CALLER))
		copies(to, from, bytes, CALLER);
	return NEXT(memmove)(to, from, bytes);
}

EXPORT void *memset(void *to, int value, size_t bytes)
{
	if (counts(CALLER))
		wefti_ex_access_memory(to, bytes, WEFTI_EX_STORES, CALLER);
	return NEXT(memset)(to, value, bytes);
}
