/* SPDX-License-Identifier: MIT */
/* pthread/uring.h - io_uring: which programs are told that there is none */
#ifndef WEFT_PTHREAD_URING_H
#define WEFT_PTHREAD_URING_H

/* Is whoever asks for a ring now told so (ENOSYS)? */
int wefti_uring_is_refused(int has_other_way);

#endif
