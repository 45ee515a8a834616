/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/splice.c - calls that move data between descriptors: in a region
 *
 * No flag keeps both ends from waiting.
 */
#include <errno.h>
#include <sys/sendfile.h>

#include "pthread/core/real.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"

EXPORT ssize_t splice(int from, off64_t *from_at, int to, off64_t *to_at,
		      size_t bytes, unsigned flags)
{
	if (!wefti_pt_green())
		return REAL(splice)(from, from_at, to, to_at, bytes, flags);
	wefti_region_begin_point(WEFTI_ENDS);
	return wefti_region_end_point(
		REAL(splice)(from, from_at, to, to_at, bytes, flags));
}

EXPORT ssize_t tee(int from, int to, size_t bytes, unsigned flags)
{
	if (!wefti_pt_green())
		return REAL(tee)(from, to, bytes, flags);
	wefti_region_begin_point(WEFTI_ENDS);
	return wefti_region_end_point(REAL(tee)(from, to, bytes, flags));
}

EXPORT ssize_t vmsplice(int fd, const struct iovec *iov, size_t count,
			unsigned flags)
{
	if (!wefti_pt_green())
		return REAL(vmsplice)(fd, iov, count, flags);
	wefti_region_begin_point(WEFTI_ENDS);
	return wefti_region_end_point(REAL(vmsplice)(fd, iov, count, flags));
}

EXPORT ssize_t copy_file_range(int from, off64_t *from_at, int to,
			       off64_t *to_at, size_t bytes, unsigned flags)
{
	if (!wefti_pt_green())
		return REAL(copy_file_range)(from, from_at, to, to_at, bytes,
					     flags);
	wefti_region_begin_point(0);
	return wefti_region_end_point(REAL(copy_file_range)(
		from, from_at, to, to_at, bytes, flags));
}

EXPORT ssize_t sendfile(int to, int from, off_t *at, size_t bytes)
{
	ssize_t r;

	if (!wefti_pt_green())
		return REAL(sendfile)(to, from, at, bytes);
	wefti_region_begin_call(WEFTI_ENDS_BY_HANDLER);
	r = REAL(sendfile)(to, from, at, bytes);
	wefti_region_end_call();
	return r;
}

EXPORT ssize_t sendfile64(int to, int from, off64_t *at, size_t bytes)
{
	return sendfile(to, from, at, bytes);
}
