/* SPDX-License-Identifier: MIT */
/*
 * os/object/unwind_open.c - finds libunwind, and loads it
 *
 * libunwind is loaded by dlopen(), so that weft can do without it. It is loaded locally,
 * because libunwind has _Unwind_* functions of its own, which would replace libgcc's in the
 * whole program. It is never unloaded. It is loaded by an absolute path, at the start of
 * the runtime, and only if the root is still that of the program's start. A library of
 * another root would run with all the process's rights. Before, it was loaded by its name
 * a second after the start, and a program that had called chroot() meanwhile ran what it
 * found there.
 */
#include "os/object/unwind_open.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <link.h>
#include <string.h>

#include "base/format.h"
#include "os/call/root.h"
#include "os/kthread/apart.h"
#include "os/libc/bind.h"
#include "os/libc/real.h"

#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)
#define ANY_VERSION	"libunwind-" TEXT(UNW_TARGET) ".so"
#define LIBRARY		ANY_VERSION ".8"

#if !defined(WEFT_TSAN) && !defined(WEFT_ASAN)
static int make_pipe(int fds[2])
{
	return wefti_os_pipe_high(fds, 0);
}

/*
 * Its calls of libc go by name, which a program may define: they are bound to libc's, but
 * for the pipe that it keeps (os/kthread/apart.c).
 */
static void bind_calls(void)
{
	const struct wefti_os_binding pipes[] = {
		{ "pipe2", (void *)wefti_os_pipe_high },
		{ "pipe", (void *)make_pipe },
	};

	(void)!wefti_os_bind_apart(LIBRARY, pipes, 2);
}
#endif

/* If the program has loaded it too, another thread may be in it, and it stays as it is. */
static void *open_file(const char *path, int is_there)
{
	void *library = is_there ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) :
				   NULL;

	if (library)
		return library;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
#if !defined(WEFT_TSAN) && !defined(WEFT_ASAN)
	if (library)
		bind_calls();
#endif
	return library;
}

/* In a folder: what libc is in, as loaded, and the same one below /usr. */
static void *open_in(const char *below, const char *libc, int is_there)
{
	const char *end = strrchr(libc, '/');
	size_t length = end ? (size_t)(end - libc) : 0;
	char path[256], folder[192];

	if (libc[0] != '/' || length >= sizeof(folder))
		return NULL;
	memcpy(folder, libc, length);
	folder[length] = '\0';
	wefti_format(path, sizeof(path), "%s%s/%s", below, folder, LIBRARY);
	return open_file(path, is_there);
}

/* What is loaded. */
struct search {
	uintptr_t in_libc;
	const char *libc;	/* its path, or NULL */
	int is_there;		/* some version of libunwind, by some path */
};

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	const uintptr_t at = s->in_libc - info->dlpi_addr;

	(void)size;
	if (!info->dlpi_name)
		return 0;
	if (strstr(info->dlpi_name, ANY_VERSION))
		s->is_there = 1;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
		    at - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz)
			s->libc = info->dlpi_name;
	return 0;
}

/* Not by dladdr(), which reads all names of libc's. */
void *wefti_os_unwind_open(void)
{
	struct search s = {
		.in_libc = (uintptr_t)wefti_os_real("gnu_get_libc_version"),
	};
	void *library = NULL;

	if (!wefti_os_root_is_same())
		return NULL;
	dl_iterate_phdr(look_at, &s);
	if (s.libc) {
		library = open_in("", s.libc, s.is_there);
		if (!library)
			library = open_in("/usr", s.libc, s.is_there);
	}
	return library ? library : open_file("/usr/local/lib/" LIBRARY, s.is_there);
}
