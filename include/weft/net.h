/* SPDX-License-Identifier: MIT */
/*
 * weft/net.h - sockets
 *
 * What weft/io.h says of deadlines, errors and flags holds here too.
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
 *   domain, type, protocol  as of socket(2); SOCK_NONBLOCK and SOCK_CLOEXEC are
 *                           set
 *   fd                      two descriptors
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
 * weft_accept, weft_accept_until - the next connection
 *
 *   fd           a socket that listens
 *   addr, bytes  where the peer's address goes, as of accept(2); may be NULL
 *   deadline     see weft/base.h
 *
 * A socket without O_NONBLOCK has it from the first call on: of several who see
 * a connection one gets it, and there is no other way to ask without waiting.
 *
 * Returns a new descriptor, which has O_NONBLOCK and is closed at exec.
 *
 * Blocks     may park.
 * Fairness   of threads that wait for one socket, the first comes first.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_accept(int fd, struct sockaddr *addr,
	socklen_t *bytes);
WEFT_API WEFT_MUST_USE int weft_accept_until(int fd, struct sockaddr *addr,
	socklen_t *bytes, int64_t deadline);

/*
 * weft_connect, weft_connect_until - connect to a peer
 *
 *   addr, bytes  as of connect(2)
 *   deadline     see weft/base.h
 *
 * After -ETIMEDOUT or -ECANCELED the attempt goes on; close the socket, or wait
 * for POLLOUT and ask for SO_ERROR. A socket without O_NONBLOCK has it for the
 * moment of the system call.
 *
 * It also waits for room in the queue of an AF_UNIX socket that listens. Of that
 * the kernel gives no sign but to a kernel thread that waits for it alone: weft
 * asks again, from 0.1 to 20 ms later. Then the errors above leave nothing
 * behind, and it may be called again.
 *
 * Returns 0, or the errors of connect(2); -EAGAIN only with WEFT_NO_WAIT.
 *
 * Blocks     may park.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_connect(int fd, const struct sockaddr *addr,
	socklen_t bytes);
WEFT_API WEFT_MUST_USE int weft_connect_until(int fd,
	const struct sockaddr *addr, socklen_t bytes, int64_t deadline);

/*
 * weft_recv, weft_recv_until, weft_recvfrom, weft_recvfrom_until - receive
 *
 *   buf, bytes        where it goes, at most so much
 *   flags             as of recv(2). MSG_WAITALL waits until all is there; less
 *                     is returned at the end, and when an error, the deadline or
 *                     a cancellation comes after a part. MSG_DONTWAIT is
 *                     WEFT_NO_WAIT.
 *   from, from_bytes  where the sender's address goes; may be NULL
 *   deadline          see weft/base.h
 *
 * Returns the count of bytes; 0: the end, or an empty datagram.
 *
 * Blocks     may park.
 * Fairness   as weft_read().
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
 * weft_send, weft_send_until, weft_sendto, weft_sendto_until - send it all
 *
 *   buf, bytes    what to send
 *   flags         as of send(2); MSG_DONTWAIT is WEFT_NO_WAIT
 *   to, to_bytes  the receiver's address; NULL and 0: the peer
 *   deadline      see weft/base.h
 *
 * Returns the count of bytes; less than asked for as for weft_write(). Without
 * MSG_NOSIGNAL a stream whose peer has gone raises SIGPIPE.
 *
 * Blocks     may park.
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
 *   msg, flags  as of recvmsg(2) and sendmsg(2); MSG_DONTWAIT is WEFT_NO_WAIT
 *   deadline    see weft/base.h
 *
 * One system call's worth: a stream may take or give a part of it.
 *
 * Returns the count of bytes, or -EINVAL: MSG_WAITALL.
 *
 * Blocks     may park.
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

#ifdef __cplusplus
}
#endif
#endif
