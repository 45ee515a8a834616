/* SPDX-License-Identifier: MIT */
/*
 * pthread/process/environment.c - the LD_PRELOAD of a program that is started
 *
 * This code uses system calls, no malloc(), and writes to no memory of the caller: the
 * caller may be the child of a vfork(), and its environment may be constant.
 */
#include "pthread/process/environment.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/call/missing.h"
#include "os/object/program.h"
#include "syscall.h"

#define VARIABLE	"LD_PRELOAD="
#define LIBRARY		"libweft-pthread.so"
#define BETWEEN		" :"		/* the loader's separators */

static int is_variable(const char *entry)
{
	return strncmp(entry, VARIABLE, strlen(VARIABLE)) == 0;
}

/* Is it this library, in any folder? */
static int is_ours(const char *name, size_t length)
{
	const size_t own = strlen(LIBRARY);

	return length >= own && memcmp(name + length - own, LIBRARY, own) == 0 &&
	       (length == own || name[length - own - 1] == '/');
}

/*
 * The next name in the list at *at. Moves *at behind that name. Returns its length; 0:
 * there is none.
 */
static size_t next_name(const char **at, const char **name)
{
	size_t length;

	*at += strspn(*at, BETWEEN);
	*name = *at;
	length = strcspn(*at, BETWEEN);
	*at += length;
	return length;
}

/* Finds our name in the variable. NULL: it is not there. */
static const char *find_ours(const char *entry, size_t *length)
{
	const char *at = entry + strlen(VARIABLE), *name;

	while ((*length = next_name(&at, &name)) > 0)
		if (is_ours(name, *length))
			return name;
	return NULL;
}

/* access(). If that call is not available, looks at the file's mode. */
static int may_access(const char *path, int how)
{
	long error = wefti_arch_syscall(SYS_faccessat, AT_FDCWD, (long)path, how,
					0, 0, 0);
	struct stat st;

	if (likely(!wefti_os_is_missing(error)) || error == -EACCES)
		return error == 0;
	return wefti_arch_syscall(SYS_newfstatat, AT_FDCWD, (long)path,
				  (long)&st, 0, 0, 0) == 0 &&
	       (how != X_OK || (st.st_mode & 0111));
}

/* Would the loader find the file? It searches itself for a name without a folder. */
static int is_there(const char *name, size_t length)
{
	char path[PATH_MAX];

	if (length >= sizeof(path) || !memchr(name, '/', length))
		return 1;
	memcpy(path, name, length);
	path[length] = 0;
	return may_access(path, R_OK);
}

size_t wefti_environment_room(int dirfd, const char *path, char *const *envp)
{
	const char *ours = NULL;
	size_t count = 0, bytes = 0, length = 0;

	for (; envp && envp[count]; count++) {
		if (!is_variable(envp[count]))
			continue;
		bytes += strlen(envp[count]) + 1;
		if (!ours)
			ours = find_ours(envp[count], &length);
	}
	if (!ours || !path ||
	    (is_there(ours, length) &&
	     wefti_os_program(dirfd, path) == WEFTI_PROGRAM_TAKES))
		return 0;
	return (count + 1) * sizeof(*envp) + bytes;
}

/* Copies the variable without our name. Returns how many names are left. */
static int copy_others(const char *entry, char *to)
{
	const char *at = entry + strlen(VARIABLE), *name;
	size_t length;
	int count = 0;

	strcpy(to, VARIABLE);
	to += strlen(VARIABLE);
	while ((length = next_name(&at, &name)) > 0) {
		if (is_ours(name, length))
			continue;
		if (count++)
			*to++ = BETWEEN[1];
		memcpy(to, name, length);
		to += length;
		*to = 0;
	}
	return count;
}

char **wefti_environment_without(char *const *envp, void *room)
{
	char **new = room, *text;
	size_t count = 0, length, n = 0;

	while (envp[count])
		count++;
	text = (char *)(new + count + 1);
	for (size_t i = 0; i < count; i++) {
		if (!is_variable(envp[i]) || !find_ours(envp[i], &length)) {
			new[n++] = envp[i];
		} else if (copy_others(envp[i], text) > 0) {
			new[n++] = text;
			text += strlen(text) + 1;
		}
	}
	new[n] = NULL;
	return new;
}

void *wefti_environment_memory(size_t bytes)
{
	long at = wefti_arch_syscall(SYS_mmap, 0, (long)bytes,
				     PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at < 0 && at > -4096 ? NULL : (void *)at;
}

const char *wefti_environment_find(const char *file, char found[PATH_MAX])
{
	const char *path = getenv("PATH");
	size_t name = file ? strlen(file) : 0;

	if (!file || strchr(file, '/'))
		return file;
	for (path = path ? path : "/bin:/usr/bin"; *path;) {
		size_t folder = strcspn(path, ":");

		if (folder + name + 2 <= PATH_MAX) {
			memcpy(found, path, folder);
			found[folder] = '/';
			memcpy(found + folder + (folder > 0), file, name + 1);
			if (may_access(found, X_OK))
				return found;
		}
		path += folder;
		path += *path == ':';
	}
	return NULL;
}
