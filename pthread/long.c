/* SPDX-License-Identifier: MIT */
/* pthread/long.c - calls that wait inside libc or for a device: in a region */
#include "pthread/cancel.h"
#include "pthread/real.h"
#include "pthread/region.h"
#include "pthread/signal.h"

#define IN_REGION(call)				\
	__typeof__(call) r_;			\
						\
	wefti_region_begin();			\
	r_ = (call);				\
	wefti_region_end();			\
	wefti_signals_look();			\
	return r_

EXPORT int getaddrinfo(const char *node, const char *service,
		       const struct addrinfo *hints, struct addrinfo **result)
{
	IN_REGION(REAL(getaddrinfo)(node, service, hints, result));
}

EXPORT int getnameinfo(const struct sockaddr *address, socklen_t length,
		       char *host, socklen_t host_bytes, char *service,
		       socklen_t service_bytes, int flags)
{
	IN_REGION(REAL(getnameinfo)(address, length, host, host_bytes, service,
				    service_bytes, flags));
}

EXPORT int aio_suspend(const struct aiocb *const list[], int count,
		       const struct timespec *timeout)
{
	wefti_cancel_point();
	IN_REGION(REAL(aio_suspend)(list, count, timeout));
}

EXPORT int fsync(int fd)
{
	wefti_cancel_point();
	IN_REGION(REAL(fsync)(fd));
}

EXPORT int fdatasync(int fd)
{
	wefti_cancel_point();
	IN_REGION(REAL(fdatasync)(fd));
}

EXPORT int tcdrain(int fd)
{
	wefti_cancel_point();
	IN_REGION(REAL(tcdrain)(fd));
}

EXPORT int lockf(int fd, int command, off_t bytes)
{
	wefti_cancel_point();
	IN_REGION(REAL(lockf)(fd, command, bytes));
}
