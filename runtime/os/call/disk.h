/* SPDX-License-Identifier: MIT */
/*
 * os/call/disk.h - calls that wait for a disk, which the kernel does on its own
 *
 * Linux' io_submit(). Not io_uring: that has kernel threads of its own in the
 * process, for each kernel thread that submits, and containers forbid it.
 */
#ifndef WEFT_OS_CALL_DISK_H
#define WEFT_OS_CALL_DISK_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* As fsync(), fdatasync(), and preadv() and pwritev() of a file with O_DIRECT. */
enum wefti_os_disk_kind {
	WEFTI_OS_DISK_SYNC,
	WEFTI_OS_DISK_SYNC_DATA,
	WEFTI_OS_DISK_READ,
	WEFTI_OS_DISK_WRITE,
};

struct wefti_os_disk_call {
	enum wefti_os_disk_kind kind;
	int fd;
	const struct iovec *iov;	/* READ, WRITE: stays until it is done */
	int count;
	off_t at;
};

struct wefti_os_disk_done {
	uint64_t data;		/* as submitted */
	int64_t result;		/* the call's; negative errno */
};

/*
 * Opens a queue for `most` calls at once. Returns 0, else -ENOSYS, -ENOMEM, or -EAGAIN:
 * the system's limit is reached (/proc/sys/fs/aio-max-nr). The child of a fork does not
 * have the queue, and need not close it.
 */
int wefti_os_disk_open(unsigned most, uint64_t *queue);
void wefti_os_disk_close(uint64_t queue);

/*
 * Returns 0; then the eventfd `wake` becomes readable when the call is done. Else nothing
 * was begun, and it returns the file's error, or -EAGAIN: the queue is full. A SYNC never
 * waits in here. The other calls may, if the file system cannot avoid it.
 */
int wefti_os_disk_submit(uint64_t queue, const struct wefti_os_disk_call *call,
			 int wake, uint64_t data);

/* Takes up to `most` calls that are done, without waiting. Returns how many. */
int wefti_os_disk_take(uint64_t queue, struct wefti_os_disk_done *done,
		       int most);

#endif
