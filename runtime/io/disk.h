/* SPDX-License-Identifier: MIT */
/*
 * io/disk.h - calls that wait for a disk, and which of them get a kernel thread
 *
 * A call in a region has a kernel thread for as long as it waits. That is the quickest
 * way for one call, and costly for a hundred. So only few calls are in regions at a
 * time (wefti_block_begin_few() of life/few.h). For the others
 *   - the kernel does by itself what it can, and the thread parks: wefti_disk_do();
 *   - if a read needs data that is not in memory, the thread asks the kernel to read
 *     ahead, and looks again: wefti_disk_read_on().
 * Neither is ended by a cancellation or by a deadline.
 */
#ifndef WEFT_IO_DISK_H
#define WEFT_IO_DISK_H

#include "base/compiler.h"
#include "os/call/disk.h"

/*
 * Returns what the call returns; or -ENOTSUP: nothing was done, and the caller must
 * make the system call. May park. Meanwhile the kernel reads and writes the call's
 * memory, so no handler may leave the call by a jump.
 */
MUST_USE ssize_t wefti_disk_do(const struct wefti_os_disk_call *call);

/*
 * As preadv(), or at -1 as readv(), for a file that would have to wait, as a try has
 * shown. It may read less. -EAGAIN: no data was in memory after a fifth of a second.
 * Parks.
 */
MUST_USE ssize_t wefti_disk_read_on(int fd, const struct iovec *iov, int count,
				    off_t at);

/*
 * Reads a file at `at` (-1: at its offset): all that is asked for, or up to the file's
 * end. Takes data that is in memory without waiting. Returns how much was read, or an
 * error if that is 0.
 */
MUST_USE ssize_t wefti_disk_read(int fd, const struct iovec *iov, int count,
				 off_t at);

/*
 * Takes finished calls from the kernel, and wakes their threads. Called inside the
 * runtime.
 */
void wefti_disk_complete(void);

/* Is there a call that is not finished? For the report of a deadlock. */
int wefti_disk_any_waits(void);

/* Called when the runtime has stopped: no call is under way. */
void wefti_disk_stop(void);

/* Called in the child of a fork, which has no queue. */
void wefti_disk_forget(void);

#endif
