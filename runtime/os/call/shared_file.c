/* SPDX-License-Identifier: MIT */
/*
 * os/call/shared_file.c - a file that processes share as memory, and which of them live
 */
#include "os/call/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/call/descriptor.h"
#include "os/call/root.h"
#include "syscall.h"

#if !defined(F_SEAL_FUTURE_WRITE)
#define F_SEAL_FUTURE_WRITE	0x0010
#endif

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

/* Without the seals another process could cut memory off that is mapped here. */
static int make_sealed(int fd, uint64_t bytes)
{
	int error = fchmod(fd, S_IRUSR | S_IWUSR) != 0 ? -errno :
		    wefti_os_file_set_size(fd, bytes);

	if (!error)
		error = wefti_os_file_reserve(fd, 0, bytes);
	if (!error && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
		error = -errno;
	return error;
}

/* The kernel counts such a file too, and a larger one would end the process. */
static int is_above_limit(uint64_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur;
}

int wefti_os_file_sealed(const char *name, uint64_t bytes)
{
	long fd;
	int error;

	if (is_above_limit(bytes))
		return -EFBIG;
	fd = wefti_arch_syscall(SYS_memfd_create, (long)name,
				MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0, 0, 0);
	error = fd < 0 ? (int)fd : make_sealed((int)fd, bytes);
	if (!error)
		return wefti_os_fd_move_up((int)fd);
	if (fd >= 0)
		close((int)fd);
	return error;
}

void wefti_os_file_seal_writes(int fd)
{
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0)
		(void)fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL);
}

struct wefti_os_file_id wefti_os_file_identify(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return (struct wefti_os_file_id){ 0, 0 };
	return (struct wefti_os_file_id){ st.st_dev, st.st_ino };
}

int wefti_os_file_is(int fd, struct wefti_os_file_id id)
{
	const struct wefti_os_file_id now = wefti_os_file_identify(fd);

	return now.inode != 0 && now.inode == id.inode && now.device == id.device;
}

void *wefti_os_file_map(int fd, uint64_t bytes)
{
	void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			   0);

	return start == MAP_FAILED ? NULL : start;
}

void wefti_os_file_unmap(void *start, uint64_t bytes)
{
	munmap(start, bytes);
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
