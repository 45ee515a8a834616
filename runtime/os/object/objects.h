/* SPDX-License-Identifier: MIT */
/*
 * os/object/objects.h - the program and its libraries, without a lock
 *
 * dl_iterate_phdr() takes the loader's lock, which a thread that is stopped
 * inside dlopen() holds. Here the list is read as a debugger reads it, from the
 * list of link maps that the loader keeps for debuggers, by copies that cannot
 * fault. Objects in other namespaces (dlmopen) are not in it.
 *
 * One user at a time: the dump's lock.
 */
#ifndef WEFT_OS_OBJECT_OBJECTS_H
#define WEFT_OS_OBJECT_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

struct wefti_object {
	uintptr_t bias;		/* address - address in the file */
	uintptr_t low, high;	/* what its segments span */
	uintptr_t eh_frame_hdr;	/* 0: none */
	char path[256];		/* of the file; where there is none, a name */
};

/* Reads the list anew. */
void wefti_os_objects_read(void);

/* NULL: none. Valid until the next read. */
const struct wefti_object *wefti_os_object_of(uintptr_t address);

/* Its number in the list, for tables that go with it. */
size_t wefti_os_object_index(const struct wefti_object *o);

#define WEFTI_OBJECTS_MOST	512

#endif
