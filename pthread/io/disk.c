/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/disk.c - green threads that wait for a disk
 *
 * One thread at a time waits in a region. For the others the kernel calls back
 * (io/disk.h).
 * Nothing interrupts such a wait: no handler, because it could leave the call by a jump,
 * and no cancellation. With libc's threads the kernel does not allow that either.
 */
#include "pthread/io/disk.h"

#include <errno.h>
#include <fcntl.h>

#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/fd_table.h"

static ssize_t by_kernel(const struct wefti_os_disk_call *call)
{
	uint64_t mask = wefti_signals_hold();
	const uint8_t held = wefti_cancel_hold();
	ssize_t r = wefti_disk_do(call);

	wefti_cancel_release(held);
	wefti_signals_set_mask(mask);
	wefti_cancel_point_async();
	return r;
}

static ssize_t do_it(const struct wefti_os_disk_call *call)
{
	switch (call->kind) {
	case WEFTI_OS_DISK_SYNC:
		return REAL(fsync)(call->fd);
	case WEFTI_OS_DISK_SYNC_DATA:
		return REAL(fdatasync)(call->fd);
	case WEFTI_OS_DISK_READ:
		return REAL(preadv)(call->fd, call->iov, call->count, call->at);
	default:
		return REAL(pwritev)(call->fd, call->iov, call->count, call->at);
	}
}

ssize_t wefti_pt_disk_call(const struct wefti_os_disk_call *call)
{
	ssize_t r;

	if (!wefti_region_begin_few()) {
		r = by_kernel(call);
		if (r != -ENOTSUP)
			return wefti_pt_result(r);
		wefti_region_begin();
	}
	r = do_it(call);
	wefti_region_end();
	return r;
}

int wefti_pt_fd_past_memory(int fd)
{
	int saved = errno, flags;

	if (likely(wefti_pt_fd_is(fd, WEFTI_FD_SOCKET | WEFTI_FD_FLOWS |
				      WEFTI_FD_CACHED)))
		return 0;
	flags = REAL(fcntl)(fd, F_GETFL);
	errno = saved;
	if (flags >= 0 && (flags & (O_DIRECT | O_DSYNC)))
		return flags & (O_DIRECT | O_DSYNC);
	wefti_pt_fd_note(fd, WEFTI_FD_CACHED);
	return 0;
}

static int sync_file(enum wefti_os_disk_kind kind, int fd)
{
	const struct wefti_os_disk_call call = { .kind = kind, .fd = fd };

	wefti_cancel_point();
	return (int)wefti_pt_disk_call(&call);
}

EXPORT int fsync(int fd)
{
	return sync_file(WEFTI_OS_DISK_SYNC, fd);
}

EXPORT int fdatasync(int fd)
{
	return sync_file(WEFTI_OS_DISK_SYNC_DATA, fd);
}
