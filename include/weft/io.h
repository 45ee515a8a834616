/* SPDX-License-Identifier: MIT */
/*
 * weft/io.h - descriptors: read, write, wait, close
 *
 * Each call does what the system call of the same name does, but it blocks only the
 * calling thread, not its VCPU. A call waits until its deadline (see weft_deadline(3)),
 * whether the descriptor has O_NONBLOCK or not. A call without "_until" has no deadline.
 * With WEFT_NO_WAIT a call returns -EAGAIN where it would have to wait. Data that is
 * available is taken even if the deadline has passed. A signal never interrupts a call.
 *
 * weft does not change the flags of an open file, because another process may share
 * it. There are two exceptions, both for sockets: see weft_accept() and
 * weft_connect().
 *
 * Descriptors that weft makes (weft_open(), weft_pipe(), weft_socket(), weft_accept()
 * ...) have O_NONBLOCK from the start, except regular files. All other descriptors work
 * too, but each call then asks the kernel what kind they are. For some of them, such as
 * pipes, the kernel may have no way to try without waiting. The call then polls first.
 * If another thread takes the data after the poll, the kernel thread blocks until there
 * is more; its VCPU runs other threads meanwhile.
 *
 * A descriptor that weft made, or that was given to weft_adopt(), must be closed by
 * weft_close() and by nothing else, because weft keeps state for its number.
 *
 * Every call on a descriptor, except weft_adopt() and weft_close(), can also return
 * these errors:
 *   -EBADF      the descriptor is not open, or weft_close() closed it while the call
 *               waited
 *   -ETIMEDOUT  the deadline passed; nothing was transferred
 *   -EAGAIN     the call would have to wait, and the deadline is WEFT_NO_WAIT
 *   -ECANCELED  the thread is cancelled, even if data is available or there is room;
 *               nothing was transferred
 *   -ENOMEM     no memory to wait with
 *   -EMFILE     no descriptor is left for the poller, which the first wait makes; or
 *               the descriptor's number is above 4 million
 *   -ENFILE     the system has no descriptor left for the poller
 * and the errors of the system call. If an error, the deadline or a cancellation comes
 * after a write has transferred a part, the write returns the size of that part, and
 * the next call has the error.
 *
 * weft_open(), weft_pipe(), weft_socket() and weft_socketpair(), which only make
 * descriptors, have no deadline and are not cancelled. Besides the errors of the system
 * call they can return -ENOMEM and -EMFILE.
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
 *   path, flags, mode  as for open(2); O_CLOEXEC is always set
 *
 * Opening a FIFO waits for its other end, as open(2) does.
 *
 * Returns a descriptor, or the errors of open(2).
 *
 * Blocks     the kernel thread; its VCPU runs other threads meanwhile.
 * See        weft_close()
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_open(const char *path, int flags, mode_t mode);

/*
 * weft_pipe - make a pipe
 *
 *   fd     receives two descriptors: the one to read from, and the one to write to
 *   flags  O_DIRECT, or 0; O_CLOEXEC and O_NONBLOCK are always set
 *
 * Returns 0, or the errors of pipe2(2).
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_pipe(int fd[2], int flags);

/*
 * weft_adopt - tell weft about a descriptor that it did not make
 *
 * Calls on the descriptor become cheaper. From now on the program must close it by
 * weft_close(). After a change of its O_NONBLOCK flag it must be adopted again.
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
 * Calls that wait for the descriptor return -EBADF. The descriptor is closed when the
 * last call on it has returned, which may be after weft_close() has returned. So no
 * call in progress can reach another file that gets the same number.
 *
 * Returns 0, else
 *   -EBADF   the descriptor is not open, or is being closed
 *   -EMFILE  its number is above 4 million; it was not closed
 *   -ENOMEM  no memory; it was not closed
 *   or the error of close(2), if no other call was in progress; it is closed then.
 *
 * Blocks     as close(2) does; never for other threads.
 * Since      0.1
 */
WEFT_API int weft_close(int fd);

/*
 * weft_read, weft_read_until, weft_readv, weft_readv_until - read what is available
 *
 *   fd          any descriptor
 *   buf, bytes  where the data goes, and the most bytes to read
 *   iov, count  the same in pieces, as for readv(2)
 *   deadline    a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Waits until some data is available, and returns what there is. From a regular file
 * it reads all that was asked for, or up to the end of the file.
 *
 * Returns the number of bytes; 0 means the end. Else an error, which is negative:
 * -EBADF, -ETIMEDOUT, -EAGAIN, -ECANCELED, -ENOMEM, -EMFILE or -ENFILE, as explained for
 * every call, or the error of read(2), such as -ECONNRESET.
 *
 * Blocks     may park. A read of a file that is not in memory may block the kernel
 *            thread; its VCPU runs other threads meanwhile.
 * Orders     everything that was done before the write happens before the return.
 * Fairness   threads that wait to read from the same descriptor are served first
 *            come, first served.
 * See        weft_write(), weft_wait_fd(), weft_close()
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
 * weft_write, weft_write_until, weft_writev, weft_writev_until - write everything
 *
 *   fd          any descriptor
 *   buf, bytes  the data to write
 *   iov, count  the same in pieces, as for writev(2)
 *   deadline    a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Waits until everything is written. A write to a pipe or socket that nobody can read
 * any more raises SIGPIPE, as write(2) does.
 *
 * Returns the number of bytes. It is less than asked for if an error, the deadline or
 * a cancellation came after a part was written. If nothing was written, it is an error as
 * for weft_read(), or that of write(2), such as -EPIPE.
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
 * weft_pread, weft_pwrite - read or write at a position in a file
 *
 *   at  position, in bytes from the beginning of the file
 *
 * Returns the number of bytes, as pread(2) and pwrite(2) do, or an error as for
 * weft_read().
 *
 * Blocks     may park, or block the kernel thread; its VCPU runs other threads
 *            meanwhile.
 * Not for    descriptors without a position (-ESPIPE).
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE ssize_t weft_pread(int fd, void *buf, size_t bytes,
	off_t at);
WEFT_API WEFT_MUST_USE ssize_t weft_pwrite(int fd, const void *buf,
	size_t bytes, off_t at);

/*
 * weft_fsync - write a file's data to its disk
 *
 * Returns 0, -ECANCELED or another error as for weft_read(), or the errors of fsync(2).
 *
 * Blocks     may park, or block the kernel thread; its VCPU runs other threads
 *            meanwhile.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_fsync(int fd);

/*
 * weft_sendfile, weft_sendfile_until - copy from a file to another descriptor
 *
 *   out    a socket or a pipe
 *   in     a file
 *   at     position in the file to begin at; advanced by the bytes sent. Not NULL.
 *   bytes  how many bytes to send
 *
 * Waits until everything is sent or the file ends. If out has no O_NONBLOCK, a slow
 * receiver blocks the kernel thread.
 *
 * Returns the number of bytes; it may be less than asked for, as for weft_write(). If
 * nothing was sent, it is an error as for weft_read(), or that of sendfile(2).
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
 *   events    POLLIN, POLLOUT ..., as for poll(2)
 *   deadline  a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Returns the events that occurred, among them POLLERR and POLLHUP, which need not be
 * asked for; never 0. The descriptor was ready at some moment; another thread may have
 * taken the data since. Else an error, which is negative:
 *   -EBADF      the descriptor is not open, or weft_close() closed it during the call
 *   -ETIMEDOUT  no event occurred before the deadline
 *   -EAGAIN     the descriptor is not ready, and deadline is WEFT_NO_WAIT
 *   -ECANCELED  the thread is cancelled, even if the descriptor is ready
 *   -ENOMEM, -EMFILE or -ENFILE, as explained for every call
 *
 * Blocks     may park.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_wait_fd(int fd, short events,
	int64_t deadline);

/*
 * weft_poll - wait until one of several descriptors is ready
 *
 *   fds, count  as for poll(2); revents is set in all of them
 *   deadline    a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Returns how many descriptors have a revents that is not 0. A descriptor that is not
 * open counts, with POLLNVAL; so does a descriptor that weft_close() closes during the
 * call. Else an error, which is negative:
 *   -ETIMEDOUT  no descriptor became ready before the deadline
 *   -EAGAIN     no descriptor is ready, and deadline is WEFT_NO_WAIT
 *   -ECANCELED  the thread is cancelled, even if a descriptor is ready
 *   -ENOMEM, -EMFILE or -ENFILE, as explained for every call
 *   or the error of poll(2), such as -EINVAL.
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
