/* SPDX-License-Identifier: MIT */
/*
 * cli/place.c - where this program is, and what lies beside it
 *
 * In a build tree, and in an installation that was moved as a whole, other files are
 * found from the program's own folder.
 *
 * realpath() fails at ".." where an old libseccomp has set the filter: it makes the
 * system call faccessat2() there, and gets EPERM.
 */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const char *told;	/* by weft, to weft-tools */

void weft_cli_self_is(const char *path)
{
	told = *path == '/' ? path : NULL;
}

/* Without /proc, as it was started. */
int weft_cli_self(char path[PATH_MAX])
{
	if (told)
		return snprintf(path, PATH_MAX, "%s", told) < PATH_MAX;

	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	const char *begun = (const char *)getauxval(AT_EXECFN);

	path[n > 0 ? n : 0] = 0;
	return n > 0 || (begun && realpath(begun, path));
}

int weft_cli_folder(char found[PATH_MAX], const char *from_here, const char *file)
{
	char here[PATH_MAX];
	char *end;

	if (!weft_cli_self(here) || !(end = strrchr(here, '/')))
		return 0;
	*end = 0;
	while (strncmp(from_here, "..", 2) == 0 && (end = strrchr(here, '/'))) {
		*end = 0;	/* no link is in it */
		from_here += from_here[2] == '/' ? 3 : 2;
	}
	return snprintf(found, PATH_MAX, "%s%s%s", here, *from_here ? "/" : "",
			from_here) < PATH_MAX && weft_cli_has(found, file);
}

int weft_cli_has(const char *folder, const char *file)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return access(path, R_OK) == 0;
}

int weft_cli_real(char real[PATH_MAX], const char *path)
{
	if (realpath(path, real))
		return 1;
	return errno == EPERM && snprintf(real, PATH_MAX, "%s", path) < PATH_MAX;
}
