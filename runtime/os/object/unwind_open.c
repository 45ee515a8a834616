/* SPDX-License-Identifier: MIT */
/*
 * os/object/unwind_open.c - finds libunwind, and links it when it is needed
 *
 * The file is mapped at the start of the runtime, by an absolute path, and only if the root
 * is still that of the program's start. A library of another root would run with all the
 * process's rights. It is linked for the first dump. That needs no name, no descriptor and
 * no lock, so nothing that the program has done meanwhile has a part in it
 * (os/object/dormant.h). It is never unmapped.
 *
 * libunwind gets libc's own functions, and memory of ours: a dump allocates nothing of the
 * program's. It makes a pipe when it begins, for a way of unwinding that is not used here.
 * Descriptor numbers belong to the program, so it gets none. What it needs of liblzma and
 * of its sister libunwind.so is not used here either, so they are not loaded.
 *
 * Rejected:
 * - dlopen() at the start, in a kernel thread with a table of descriptors of its own. It
 *   was a third of the CPU time that a start takes, and most programs never dump.
 * - dlopen() a second later, or at the first dump. A program that had changed its root by
 *   then ran a library of the new root; and another thread may have the loader's lock.
 * - to link weft with it: libunwind has _Unwind_* functions of its own, which would replace
 *   libgcc's in the whole program. Its archive is not position-independent.
 */
#include "os/object/unwind_open.h"

#include <errno.h>
#include <libunwind.h>
#include <stddef.h>
#include <string.h>

#include "base/compiler.h"
#include "base/format.h"
#include "os/call/root.h"
#include "os/libc/bind.h"
#include "os/libc/libc.h"
#include "os/object/dormant.h"

#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)
#define LIBRARY		"libunwind-" TEXT(UNW_TARGET) ".so.8"

#define ROOM		(256 * 1024)	/* 1.6 takes 53 KiB of it */

static struct wefti_dormant library;

static char room[ROOM] __attribute__((aligned(16))) TABLE;
static size_t room_used;

/* What is freed is not used again. It allocates once, when it begins. */
static void *get_room(size_t bytes)
{
	void *got = room + room_used;

	if (bytes > ROOM - room_used)
		return NULL;
	room_used += (bytes + 15) & ~(size_t)15;
	if (room_used > ROOM)
		room_used = ROOM;
	return got;
}

/* Room that was not given out before is zeros. */
static void *get_zeros(size_t count, size_t bytes)
{
	return bytes && count > ROOM / bytes ? NULL : get_room(count * bytes);
}

static void leave_room(void *block)
{
	(void)block;
}

static int make_no_pipe(int fds[2], int flags)
{
	(void)fds;
	(void)flags;
	return -1;
}

static void *import(const char *name)
{
	static const struct wefti_os_binding ours[] = {
		{ "calloc", (void *)get_zeros },
		{ "free", (void *)leave_room },
		{ "malloc", (void *)get_room },
		{ "pipe", (void *)make_no_pipe },
		{ "pipe2", (void *)make_no_pipe },
	};

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (strcmp(name, ours[i].name) == 0)
			return ours[i].to;
	return wefti_os_libc(name);
}

/* In a folder: what libc is in, as loaded, and the same one below /usr. */
static int map_in(const char *below, const char *libc)
{
	const char *end = strrchr(libc, '/');
	size_t length = end ? (size_t)(end - libc) : 0;
	char path[256], folder[192];

	if (libc[0] != '/' || length >= sizeof(folder))
		return -ENOENT;
	memcpy(folder, libc, length);
	folder[length] = '\0';
	wefti_format(path, sizeof(path), "%s%s/%s", below, folder, LIBRARY);
	return wefti_os_dormant_map(&library, path);
}

int wefti_os_unwind_map(void)
{
	const char *libc = wefti_os_libc_path();

	if (!wefti_os_root_is_same())
		return -ENOENT;
	if (map_in("", libc) == 0 || map_in("/usr", libc) == 0 ||
	    wefti_os_dormant_map(&library, "/usr/local/lib/" LIBRARY) == 0)
		return 0;
	return -ENOENT;
}

int wefti_os_unwind_link(void)
{
	return wefti_os_dormant_link(&library, import);
}

void *wefti_os_unwind_function(const char *name)
{
	return wefti_os_dormant_find(&library, name);
}
