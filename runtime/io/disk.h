/* SPDX-License-Identifier: MIT */
/*
 * io/disk.h - calls that wait for a disk: which of them have a kernel thread
 *
 * A call in a region has a kernel thread for as long as it waits. That is the
 * quickest way for one, and dear for a hundred. So few calls are in regions at a
 * time (wefti_block_begin_few() of life/few.h); of the others
 *   - the kernel does on its own what it can, and the thread parks: wefti_disk_do();
 *   - who reads what is not in memory has the kernel read ahead, and looks again:
 *     wefti_disk_read_on().
 * Neither is ended by a cancellation or by time.
 */
#ifndef WEFT_IO_DISK_H
#define WEFT_IO_DISK_H

#include "base/compiler.h"
#include "os/call/disk.h"

/*
 * Returns what the call does, or -ENOTSUP: nothing was done, and it has to be
 * called. May park; meanwhile the kernel reads and writes the call's memory, so no
 * handler may leave it by a jump.
 */
MUST_USE ssize_t wefti_disk_do(const struct wefti_os_disk_call *call);

/*
 * As preadv(), or at -1 as readv(), of a file of which a try has said that it
 * would have to wait; but it may read less. -EAGAIN: nothing is in memory after a
 * fifth of a second. Parks.
 */
MUST_USE ssize_t wefti_disk_read_on(int fd, const struct iovec *iov, int count,
				    off_t at);

/*
 * Reads a file at `at` (-1: where it is): all that is asked for, or up to its end.
 * What is in memory without waiting. Returns how much, or an error if that is 0.
 */
MUST_USE ssize_t wefti_disk_read(int fd, const struct iovec *iov, int count,
				 off_t at);

/* Takes what the kernel has done, and wakes who waits. Inside the runtime. */
void wefti_disk_look(void);

/* Is there a call that is not done? For the report of a deadlock. */
int wefti_disk_any_waits(void);

/* The runtime has stopped: no call is under way. */
void wefti_disk_stop(void);

/* The child of a fork: it has no queue. */
void wefti_disk_forget(void);

#endif
