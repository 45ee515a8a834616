/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/file.c - files: read and written, at an offset or at their position
 *
 * What is in memory is read without waiting. For the rest the thread waits in a region.
 * Writes go to memory, so they are made outside a region, unless writes to the file wait
 * for the disk.
 */
#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "io/span.h"
#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/io/disk.h"
#include "pthread/io/io.h"
#include "pthread/io/plain.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/wait/fd_table.h"
#include "syscall.h"

#define IN_TMPFS	0x01021994	/* TMPFS_MAGIC, in linux/magic.h */

int wefti_pt_fd_is_file(int fd)
{
	int saved = errno;
	struct stat s;

	if (wefti_pt_fd_is(fd, WEFTI_FD_SOCKET | WEFTI_FD_FLOWS))
		return 0;
	if (fstat(fd, &s) == 0 && (S_ISREG(s.st_mode) || S_ISBLK(s.st_mode)))
		return 1;
	errno = saved;
	wefti_pt_fd_note(fd, WEFTI_FD_FLOWS);
	return 0;
}

/* A read or write of a file with O_DIRECT. */
static ssize_t past_memory(enum wefti_os_disk_kind kind, int fd,
			   const struct iovec *iov, int count, off_t at)
{
	const struct wefti_os_disk_call call = { kind, fd, iov, count, at };

	return wefti_pt_disk_call(&call);
}

/* --- reading ------------------------------------------------------- */

ssize_t wefti_pt_try_read(int fd, const struct iovec *iov, int count, off_t at,
			  int flags)
{
	return wefti_arch_syscall(SYS_preadv2, fd, (long)iov, count, at, 0,
				  flags | RWF_NOWAIT);
}

/*
 * tmpfs cannot be asked to read without waiting, but its reads never wait. In a region
 * the reader could lose its VCPU, and then wait for a slice of each thread that
 * computes.
 */
static int is_in_memory(int fd)
{
	int saved = errno, is;
	struct statfs system;
	struct stat s;

	is = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) &&
	     fstatfs(fd, &system) == 0 && system.f_type == IN_TMPFS;
	errno = saved;
	return is;
}

ssize_t wefti_pt_read_waiting(int fd, const struct iovec *iov, int count,
			      off_t at, int flags)
{
	ssize_t r;

	if (is_in_memory(fd))
		return wefti_pt_plain_read(fd, iov, count, at, flags);
	wefti_region_begin_call(wefti_pt_fd_is_file(fd) ? 0 : WEFTI_ENDS);
	r = wefti_pt_plain_read(fd, iov, count, at, flags);
	wefti_region_end_call();
	if (r < 0)	/* else a cancellation would lose what was read */
		wefti_cancel_point();
	return r;
}

/* Reads from a file. r says why a first try has read nothing. */
static ssize_t read_from_disk(int fd, const struct iovec *iov, int count,
			      off_t at, int flags, ssize_t r)
{
	if (r != -EAGAIN || flags != 0)
		return wefti_pt_read_waiting(fd, iov, count, at, flags);
	if (wefti_region_begin_few()) {
		r = wefti_pt_plain_read(fd, iov, count, at, flags);
		wefti_region_end();
		return r;
	}
	r = wefti_disk_read_on(fd, iov, count, at);
	if (r == -EAGAIN)
		return wefti_pt_read_waiting(fd, iov, count, at, flags);
	wefti_signals_run_any();
	return wefti_pt_result(r);
}

struct reader {
	int fd, flags;
	ssize_t tried;		/* the result of the first try, until it is used */
};

static ssize_t read_some(void *arg, const struct iovec *iov, int count, off_t at)
{
	struct reader *in = arg;
	ssize_t r = in->tried;

	if (r == 0)
		r = wefti_pt_try_read(in->fd, iov, count, at, in->flags);
	in->tried = 0;
	return r < 0 ? read_from_disk(in->fd, iov, count, at, in->flags, r) : r;
}

ssize_t wefti_pt_file_read(int fd, const struct iovec *iov, int count, off_t at,
			   int flags, ssize_t r)
{
	struct reader in = { fd, flags, r };

	return wefti_span_do(iov, count, at, read_some, &in);
}

static ssize_t read_at(int fd, const struct iovec *iov, int count, off_t at,
		       int flags)
{
	ssize_t r;

	wefti_cancel_point();
	if (unlikely(wefti_pt_fd_past_memory(fd) & O_DIRECT) && flags == 0)
		return past_memory(WEFTI_OS_DISK_READ, fd, iov, count, at);
	r = wefti_pt_try_read(fd, iov, count, at, flags);
	if (wefti_pt_cannot_try(r))
		return wefti_pt_read_waiting(fd, iov, count, at, flags);
	if (r == -EAGAIN || (r > 0 && wefti_pt_fd_is_file(fd)))
		return wefti_pt_file_read(fd, iov, count, at, flags, r);
	wefti_signals_run_any();
	return wefti_pt_result(r);
}

/* at -1: reads at the file's position, as readv() does. */
EXPORT ssize_t preadv2(int fd, const struct iovec *iov, int count, off_t at,
		       int flags)
{
	if (!wefti_pt_green() || at < -1 || (flags & RWF_NOWAIT))
		return REAL(preadv2)(fd, iov, count, at, flags);
	if (at == -1 && flags == 0)
		return readv(fd, iov, count);
	if (at == -1) {
		wefti_cancel_point();
		return wefti_pt_read_waiting(fd, iov, count, at, flags);
	}
	return read_at(fd, iov, count, at, flags);
}

EXPORT ssize_t preadv(int fd, const struct iovec *iov, int count, off_t at)
{
	if (!wefti_pt_green() || at < 0)
		return REAL(preadv)(fd, iov, count, at);
	return read_at(fd, iov, count, at, 0);
}

EXPORT ssize_t pread(int fd, void *buf, size_t bytes, off_t at)
{
	const struct iovec iov = { buf, bytes };

	if (!wefti_pt_green() || at < 0)
		return REAL(pread)(fd, buf, bytes, at);
	return read_at(fd, &iov, 1, at, 0);
}

/* --- writing ------------------------------------------------------- */

ssize_t wefti_pt_file_write(int fd, const struct iovec *iov, int count,
			    off_t at, int flags)
{
	int past = wefti_pt_fd_past_memory(fd), waits = past || flags != 0;
	ssize_t r;

	if ((past & O_DIRECT) && flags == 0 && at >= 0)
		return past_memory(WEFTI_OS_DISK_WRITE, fd, iov, count, at);
	if (waits)
		wefti_region_begin();
	r = wefti_pt_plain_write(fd, iov, count, at, flags);
	if (waits)
		wefti_region_end();
	wefti_signals_run_any();
	return r;
}

/* at -1: writes at the file's position, as writev() does. */
EXPORT ssize_t pwritev2(int fd, const struct iovec *iov, int count, off_t at,
			int flags)
{
	if (!wefti_pt_green() || at < -1 || (flags & RWF_NOWAIT))
		return REAL(pwritev2)(fd, iov, count, at, flags);
	if (at == -1 && flags == 0)
		return writev(fd, iov, count);
	wefti_cancel_point();
	return wefti_pt_file_write(fd, iov, count, at, flags);
}

EXPORT ssize_t pwritev(int fd, const struct iovec *iov, int count, off_t at)
{
	if (!wefti_pt_green() || at < 0)
		return REAL(pwritev)(fd, iov, count, at);
	wefti_cancel_point();
	return wefti_pt_file_write(fd, iov, count, at, 0);
}

EXPORT ssize_t pwrite(int fd, const void *buf, size_t bytes, off_t at)
{
	const struct iovec iov = { (void *)(uintptr_t)buf, bytes };

	if (!wefti_pt_green() || at < 0)
		return REAL(pwrite)(fd, buf, bytes, at);
	wefti_cancel_point();
	return wefti_pt_file_write(fd, &iov, 1, at, 0);
}

/* --- by other names ------------------------------------------------ */

/* For programs with long file offsets: here all offsets are long. */
EXPORT ssize_t pread64(int fd, void *buf, size_t bytes, off_t at)
{
	return pread(fd, buf, bytes, at);
}
SECOND_NAME(pread64, __pread64);

EXPORT ssize_t pwrite64(int fd, const void *buf, size_t bytes, off_t at)
{
	return pwrite(fd, buf, bytes, at);
}
SECOND_NAME(pwrite64, __pwrite64);

EXPORT ssize_t preadv64(int fd, const struct iovec *iov, int count, off_t at)
{
	return preadv(fd, iov, count, at);
}

EXPORT ssize_t pwritev64(int fd, const struct iovec *iov, int count, off_t at)
{
	return pwritev(fd, iov, count, at);
}

EXPORT ssize_t preadv64v2(int fd, const struct iovec *iov, int count, off_t at,
			  int flags)
{
	return preadv2(fd, iov, count, at, flags);
}

EXPORT ssize_t pwritev64v2(int fd, const struct iovec *iov, int count, off_t at,
			   int flags)
{
	return pwritev2(fd, iov, count, at, flags);
}
