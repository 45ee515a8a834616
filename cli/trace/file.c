/* SPDX-License-Identifier: MIT */
/*
 * cli/trace/file.c - the files of a trace: only their owner can read them
 *
 * A trace tells what a program does, and of a name in a folder where others can write
 * nobody knows what it will be. So a file that is there already is never written to.
 */
#include "trace/command.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int trace_file_new(const char *path)
{
	return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    S_IRUSR | S_IWUSR);
}

/* Not every file system has files without names. */
int trace_file_nameless(const char *path)
{
	char *copy = strdup(path);
	FILE *file;
	int fd = -1;

	if (copy) {
		fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC,
			  S_IRUSR | S_IWUSR);
		free(copy);
	}
	if (fd >= 0)
		return fd;
	file = tmpfile();
	if (!file)
		return -1;
	fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
	fclose(file);
	return fd;
}
