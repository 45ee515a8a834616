/* SPDX-License-Identifier: MIT */
/*
 * os/call/shared_file.c - a file that processes share as memory, and which of them live
 */
#include "os/call/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/call/root.h"

#define LOCKS	((off_t)1 << 62)	/* where the lock bytes begin */

int wefti_os_file_open(const char *path, int mode)
{
	int flags = O_RDWR | O_CLOEXEC | (mode >= 0 ? O_CREAT : 0);
	int fd = open(path, flags, (mode_t)(mode >= 0 ? mode : 0));
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

int wefti_os_file_open_again(int fd)
{
	return (int)wefti_os_proc_open_again(0, fd, O_RDWR);
}

void wefti_os_file_close(int fd)
{
	close(fd);
}

int wefti_os_file_size(int fd, uint64_t *size)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -errno;
	*size = (uint64_t)st.st_size;
	return 0;
}

int wefti_os_file_set_size(int fd, uint64_t size)
{
	int rc;

	do {
		rc = ftruncate(fd, (off_t)size);
	} while (rc != 0 && errno == EINTR);
	return rc == 0 ? 0 : -errno;
}

/* Not posix_fallocate(): it writes to the file if the file system has no such call. */
int wefti_os_file_reserve(int fd, uint64_t start, uint64_t bytes)
{
	int rc;

	do {
		rc = fallocate(fd, 0, (off_t)start, (off_t)bytes);
	} while (rc != 0 && errno == EINTR);
	if (rc == 0)
		return 0;
	switch (errno) {
	case ENOSPC:
	case EDQUOT:
	case EOPNOTSUPP:
		return -errno;
	case EFBIG:
		return -ENOSPC;
	default:
		return -EIO;
	}
}

void *wefti_os_file_map(int fd, uint64_t bytes)
{
	void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			   0);

	return start == MAP_FAILED ? NULL : start;
}

static int lock(int fd, uint32_t byte, int command, short type)
{
	struct flock range;
	int rc;

	memset(&range, 0, sizeof(range));
	range.l_type = type;
	range.l_whence = SEEK_SET;
	range.l_start = LOCKS + (off_t)byte;
	range.l_len = 1;
	do {
		rc = fcntl(fd, command, &range);
	} while (rc != 0 && errno == EINTR);
	if (rc == 0)
		return 0;
	return errno == EACCES ? -EAGAIN : -errno;
}

int wefti_os_file_try_lock(int fd, uint32_t byte)
{
	return lock(fd, byte, F_OFD_SETLK, F_WRLCK);
}

int wefti_os_file_lock(int fd, uint32_t byte)
{
	return lock(fd, byte, F_OFD_SETLKW, F_WRLCK);
}

void wefti_os_file_unlock(int fd, uint32_t byte)
{
	(void)lock(fd, byte, F_OFD_SETLK, F_UNLCK);
}
