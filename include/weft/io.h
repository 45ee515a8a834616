/* SPDX-License-Identifier: MIT */
/*
 * weft/io.h - descriptors: read, write, wait, close
 *
 * Each call does what the system call of its name does, but it stops the thread
 * and not its VCPU. It waits until the deadline (weft/base.h) whether the
 * descriptor has O_NONBLOCK or not; without "_until" it waits for ever, and
 * with WEFT_NO_WAIT it says -EAGAIN where it would have to. What is there is
 * taken although the deadline has passed. It is never interrupted by a signal.
 *
 * weft changes no flag of an open file, which may be shared with another
 * process, but for two of sockets: weft_connect() and weft_accept() say which.
 * Descriptors that weft makes (weft_open(), weft_pipe(),
 * weft_socket(), weft_accept() ...) have O_NONBLOCK from the start, except
 * files. All others work too; each call then asks the kernel what they are, and
 * where it cannot try without waiting, as with a pipe, it looks first, and if
 * another was faster its kernel thread is blocked, and compensated for, until
 * there is something again.
 *
 * A descriptor that weft made, or was given by weft_adopt(), is closed by
 * weft_close() and by nothing else: weft goes by what it knows of the number.
 *
 * Every call but weft_close() can return, beside what its entry says,
 *   -EBADF      the descriptor is not open, or was closed by weft_close() while
 *               the call waited
 *   -ETIMEDOUT  not before the deadline; nothing was transferred
 *   -EAGAIN     the same with WEFT_NO_WAIT
 *   -ECANCELED  the thread is cancelled; nothing was transferred
 *   -ENOMEM     no memory to wait with
 *   -EMFILE     no descriptor is left for the poller (the first wait), or the
 *               number is above 4 million
 * and the errors of the system call. A write that has transferred a part by then
 * returns how much; the next call has the error.
 */
#ifndef WEFT_IO_H
#define WEFT_IO_H

#include <poll.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * weft_open - open a file
 *
 *   path, flags, mode  as of open(2)
 *
 * Opening a FIFO waits for its other end, as it does in the kernel. O_CLOEXEC is
 * set.
 *
 * Returns a descriptor, or the errors of open(2).
 *
 * Blocks     the kernel thread, and its VCPU is given to others.
 * See        weft_close()
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_open(const char *path, int flags, mode_t mode);

/*
 * weft_pipe - make a pipe
 *
 *   fd     two descriptors: to read from, and to write to
 *   flags  O_DIRECT, or 0; O_CLOEXEC and O_NONBLOCK are set
 *
 * Returns 0, or the errors of pipe2(2).
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_pipe(int fd[2], int flags);

/*
 * weft_adopt - have weft know a descriptor that others made
 *
 * Makes calls on it cheaper. From now on it is to be closed by weft_close().
 * Adopt it again after its O_NONBLOCK was changed.
 *
 * Returns 0, or -EBADF, -EMFILE or -ENOMEM; then nothing has changed.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_adopt(int fd);

/*
 * weft_close - close a descriptor
 *
 *   fd  any descriptor
 *
 * Calls that wait for it return -EBADF. The descriptor is closed when the last
 * call on it that is under way has returned, so none of them can meet another
 * file of the same number; that may be after weft_close() has returned.
 *
 * Returns 0, else
 *   -EBADF  it is not open, or is being closed
 *   or the error of close(2), if no other call was under way; it is closed.
 *
 * Blocks     as close(2) does; never for other threads.
 * Since      0.1
 */
WEFT_API int weft_close(int fd);

/*
 * weft_read, weft_read_until, weft_readv, weft_readv_until - read what is there
 *
 *   fd          any descriptor
 *   buf, bytes  where it goes, at most so much
 *   iov, count  the same in pieces, as of readv(2)
 *   deadline    see weft/base.h
 *
 * Waits until there is something, and returns what there is. All that was asked
 * for comes from a regular file, up to its end.
 *
 * Returns the count of bytes; 0: the end.
 *
 * Blocks     may park. A file that is not in memory may block the kernel thread,
 *            and its VCPU is given to others.
 * Orders     all that was done before the write happens before the return.
 * Fairness   of threads that wait to read from one descriptor, the first comes
 *            first.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE ssize_t weft_read(int fd, void *buf, size_t bytes);
WEFT_API WEFT_MUST_USE ssize_t weft_read_until(int fd, void *buf, size_t bytes,
	int64_t deadline);
WEFT_API WEFT_MUST_USE ssize_t weft_readv(int fd, const struct iovec *iov,
	int count);
WEFT_API WEFT_MUST_USE ssize_t weft_readv_until(int fd,
	const struct iovec *iov, int count, int64_t deadline);

/*
 * weft_write, weft_write_until, weft_writev, weft_writev_until - write it all
 *
 *   fd          any descriptor
 *   buf, bytes  what to write
 *   iov, count  the same in pieces, as of writev(2)
 *   deadline    see weft/base.h
 *
 * Waits until all is written. Writing where nobody can read any more raises
 * SIGPIPE, as write(2) does.
 *
 * Returns the count of bytes: less than asked for when an error, the deadline or
 * a cancellation came after a part.
 *
 * Blocks     as weft_read().
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE ssize_t weft_write(int fd, const void *buf,
	size_t bytes);
WEFT_API WEFT_MUST_USE ssize_t weft_write_until(int fd, const void *buf,
	size_t bytes, int64_t deadline);
WEFT_API WEFT_MUST_USE ssize_t weft_writev(int fd, const struct iovec *iov,
	int count);
WEFT_API WEFT_MUST_USE ssize_t weft_writev_until(int fd,
	const struct iovec *iov, int count, int64_t deadline);

/*
 * weft_pread, weft_pwrite - at a place in a file
 *
 *   at  from the file's beginning
 *
 * Returns the count of bytes, as pread(2) and pwrite(2).
 *
 * Blocks     the thread, or its kernel thread, whose VCPU is given to others.
 * Not for    descriptors without a position (-ESPIPE).
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE ssize_t weft_pread(int fd, void *buf, size_t bytes,
	off_t at);
WEFT_API WEFT_MUST_USE ssize_t weft_pwrite(int fd, const void *buf,
	size_t bytes, off_t at);

/*
 * weft_fsync - have a file's data on its disk
 *
 * Returns 0, or the errors of fsync(2).
 *
 * Blocks     the thread, or its kernel thread, whose VCPU is given to others.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_fsync(int fd);

/*
 * weft_sendfile, weft_sendfile_until - from a file to another descriptor
 *
 *   out    a socket or a pipe
 *   in     a file
 *   at     where to begin; moved by what was sent
 *   bytes  how much
 *
 * Waits until all is sent, or the file ends. out must have O_NONBLOCK, else a
 * slow receiver blocks the kernel thread.
 *
 * Returns the count of bytes; less than asked for as for weft_write().
 *
 * Blocks     may park.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE ssize_t weft_sendfile(int out, int in, off_t *at,
	size_t bytes);
WEFT_API WEFT_MUST_USE ssize_t weft_sendfile_until(int out, int in, off_t *at,
	size_t bytes, int64_t deadline);

/*
 * weft_wait_fd - wait until a descriptor is ready
 *
 *   fd        any descriptor
 *   events    POLLIN, POLLOUT ..., as of poll(2)
 *   deadline  see weft/base.h
 *
 * Returns which of the events there are, or POLLERR and POLLHUP; never 0. That
 * was so at some moment; another thread may have been faster since.
 *
 * Blocks     may park.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_wait_fd(int fd, short events,
	int64_t deadline);

/*
 * weft_poll - wait until one of several descriptors is ready
 *
 *   fds, count  as of poll(2); revents is set in all of them
 *   deadline    see weft/base.h
 *
 * Returns how many have a revents that is not 0. A descriptor that is not open
 * counts, with POLLNVAL. One that weft_close() closes meanwhile does, too.
 *
 * Blocks     may park.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_poll(struct pollfd *fds, size_t count,
	int64_t deadline);

#ifdef __cplusplus
}
#endif
#endif
