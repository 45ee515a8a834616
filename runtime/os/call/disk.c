/* SPDX-License-Identifier: MIT */
/* os/call/disk.c - calls that wait for a disk, which the kernel does on its own */
#include "os/call/disk.h"

#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <time.h>

#include "os/call/missing.h"
#include "syscall.h"

#define TAKEN_MOST	32

int wefti_os_disk_open(unsigned most, uint64_t *queue)
{
	aio_context_t context = 0;
	long error = wefti_arch_syscall(SYS_io_setup, most, (long)&context, 0,
					0, 0, 0);

	*queue = context;
	return wefti_os_is_missing(error) ? -ENOSYS : (int)error;
}

void wefti_os_disk_close(uint64_t queue)
{
	(void)wefti_arch_syscall(SYS_io_destroy, (long)queue, 0, 0, 0, 0, 0);
}

int wefti_os_disk_submit(uint64_t queue, const struct wefti_os_disk_call *call,
			 int wake, uint64_t data)
{
	static const uint16_t command[] = {
		[WEFTI_OS_DISK_SYNC] = IOCB_CMD_FSYNC,
		[WEFTI_OS_DISK_SYNC_DATA] = IOCB_CMD_FDSYNC,
		[WEFTI_OS_DISK_READ] = IOCB_CMD_PREADV,
		[WEFTI_OS_DISK_WRITE] = IOCB_CMD_PWRITEV,
	};
	struct iocb cb = {
		.aio_data = data,
		.aio_lio_opcode = command[call->kind],
		.aio_fildes = (uint32_t)call->fd,
		.aio_flags = IOCB_FLAG_RESFD,
		.aio_resfd = (uint32_t)wake,
	};
	struct iocb *list = &cb;
	long n;

	if (call->kind >= WEFTI_OS_DISK_READ) {
		cb.aio_buf = (uintptr_t)call->iov;
		cb.aio_nbytes = (uint64_t)call->count;
		cb.aio_offset = call->at;
	}
	n = wefti_arch_syscall(SYS_io_submit, (long)queue, 1, (long)&list, 0, 0,
			       0);
	return n < 0 ? (int)n : 0;
}

int wefti_os_disk_take(uint64_t queue, struct wefti_os_disk_done *done,
		       int most)
{
	struct timespec now = { 0, 0 };
	struct io_event event[TAKEN_MOST];
	long n;

	if (most > TAKEN_MOST)
		most = TAKEN_MOST;
	n = wefti_arch_syscall(SYS_io_getevents, (long)queue, 0, most,
			       (long)event, (long)&now, 0);
	for (long i = 0; i < n; i++)
		done[i] = (struct wefti_os_disk_done){ event[i].data,
						       event[i].res };
	return n < 0 ? 0 : (int)n;
}
