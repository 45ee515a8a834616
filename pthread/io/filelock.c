/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/filelock.c - file locks, and the other commands of fcntl()
 *
 * A free lock is taken without waiting. A thread that has to wait does so in the kernel,
 * in a region, because only the kernel knows when the lock is free.
 */
#include <errno.h>
#include <stdarg.h>

#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/core/started.h"
#include "pthread/io/owner.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/fd_table.h"

EXPORT int flock(int fd, int operation)
{
	int status, saved = errno;

	if (!wefti_pt_green() || (operation & LOCK_NB))
		return REAL(flock)(fd, operation);
	status = REAL(flock)(fd, operation | LOCK_NB);
	if (status == 0 || errno != EWOULDBLOCK)
		return status;
	errno = saved;
	wefti_region_begin_call(WEFTI_ENDS_BY_HANDLER);
	status = REAL(flock)(fd, operation);
	wefti_region_end_call();
	wefti_signals_run_any();
	return status;
}

/* This is a cancellation point. */
static int wait_lock(int fd, int command, void *lock)
{
	int status, saved = errno;

	wefti_cancel_point();
	status = REAL(fcntl)(fd, command == F_SETLKW ? F_SETLK : F_OFD_SETLK,
			     lock);
	if (status == 0 || (errno != EAGAIN && errno != EACCES))
		return status;
	errno = saved;
	wefti_region_begin_call(WEFTI_ENDS);
	status = REAL(fcntl)(fd, command, lock);
	wefti_region_end_call();
	if (status < 0)
		wefti_cancel_point();
	wefti_signals_run_any();
	return status;
}

static int control(int fd, int command, void *arg)
{
	int result;

	if (command == F_SETFL)
		wefti_pt_fd_doubt(fd, WEFTI_FD_BLOCKS | WEFTI_FD_CACHED);
	if ((command == F_SETLKW || command == F_OFD_SETLKW) &&
	    wefti_pt_green())
		return wait_lock(fd, command, arg);
	if (wefti_pt_is_started() && wefti_owner_control(fd, command, arg, &result))
		return result;
	return REAL(fcntl)(fd, command, arg);
}

EXPORT int fcntl(int fd, int command, ...)
{
	va_list list;
	void *arg;

	va_start(list, command);
	arg = va_arg(list, void *);
	va_end(list);
	return control(fd, command, arg);
}
SECOND_NAME(fcntl, __fcntl);

EXPORT int fcntl64(int fd, int command, ...)
{
	va_list list;
	void *arg;

	va_start(list, command);
	arg = va_arg(list, void *);
	va_end(list);
	return control(fd, command, arg);
}
