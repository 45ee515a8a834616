/* SPDX-License-Identifier: MIT */
/*
 * weft/net.h - sockets
 *
 * Deadlines, errors and flags of descriptors are as explained in weft_read(3). Calls that
 * never wait are libc's: bind(2), listen(2), setsockopt(2), getsockname(2), shutdown(2).
 */
#ifndef WEFT_NET_H
#define WEFT_NET_H

#include <sys/socket.h>
#include <sys/types.h>

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * weft_socket, weft_socketpair - make sockets
 *
 *   domain, type, protocol  as for socket(2); SOCK_NONBLOCK and SOCK_CLOEXEC are
 *                           always set
 *   fd                      receives two descriptors
 *
 * Returns a descriptor (weft_socketpair: 0), or the errors of the system call.
 *
 * Blocks     never.
 * See        weft_close()
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_socket(int domain, int type, int protocol);
WEFT_API WEFT_MUST_USE int weft_socketpair(int domain, int type, int protocol,
	int fd[2]);

/*
 * weft_accept, weft_accept_until - take the next connection
 *
 *   fd           a listening socket
 *   addr, bytes  where the peer's address goes, as for accept(2); may be NULL
 *   deadline     a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * If the socket has no O_NONBLOCK, the first call that finds a connection sets that flag
 * for good. Without the flag, several threads could see the same connection, and all but
 * one of them would block in the kernel.
 *
 * After -EMFILE or -ENFILE the connection stays in the queue of the socket. A server then
 * closes something, or sleeps for a moment, before it tries again.
 *
 * Returns a new descriptor, which has O_NONBLOCK and O_CLOEXEC. Else an error, which is
 * negative:
 *   -EBADF      the socket is not open, or weft_close() closed it during the call
 *   -ETIMEDOUT  no connection came before the deadline
 *   -EAGAIN     there is no connection, and deadline is WEFT_NO_WAIT
 *   -ECANCELED  the thread is cancelled, even if there is a connection, which stays in
 *               the queue
 *   -ENOMEM, -EMFILE or -ENFILE, as explained in weft_read(3)
 *   or the error of accept(2). -ECONNABORTED is never returned.
 *
 * Blocks     may park.
 * Fairness   threads that wait at the same socket are served first come, first
 *            served.
 * See        weft_read(), weft_close(), weft_recv(), weft_send()
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_accept(int fd, struct sockaddr *addr,
	socklen_t *bytes);
WEFT_API WEFT_MUST_USE int weft_accept_until(int fd, struct sockaddr *addr,
	socklen_t *bytes, int64_t deadline);

/*
 * weft_connect, weft_connect_until - connect to a peer
 *
 *   addr, bytes  as for connect(2)
 *   deadline     a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * After -ETIMEDOUT or -ECANCELED the attempt goes on. Close the socket, or wait for
 * POLLOUT and read SO_ERROR. If the socket has no O_NONBLOCK, weft sets that flag during
 * the system call only.
 *
 * The call also waits while the queue of a listening AF_UNIX socket is full. The kernel
 * reports room in that queue only to a kernel thread that blocks for it. So weft tries
 * again: first after 0.1 ms, then after longer times, up to 20 ms. Here -ETIMEDOUT and
 * -ECANCELED leave nothing behind, and the program may simply call again.
 *
 * Returns 0, else -EBADF, -ETIMEDOUT, -EAGAIN (only with WEFT_NO_WAIT), -ECANCELED,
 * -ENOMEM, -EMFILE or -ENFILE, as explained in weft_read(3), or the error of connect(2),
 * such as -ECONNREFUSED.
 *
 * Blocks     may park.
 * See        weft_read(), weft_socket(), weft_getaddrinfo(), weft_wait_fd()
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_connect(int fd, const struct sockaddr *addr,
	socklen_t bytes);
WEFT_API WEFT_MUST_USE int weft_connect_until(int fd,
	const struct sockaddr *addr, socklen_t bytes, int64_t deadline);

/*
 * weft_recv, weft_recv_until, weft_recvfrom, weft_recvfrom_until - receive data
 *
 *   buf, bytes        where the data goes, and the most bytes to receive
 *   flags             as for recv(2). MSG_WAITALL waits until all bytes are there.
 *                     Fewer are returned at the end of the stream, or if an error,
 *                     the deadline or a cancellation comes after a part.
 *                     Together with MSG_PEEK it is ignored. MSG_DONTWAIT is the
 *                     same as WEFT_NO_WAIT.
 *   from, from_bytes  where the sender's address goes; may be NULL
 *   deadline          a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Returns the number of bytes; 0 means the end, or an empty datagram. Else an error, which
 * is negative:
 *   -ECANCELED  the thread is cancelled, even if there is data
 *   -EBADF, -ETIMEDOUT, -EAGAIN, -ENOMEM, -EMFILE or -ENFILE, as explained in weft_read(3)
 *   or the error of recv(2), such as -ECONNRESET.
 *
 * Blocks     may park.
 * Fairness   as weft_read().
 * See        weft_read(), weft_send(), weft_recvmsg(), weft_reader_line()
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE ssize_t weft_recv(int fd, void *buf, size_t bytes,
	int flags);
WEFT_API WEFT_MUST_USE ssize_t weft_recv_until(int fd, void *buf, size_t bytes,
	int flags, int64_t deadline);
WEFT_API WEFT_MUST_USE ssize_t weft_recvfrom(int fd, void *buf, size_t bytes,
	int flags, struct sockaddr *from, socklen_t *from_bytes);
WEFT_API WEFT_MUST_USE ssize_t weft_recvfrom_until(int fd, void *buf,
	size_t bytes, int flags, struct sockaddr *from, socklen_t *from_bytes,
	int64_t deadline);

/*
 * weft_send, weft_send_until, weft_sendto, weft_sendto_until - send everything
 *
 *   buf, bytes    the data to send
 *   flags         as for send(2); MSG_DONTWAIT is the same as WEFT_NO_WAIT
 *   to, to_bytes  the receiver's address; NULL and 0: the connected peer
 *   deadline      a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Without MSG_NOSIGNAL, sending on a stream whose peer has closed it raises SIGPIPE.
 *
 * Returns the number of bytes. It is less than asked for if an error, the deadline or a
 * cancellation came after a part was sent. If nothing was sent, it is an error, which is
 * negative:
 *   -ECANCELED  the thread is cancelled, even if there is room
 *   -EBADF, -ETIMEDOUT, -EAGAIN, -ENOMEM, -EMFILE or -ENFILE, as explained in weft_read(3)
 *   or the error of send(2), such as -EPIPE.
 *
 * Blocks     may park.
 * See        weft_read(), weft_recv(), weft_sendmsg()
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE ssize_t weft_send(int fd, const void *buf, size_t bytes,
	int flags);
WEFT_API WEFT_MUST_USE ssize_t weft_send_until(int fd, const void *buf,
	size_t bytes, int flags, int64_t deadline);
WEFT_API WEFT_MUST_USE ssize_t weft_sendto(int fd, const void *buf,
	size_t bytes, int flags, const struct sockaddr *to, socklen_t to_bytes);
WEFT_API WEFT_MUST_USE ssize_t weft_sendto_until(int fd, const void *buf,
	size_t bytes, int flags, const struct sockaddr *to, socklen_t to_bytes,
	int64_t deadline);

/*
 * weft_recvmsg, weft_recvmsg_until, weft_sendmsg, weft_sendmsg_until - messages
 *
 *   msg, flags  as for recvmsg(2) and sendmsg(2); MSG_DONTWAIT is the same as
 *               WEFT_NO_WAIT
 *   deadline    a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Each call makes one successful system call, so on a stream it may transfer only a
 * part of the message.
 *
 * Returns the number of bytes, else an error, which is negative:
 *   -EINVAL     MSG_WAITALL was given to weft_recvmsg()
 *   -ECANCELED  the thread is cancelled, even if there is data or room
 *   -EBADF, -ETIMEDOUT, -EAGAIN, -ENOMEM, -EMFILE or -ENFILE, as explained in weft_read(3)
 *   or the error of recvmsg(2) or sendmsg(2).
 *
 * Blocks     may park.
 * See        weft_read(), weft_recv(), weft_send()
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE ssize_t weft_recvmsg(int fd, struct msghdr *msg,
	int flags);
WEFT_API WEFT_MUST_USE ssize_t weft_recvmsg_until(int fd, struct msghdr *msg,
	int flags, int64_t deadline);
WEFT_API WEFT_MUST_USE ssize_t weft_sendmsg(int fd, const struct msghdr *msg,
	int flags);
WEFT_API WEFT_MUST_USE ssize_t weft_sendmsg_until(int fd,
	const struct msghdr *msg, int flags, int64_t deadline);

struct addrinfo;

/*
 * weft_getaddrinfo, weft_getaddrinfo_until - look up a host and a service
 *
 *   node, service, hints  as for getaddrinfo(3). Copied.
 *   list                  receives the addresses; the caller frees them by
 *                         freeaddrinfo(3)
 *   deadline              a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * libc's resolver has no deadline, and needs more stack than a thread may have. So it
 * runs in a thread of its own, with a stack of 256 KiB. If the caller's wait ends before
 * the look-up, that thread goes on by itself until the resolver gives up (see
 * resolv.conf(5)), and drops the result. Until then, weft_stop() returns -EBUSY.
 *
 * Returns 0; or a positive number, which is a code of getaddrinfo(3) without its sign:
 * -EAI_NONAME, -EAI_AGAIN and so on, in words by gai_strerror(-code); or
 *   -ETIMEDOUT  the deadline passed
 *   -EAGAIN     deadline is WEFT_NO_WAIT, or no stack can be mapped
 *   -ECANCELED  the thread is cancelled
 *   -ENOMEM     no memory
 *   -ESRCH      the runtime is not running
 *   or, in place of EAI_SYSTEM, the error of the system call. On an error, list is as it
 *   was.
 *
 * Blocks     may park. The resolver holds a kernel thread for each look-up under way.
 * Orders     what the caller did before happens before the look-up.
 * Fairness   look-ups run beside each other.
 * See        weft_connect()
 * Source     getaddrinfo(3)
 * Since      0.2
 */
WEFT_API WEFT_MUST_USE int weft_getaddrinfo(const char *node,
	const char *service, const struct addrinfo *hints,
	struct addrinfo **list);
WEFT_API WEFT_MUST_USE int weft_getaddrinfo_until(const char *node,
	const char *service, const struct addrinfo *hints,
	struct addrinfo **list, int64_t deadline);

#ifdef __cplusplus
}
#endif
#endif
