/* SPDX-License-Identifier: MIT */
/* pthread/io/uring.h - io_uring: which programs are told that there is none */
#ifndef WEFT_PTHREAD_IO_URING_H
#define WEFT_PTHREAD_IO_URING_H

/*
 * Of whoever asks for a ring with these flags: ENOSYS, there is none; EINVAL, not such
 * a one; 0. Kernel threads do not end from then on.
 */
int wefti_uring_error(unsigned flags, int has_other_way);

#endif
