/* SPDX-License-Identifier: MIT */
/* os/libc/named.h - libraries that are known by their names */
#ifndef WEFT_OS_LIBC_NAMED_H
#define WEFT_OS_LIBC_NAMED_H

#include <stddef.h>
#include <string.h>

/* Does the file's name begin with one of these? */
static inline int wefti_os_is_named(const char *path, const char *const *names,
				    size_t count)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < count; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return 1;
	return 0;
}

#endif
