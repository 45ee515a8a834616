/* SPDX-License-Identifier: MIT */
/* pthread/io/uring.h - io_uring: which programs are told that there is none */
#ifndef WEFT_PTHREAD_IO_URING_H
#define WEFT_PTHREAD_IO_URING_H

/*
 * The answer to a request for a ring with these flags: ENOSYS (no io_uring), EINVAL (no
 * such ring), or 0. After a 0, kernel threads no longer end.
 */
int wefti_uring_error(unsigned flags, int has_other_way);

#endif
