/* SPDX-License-Identifier: MIT */
/* io/file.c - calls on files, which block the kernel thread if necessary */
#include <errno.h>

#include "io/call.h"
#include "io/disk.h"
#include "life/few.h"
#include "os/call/descriptor.h"
#include "weft/io.h"
#include "weft/runtime.h"

#define PIECE	((size_t)1 << 20)	/* bytes of one sendfile */

struct at {
	void *buf;
	size_t bytes;
	off_t at;
};

static ssize_t do_pread(const struct wefti_call *call, void *arg)
{
	const struct at *a = arg;
	const struct iovec iov = { a->buf, a->bytes };

	ssize_t n;

	if (call->kind == WEFTI_OS_FILE && a->at >= 0)
		return wefti_disk_read(call->use.fd, &iov, 1, a->at);
	weft_block_begin();
	n = wefti_os_fd_pread(call->use.fd, a->buf, a->bytes, a->at);
	weft_block_end();
	return n;
}

ssize_t weft_pread(int fd, void *buf, size_t bytes, off_t at)
{
	struct at a = { buf, bytes, at };

	return wefti_call_do(fd, WEFTI_READ_SIDE, WEFTI_SIDE_ALL, do_pread, &a,
			     WEFT_NO_WAIT);
}

static ssize_t do_pwrite(const struct wefti_call *call, void *arg)
{
	const struct at *a = arg;
	ssize_t n;

	weft_block_begin();
	n = wefti_os_fd_pwrite(call->use.fd, a->buf, a->bytes, a->at);
	weft_block_end();
	return n;
}

ssize_t weft_pwrite(int fd, const void *buf, size_t bytes, off_t at)
{
	struct at a = { (void *)(uintptr_t)buf, bytes, at };

	return wefti_call_do(fd, WEFTI_WRITE_SIDE, WEFTI_SIDE_ALL, do_pwrite,
			     &a, WEFT_NO_WAIT);
}

static ssize_t do_fsync(const struct wefti_call *call, void *arg)
{
	const struct wefti_os_disk_call sync = {
		.kind = WEFTI_OS_DISK_SYNC,
		.fd = call->use.fd,
	};
	ssize_t error;

	(void)arg;
	if (!wefti_block_begin_few()) {
		error = wefti_disk_do(&sync);
		if (error != -ENOTSUP)
			return error;
		weft_block_begin();
	}
	error = wefti_os_fd_fsync(call->use.fd);
	weft_block_end();
	return error;
}

int weft_fsync(int fd)
{
	return (int)wefti_call_do(fd, WEFTI_WRITE_SIDE, WEFTI_SIDE_ALL,
				  do_fsync, NULL, WEFT_NO_WAIT);
}

struct sending {
	int in;
	off_t *at;
	size_t left;
};

/* Is the file's next byte in memory? If so, the kernel has read ahead. */
static int is_in_memory(int in, off_t at)
{
	char byte;
	const struct iovec iov = { &byte, 1 };

	return wefti_os_fd_readv_at_once(in, &iov, 1, at) != -EAGAIN;
}

static ssize_t send_piece(const struct wefti_call *call, struct sending *s)
{
	size_t bytes = s->left < PIECE ? s->left : PIECE;
	int waits = call->kind == WEFTI_OS_FILE ||
		    !is_in_memory(s->in, *s->at);
	ssize_t n;

	if (waits)
		weft_block_begin();
	n = wefti_os_fd_sendfile(call->use.fd, s->in, s->at, bytes);
	if (waits)
		weft_block_end();
	return n;
}

static ssize_t do_sendfile(const struct wefti_call *call, void *arg)
{
	struct sending *s = arg;

	while (s->left) {
		ssize_t n = send_piece(call, s);

		if (n < 0)
			return n;
		if (n == 0)
			break;	/* the end of the file */
		s->left -= (size_t)n;
	}
	return 0;
}

ssize_t weft_sendfile_until(int out, int in, off_t *at, size_t bytes,
			    int64_t deadline)
{
	struct sending s = { in, at, bytes };
	struct wefti_use use;
	ssize_t error = wefti_fd_begin(&use, in);

	if (error)
		return error;
	error = wefti_call_do(out, WEFTI_WRITE_SIDE, WEFTI_SIDE_ALL,
			      do_sendfile, &s, deadline);
	(void)wefti_fd_end(&use);
	return error < 0 && s.left == bytes ? error : (ssize_t)(bytes - s.left);
}

ssize_t weft_sendfile(int out, int in, off_t *at, size_t bytes)
{
	return weft_sendfile_until(out, in, at, bytes, WEFT_FOREVER);
}
