/* SPDX-License-Identifier: MIT */
/*
 * explore/heap.c - memory that changes its owner: accesses of before are forgotten
 *
 * malloc() gives memory that another thread has freed, and its own locks are no order that
 * the program may rely on. A free counts as a write: nobody may use the memory at the same
 * time, or behind it, until it is given anew. A new thread has a stack and thread-local storage that another one may have had.
 *
 * These functions may be called before the library has begun, and by the loader. Until then
 * they are the next library's alone.
 */
#include "race.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "real.h"

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	size_t (*usable)(void *);
	void *(*mmap)(void *, size_t, int, int, int, off_t);
} next;

/*
 * Before all others (real.c): dlsym() of a name that is not there calls malloc(), and must not
 * be called again from inside of that. free is found last.
 */
void wefti_ex_heap_find(void)
{
	next.malloc = (__typeof__(next.malloc))dlsym(RTLD_NEXT, "malloc");
	next.calloc = (__typeof__(next.calloc))dlsym(RTLD_NEXT, "calloc");
	next.realloc = (__typeof__(next.realloc))dlsym(RTLD_NEXT, "realloc");
	next.memalign = (__typeof__(next.memalign))dlsym(RTLD_NEXT, "memalign");
	next.valloc = (__typeof__(next.valloc))dlsym(RTLD_NEXT, "valloc");
	next.pvalloc = (__typeof__(next.pvalloc))dlsym(RTLD_NEXT, "pvalloc");
	next.posix_memalign =
		(__typeof__(next.posix_memalign))dlsym(RTLD_NEXT, "posix_memalign");
	next.usable = (__typeof__(next.usable))dlsym(RTLD_NEXT, "malloc_usable_size");
	next.mmap = (__typeof__(next.mmap))dlsym(RTLD_NEXT, "mmap");
	next.free = (__typeof__(next.free))dlsym(RTLD_NEXT, "free");
}

#define NEXT(name)	(*(next.free ? (void)0 : wefti_ex_heap_find(), &next.name))

static struct wefti_ex_thread *watched(void)
{
	return wefti_ex.looks_for_races ? wefti_ex_toucher() : NULL;
}

static void *forgotten(void *memory, size_t bytes)
{
	const int was = wefti_ex_shut();

	wefti_ex_forget(memory, bytes);
	wefti_ex_open(was);
	return memory;
}

static void *given(void *memory)
{
	return memory && watched() ? forgotten(memory, NEXT(usable)(memory)) : memory;
}

static void freed(void *memory, const void *where)
{
	struct wefti_ex_thread *self = memory ? watched() : NULL;
	int was;

	if (!self)
		return;
	was = wefti_ex_shut();
	wefti_ex_race_free(self, memory, NEXT(usable)(memory), where);
	wefti_ex_open(was);
}

EXPORT void *malloc(size_t bytes)
{
	return given(NEXT(malloc)(bytes));
}

EXPORT void *calloc(size_t n, size_t bytes)
{
	return given(NEXT(calloc)(n, bytes));
}

/* Where it fails, the old memory is as it was; but a free of it was looked at. */
EXPORT void *realloc(void *memory, size_t bytes)
{
	void *new;

	freed(memory, CALLER);
	new = NEXT(realloc)(memory, bytes);
	if (!new && bytes)
		(void)given(memory);
	return given(new);
}

EXPORT void free(void *memory)
{
	freed(memory, CALLER);
	NEXT(free)(memory);
}

EXPORT void *memalign(size_t alignment, size_t bytes)
{
	return given(NEXT(memalign)(alignment, bytes));
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
	return given(NEXT(memalign)(alignment, bytes));
}

EXPORT void *valloc(size_t bytes)
{
	return given(NEXT(valloc)(bytes));
}

EXPORT void *pvalloc(size_t bytes)
{
	return given(NEXT(pvalloc)(bytes));
}

EXPORT int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
	const int error = NEXT(posix_memalign)(memory, alignment, bytes);

	if (!error)
		(void)given(*memory);
	return error;
}

/* The pages of a mapping that another thread has taken away, without a free(). */
EXPORT void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	void *memory = NEXT(mmap)(at, bytes, protection, flags, fd, offset);

	return memory != MAP_FAILED && watched() ? forgotten(memory, bytes) : memory;
}

EXPORT void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
	return mmap(at, bytes, protection, flags, fd, offset);
}

static int forget_tls(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)unused;
	if (size < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof(void *) ||
	    !info->dlpi_tls_data)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			wefti_ex_forget(info->dlpi_tls_data, info->dlpi_phdr[i].p_memsz);
	return 0;
}

void wefti_ex_forget_own(void)
{
	pthread_attr_t attr;
	size_t bytes;
	void *stack;
	int was;

	if (!wefti_ex.looks_for_races)
		return;
	was = wefti_ex_shut();
	if (!wefti_ex.is_native && pthread_getattr_np(pthread_self(), &attr) == 0) {
		if (pthread_attr_getstack(&attr, &stack, &bytes) == 0)
			wefti_ex_forget(stack, bytes);
		(void)pthread_attr_destroy(&attr);
	}
	(void)dl_iterate_phdr(forget_tls, NULL);
	wefti_ex_open(was);
}
