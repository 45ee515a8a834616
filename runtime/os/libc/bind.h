/* SPDX-License-Identifier: MIT */
/*
 * os/libc/bind.h - changes which functions a loaded library calls
 *
 * For a library whose calls must not reach a definition in front of libc. To be used
 * while the process has one thread: else another thread's lock could be taken by the one
 * function and released by the other.
 */
#ifndef WEFT_OS_LIBC_BIND_H
#define WEFT_OS_LIBC_BIND_H

#include <stddef.h>
#include <stdint.h>

struct wefti_os_binding {
	const char *name;
	void *to;	/* NULL: as it is */
};

/*
 * Binds all that the object at base imports by one of these names. Returns 0 if all is
 * bound. Else nothing is: -ENOENT, there is no such object, or mprotect()'s error.
 */
int wefti_os_bind(uintptr_t base, const struct wefti_os_binding *bindings,
		  size_t count);

/*
 * The same, but only for names that are bound to libc's function or not bound yet. Names
 * that the object defines itself stay.
 */
int wefti_os_bind_libcs(uintptr_t base, const struct wefti_os_binding *bindings,
			size_t count);

/*
 * Binds libc's functions that are imported by the library whose file's name begins so,
 * except malloc's: to `bindings` if they have the name, and else to libc's. So its calls
 * do not reach the program's definitions. Returns as above.
 */
int wefti_os_bind_apart(const char *file, const struct wefti_os_binding *bindings,
			size_t count);

#endif
