/* SPDX-License-Identifier: MIT */
/* pthread/io/in_region.c - calls that wait inside libc or for a device: in a region */
#include <errno.h>

#include "pthread/core/real.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"

/* The region ends behind the call with the result r. */
static int ended(int r)
{
	wefti_region_end();
	return r;
}

static struct hostent *ended_host(struct hostent *host)
{
	wefti_region_end();
	return host;
}

EXPORT int getaddrinfo(const char *node, const char *service,
		       const struct addrinfo *hints, struct addrinfo **result)
{
	wefti_region_begin();
	return ended(REAL(getaddrinfo)(node, service, hints, result));
}

EXPORT int getnameinfo(const struct sockaddr *address, socklen_t length,
		       char *host, socklen_t host_bytes, char *service,
		       socklen_t service_bytes, int flags)
{
	wefti_region_begin();
	return ended(REAL(getnameinfo)(address, length, host, host_bytes,
				       service, service_bytes, flags));
}

EXPORT struct hostent *gethostbyname(const char *name)
{
	wefti_region_begin();
	return ended_host(REAL(gethostbyname)(name));
}

EXPORT struct hostent *gethostbyname2(const char *name, int family)
{
	wefti_region_begin();
	return ended_host(REAL(gethostbyname2)(name, family));
}

EXPORT struct hostent *gethostbyaddr(const void *address, socklen_t length,
				     int family)
{
	wefti_region_begin();
	return ended_host(REAL(gethostbyaddr)(address, length, family));
}

EXPORT int gethostbyname_r(const char *name, struct hostent *host, char *buf,
			   size_t bytes, struct hostent **result, int *error)
{
	wefti_region_begin();
	return ended(REAL(gethostbyname_r)(name, host, buf, bytes, result,
					   error));
}

EXPORT int gethostbyname2_r(const char *name, int family, struct hostent *host,
			    char *buf, size_t bytes, struct hostent **result,
			    int *error)
{
	wefti_region_begin();
	return ended(REAL(gethostbyname2_r)(name, family, host, buf, bytes,
					    result, error));
}

EXPORT int gethostbyaddr_r(const void *address, socklen_t length, int family,
			   struct hostent *host, char *buf, size_t bytes,
			   struct hostent **result, int *error)
{
	wefti_region_begin();
	return ended(REAL(gethostbyaddr_r)(address, length, family, host, buf,
					   bytes, result, error));
}

EXPORT int aio_suspend(const struct aiocb *const list[], int count,
		       const struct timespec *timeout)
{
	wefti_region_begin_point(WEFTI_ENDS);
	return (int)wefti_region_end_point(
		REAL(aio_suspend)(list, count, timeout));
}

EXPORT int aio_suspend64(const struct aiocb64 *const list[], int count,
			 const struct timespec *timeout)
{
	wefti_region_begin_point(WEFTI_ENDS);
	return (int)wefti_region_end_point(
		REAL(aio_suspend64)(list, count, timeout));
}

/*
 * libc waits by a futex. It also makes threads and takes locks, and a handler must not
 * end those calls. Not a cancellation point.
 */
static void listio_begins(int mode)
{
	if (mode == LIO_WAIT)
		wefti_region_begin_call(WEFTI_ENDS_BY_HANDLER |
					WEFTI_ENDS_A_FUTEX);
}

static int listio_ended(int mode, int r)
{
	if (mode == LIO_WAIT)
		wefti_region_end_call();
	return r;
}

EXPORT int lio_listio(int mode, struct aiocb *const list[], int count,
		      struct sigevent *event)
{
	listio_begins(mode);
	return listio_ended(mode, REAL(lio_listio)(mode, list, count, event));
}

EXPORT int lio_listio64(int mode, struct aiocb64 *const list[], int count,
			struct sigevent *event)
{
	listio_begins(mode);
	return listio_ended(mode, REAL(lio_listio64)(mode, list, count, event));
}

EXPORT int gai_suspend(const struct gaicb *const list[], int count,
		       const struct timespec *timeout)
{
	wefti_region_begin_point(WEFTI_ENDS);
	return (int)wefti_region_end_point(
		REAL(gai_suspend)(list, count, timeout));
}

/* It waits only while the system starts, so it needs no region. */
EXPORT ssize_t getrandom(void *buf, size_t bytes, unsigned flags)
{
	wefti_cancel_point();
	return REAL(getrandom)(buf, bytes, flags);
}

EXPORT int msync(void *at, size_t bytes, int flags)
{
	wefti_cancel_point();
	wefti_region_begin();
	return ended(REAL(msync)(at, bytes, flags));
}

EXPORT int sync_file_range(int fd, off64_t at, off64_t bytes, unsigned flags)
{
	wefti_cancel_point();
	wefti_region_begin();
	return ended(REAL(sync_file_range)(fd, at, bytes, flags));
}

EXPORT int syncfs(int fd)
{
	wefti_region_begin();
	return ended(REAL(syncfs)(fd));
}

EXPORT void sync(void)
{
	wefti_region_begin();
	REAL(sync)();
	wefti_region_end();
}

EXPORT int fallocate(int fd, int mode, off_t at, off_t bytes)
{
	wefti_cancel_point();
	wefti_region_begin();
	return ended(REAL(fallocate)(fd, mode, at, bytes));
}

EXPORT int fallocate64(int fd, int mode, off64_t at, off64_t bytes)
{
	return fallocate(fd, mode, at, bytes);
}

/* Not a cancellation point, as in libc. */
EXPORT int posix_fallocate(int fd, off_t at, off_t bytes)
{
	wefti_region_begin();
	return ended(REAL(posix_fallocate)(fd, at, bytes));
}

EXPORT int posix_fallocate64(int fd, off64_t at, off64_t bytes)
{
	return posix_fallocate(fd, at, bytes);
}

EXPORT int tcdrain(int fd)
{
	const uint32_t handled = wefti_pt.handled;
	int r;

	wefti_cancel_point();
	do {	/* any signal ends it, the runtime's too */
		wefti_region_begin_call(WEFTI_ENDS);
		r = REAL(tcdrain)(fd);
		wefti_region_end_call();
		if (r < 0)
			wefti_cancel_point();
	} while (r < 0 && errno == EINTR && wefti_pt.handled == handled);
	wefti_signals_run_any();
	return r;
}

EXPORT int lockf(int fd, int command, off_t bytes)
{
	wefti_region_begin_point(WEFTI_ENDS);
	return (int)wefti_region_end_point(REAL(lockf)(fd, command, bytes));
}

EXPORT int lockf64(int fd, int command, off64_t bytes)
{
	return lockf(fd, command, bytes);
}
