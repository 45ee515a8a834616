/* SPDX-License-Identifier: MIT */
/*
 * os/libc/bind.h - what a library that is loaded calls is changed
 *
 * For a library whose calls are not to reach what stands in front of libc. While the
 * process is one thread: another's lock could be taken by the one function and given back
 * by the other.
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
 * The object at base: whatever it imports by one of these names. All of it, and 0; or
 * nothing, and -ENOENT, where there is none, or what mprotect() says.
 */
int wefti_os_bind(uintptr_t base, const struct wefti_os_binding *bindings,
		  size_t count);

/*
 * The same, of what is bound to libc's function of that name or not bound yet. What the
 * object defines itself stays as it is.
 */
int wefti_os_bind_libcs(uintptr_t base, const struct wefti_os_binding *bindings,
			size_t count);

/*
 * The library whose file's name begins so: what functions of libc's it imports, but for
 * malloc's, is bound to `bindings` where they have the name, and else to libc's. So the
 * program does not answer its calls. Returns as above.
 */
int wefti_os_bind_apart(const char *file, const struct wefti_os_binding *bindings,
			size_t count);

#endif
