/* SPDX-License-Identifier: MIT */
/*
 * os/object/dormant.h - a library that is mapped now, and linked when it is needed
 *
 * To map it costs a file that is opened, and a few mappings of which no page is touched.
 * To link it makes no system call, opens no file, and takes no lock. So the code is that of
 * the file that was mapped, whatever the program does in between. (It must not write into
 * the file: that would change any library that a process has loaded.)
 */
#ifndef WEFT_OS_OBJECT_DORMANT_H
#define WEFT_OS_OBJECT_DORMANT_H

#include <stddef.h>
#include <stdint.h>

#define WEFTI_DORMANT_SEGMENTS	8

struct wefti_dormant {
	uintptr_t base;		/* address - address in the file; 0: none is mapped */
	size_t bytes;		/* from base on */
	uintptr_t dynamic;
	struct {
		uintptr_t start, end;	/* zeros that lie in a page of the file */
	} zeros[WEFTI_DORMANT_SEGMENTS];
	size_t zeros_count;
};

/* What an imported name means. NULL: it is not there, and the library may not call it. */
typedef void *wefti_dormant_import_fn(const char *name);

/*
 * Maps the file. Returns 0, -ENOEXEC if it is no library for this CPU, or an error of
 * open(), read() or mmap(). The descriptor is closed again.
 */
int wefti_os_dormant_map(struct wefti_dormant *d, const char *path);
void wefti_os_dormant_unmap(struct wefti_dormant *d);

/*
 * Call it once. Relocates the library, and calls its constructors. Returns 0, or -ENOEXEC if
 * the library asks for something that is not done here; it must not be used then. Its
 * variables in TLS are not made: a function that uses one ends the process.
 */
int wefti_os_dormant_link(const struct wefti_dormant *d, wefti_dormant_import_fn *import);

/* A function that it exports; NULL: there is none. */
void *wefti_os_dormant_find(const struct wefti_dormant *d, const char *name);

#endif
