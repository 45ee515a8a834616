/* SPDX-License-Identifier: MIT */
/* os/call/tasks.c - all kernel threads of the process, as the kernel lists them */
#include "os/call/tasks.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/format.h"
#include "os/call/root.h"
#include "syscall.h"

static int number(const char *text)
{
	int n = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		n = n * 10 + (*text - '0');
	return n;
}

int wefti_os_tasks(void (*visit)(int tid, void *arg), void *arg)
{
	_Alignas(8) char buf[2048];
	long fd = wefti_os_proc_open("/proc/self/task", O_RDONLY | O_DIRECTORY);
	int count = 0;
	long n;

	if (fd < 0)
		return -1;
	while ((n = wefti_arch_syscall(SYS_getdents64, fd, (long)buf,
				       sizeof(buf), 0, 0, 0)) > 0)
		for (long at = 0; at < n; ) {
			const struct dirent64 *d = (void *)(buf + at);
			int tid = number(d->d_name);

			at += d->d_reclen;
			if (tid == 0)
				continue;
			count++;
			if (visit)
				visit(tid, arg);
		}
	wefti_arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return n < 0 ? -1 : count;
}

/*
 * Reads it as a string, cut to fit. Returns 0, with "": it cannot be read, or is empty.
 */
static int read_file(const char *path, char *buf, size_t size)
{
	long fd = wefti_os_proc_open(path, O_RDONLY), n;

	buf[0] = 0;
	if (fd < 0)
		return 0;
	n = wefti_arch_syscall(SYS_read, fd, (long)buf, (long)size - 1, 0, 0, 0);
	wefti_arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	buf[n > 0 ? n : 0] = 0;
	return n > 0;
}

int wefti_os_task_text(int tid, const char *file, char *buf, size_t size)
{
	char path[64];

	wefti_format(path, sizeof(path), "/proc/self/task/%d/%s", tid, file);
	return read_file(path, buf, size);
}

void wefti_os_task_line(int tid, const char *file, char *buf, size_t size)
{
	(void)wefti_os_task_text(tid, file, buf, size);
	buf[strcspn(buf, "\n")] = 0;
}

/* The value of a line of /proc/TID/status, for a kernel thread of any process; or "". */
static const char *status(int tid, const char *name, char *buf, size_t size)
{
	char path[64], *at;

	wefti_format(path, sizeof(path), "/proc/%d/status", tid);
	(void)read_file(path, buf, size);
	at = strstr(buf, name);
	return at ? at + strlen(name) : "";
}

int wefti_os_tracer(int tid)
{
	char buf[1024];

	return number(status(tid, "\nTracerPid:\t", buf, sizeof(buf)));
}

/* The process of a folder in /proc, which the kernel accepts in place of a pidfd. */
static int process_of_folder(int fd)
{
	char path[64], name[64], *end;
	long n, process;

	wefti_format(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = wefti_arch_syscall(SYS_readlinkat, AT_FDCWD, (long)path, (long)name,
			       sizeof(name) - 1, 0, 0);
	name[n > 0 ? n : 0] = 0;
	if (strncmp(name, "/proc/", 6) != 0)
		return -1;
	process = strtol(name + 6, &end, 10);
	return process > 0 && *end == 0 ? (int)process : -1;
}

int wefti_os_pidfd_process(int fd)
{
	char path[64], buf[512], *at;

	wefti_format(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	(void)read_file(path, buf, sizeof(buf));
	at = strstr(buf, "\nPid:\t");
	return at ? (int)strtol(at + 6, NULL, 10) : process_of_folder(fd);
}

int wefti_os_task_blocks(int tid, int signal)
{
	char buf[2048];
	const char *mask = status(tid, "\nSigBlk:\t", buf, sizeof(buf));

	return strtoull(mask, NULL, 16) >> (signal - 1) & 1;
}
