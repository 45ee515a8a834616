/* SPDX-License-Identifier: MIT */
/*
 * cli/trace/attach.c - finds and maps the recorder's memory of another process
 *
 * The memory is a memfd, which another process can open through /proc. The kernel lets
 * the same user and root do so. It is mapped to be read, so nothing that happens here can
 * change it. Memory whose size is not sealed is passed over: the other process may be
 * anyone's, and could cut the memory off while it is read. It may also exchange the
 * descriptor behind the look at its name, so the open does not wait.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/drain.h"
#include "trace/recording.h"

#define LINK	"/memfd:" WEFTI_RECORD_FILE

static int is_memory(int folder, const char *name)
{
	char link[sizeof(LINK)];
	ssize_t n = readlinkat(folder, name, link, sizeof(link) - 1);

	link[n > 0 ? n : 0] = 0;
	return strcmp(link, LINK) == 0;
}

static const char *map(struct trace_memory *m, int fd)
{
	const int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	const char *why;
	void *start;

	/* Not yet, if it is just being made. */
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st) != 0 ||
	    (uint64_t)st.st_size < sizeof(m->head))
		return "";
	start = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (start == MAP_FAILED)
		return strerror(errno);
	m->live = start;
	m->bytes = (uint64_t)st.st_size;
	memcpy(&m->head, start, sizeof(m->head));
	why = memcmp(m->head.magic, WEFTI_RECORD_MAGIC, sizeof(m->head.magic)) != 0 ?
	      "" : trace_head_fault(&m->head, m->bytes);
	if (why)
		trace_detach(m);
	return why;
}

const char *trace_attach(struct trace_memory *m, long pid)
{
	const char *why = "";
	struct dirent *entry;
	char path[64];
	DIR *folder;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/fd", pid);
	folder = opendir(path);
	if (!folder)
		return strerror(errno);
	while (*why == 0 && (entry = readdir(folder))) {
		if (!is_memory(dirfd(folder), entry->d_name))
			continue;
		fd = openat(dirfd(folder), entry->d_name,
			    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		why = fd < 0 ? strerror(errno) : map(m, fd);
		if (fd >= 0)
			close(fd);
		if (!why)
			break;
	}
	closedir(folder);
	return why;
}

void trace_detach(struct trace_memory *m)
{
	if (m->live)
		munmap((void *)(uintptr_t)m->live, m->bytes);
	m->live = NULL;
}
