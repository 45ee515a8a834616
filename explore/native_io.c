/* SPDX-License-Identifier: MIT */
/*
 * explore/native_io.c - libweft.so's calls on descriptors as points
 *
 * The wait is the runtime's. What another process sends comes when it comes.
 */
#include <sys/socket.h>
#include <sys/uio.h>

#include "descriptor.h"
#include "export.h"
#include "native.h"
#include "weft.h"

#define CALL(type, name, op, parameters, arguments)				\
	EXPORT type name parameters						\
	{									\
		struct wefti_ex_thread *self = wefti_ex_native_point(		\
			WEFTI_EX_##op, NULL, WEFTI_EX_NOTHING, CALLER);		\
		type result;							\
										\
		if (self && WEFTI_EX_##op != WEFTI_EX_IN && WEFTI_EX_##op != WEFTI_EX_POLL) \
			wefti_ex_wrote_by(self);				\
		result = NEXT(name) arguments;					\
		(void)wefti_ex_native_did(self, result < 0 ? (int)result : 0);	\
		if (self && result >= 0 && WEFTI_EX_##op != WEFTI_EX_OUT)	\
			wefti_ex_read_by(self);					\
		return result;							\
	}

CALL(ssize_t, weft_read, IN, (int fd, void *to, size_t bytes), (fd, to, bytes))
CALL(ssize_t, weft_read_until, IN, (int fd, void *to, size_t bytes, int64_t deadline),
     (fd, to, bytes, deadline))
CALL(ssize_t, weft_readv, IN, (int fd, const struct iovec *to, int n), (fd, to, n))
CALL(ssize_t, weft_readv_until, IN,
     (int fd, const struct iovec *to, int n, int64_t deadline), (fd, to, n, deadline))
CALL(ssize_t, weft_write, OUT, (int fd, const void *from, size_t bytes), (fd, from, bytes))
CALL(ssize_t, weft_write_until, OUT,
     (int fd, const void *from, size_t bytes, int64_t deadline), (fd, from, bytes, deadline))
CALL(ssize_t, weft_writev, OUT, (int fd, const struct iovec *from, int n), (fd, from, n))
CALL(ssize_t, weft_writev_until, OUT,
     (int fd, const struct iovec *from, int n, int64_t deadline), (fd, from, n, deadline))
CALL(ssize_t, weft_sendfile, OUT, (int out, int in, off_t *at, size_t bytes),
     (out, in, at, bytes))
CALL(ssize_t, weft_sendfile_until, OUT,
     (int out, int in, off_t *at, size_t bytes, int64_t deadline),
     (out, in, at, bytes, deadline))
CALL(ssize_t, weft_recv, IN, (int fd, void *to, size_t bytes, int flags),
     (fd, to, bytes, flags))
CALL(ssize_t, weft_recv_until, IN,
     (int fd, void *to, size_t bytes, int flags, int64_t deadline),
     (fd, to, bytes, flags, deadline))
CALL(ssize_t, weft_recvfrom, IN,
     (int fd, void *to, size_t bytes, int flags, struct sockaddr *from, socklen_t *length),
     (fd, to, bytes, flags, from, length))
CALL(ssize_t, weft_recvfrom_until, IN,
     (int fd, void *to, size_t bytes, int flags, struct sockaddr *from, socklen_t *length,
      int64_t deadline), (fd, to, bytes, flags, from, length, deadline))
CALL(ssize_t, weft_recvmsg, IN, (int fd, struct msghdr *message, int flags),
     (fd, message, flags))
CALL(ssize_t, weft_recvmsg_until, IN,
     (int fd, struct msghdr *message, int flags, int64_t deadline),
     (fd, message, flags, deadline))
CALL(ssize_t, weft_send, OUT, (int fd, const void *from, size_t bytes, int flags),
     (fd, from, bytes, flags))
CALL(ssize_t, weft_send_until, OUT,
     (int fd, const void *from, size_t bytes, int flags, int64_t deadline),
     (fd, from, bytes, flags, deadline))
CALL(ssize_t, weft_sendto, OUT,
     (int fd, const void *from, size_t bytes, int flags, const struct sockaddr *to,
      socklen_t length), (fd, from, bytes, flags, to, length))
CALL(ssize_t, weft_sendto_until, OUT,
     (int fd, const void *from, size_t bytes, int flags, const struct sockaddr *to,
      socklen_t length, int64_t deadline), (fd, from, bytes, flags, to, length, deadline))
CALL(ssize_t, weft_sendmsg, OUT, (int fd, const struct msghdr *message, int flags),
     (fd, message, flags))
CALL(ssize_t, weft_sendmsg_until, OUT,
     (int fd, const struct msghdr *message, int flags, int64_t deadline),
     (fd, message, flags, deadline))
CALL(int, weft_accept, IN, (int fd, struct sockaddr *address, socklen_t *bytes),
     (fd, address, bytes))
CALL(int, weft_accept_until, IN,
     (int fd, struct sockaddr *address, socklen_t *bytes, int64_t deadline),
     (fd, address, bytes, deadline))
CALL(int, weft_connect, CONNECT, (int fd, const struct sockaddr *address, socklen_t bytes),
     (fd, address, bytes))
CALL(int, weft_connect_until, CONNECT,
     (int fd, const struct sockaddr *address, socklen_t bytes, int64_t deadline),
     (fd, address, bytes, deadline))
CALL(int, weft_wait_fd, POLL, (int fd, short events, int64_t deadline),
     (fd, events, deadline))
CALL(int, weft_poll, POLL, (struct pollfd *fds, size_t n, int64_t deadline),
     (fds, n, deadline))
CALL(int, weft_close, CLOSE_FD, (int fd), (fd))
CALL(ssize_t, weft_reader_line, IN, (struct weft_reader *reader, char **line, int64_t deadline),
     (reader, line, deadline))
CALL(ssize_t, weft_reader_read, IN,
     (struct weft_reader *reader, void *to, size_t bytes, int64_t deadline),
     (reader, to, bytes, deadline))
