/* SPDX-License-Identifier: MIT */
/* pthread/core/answer.h - what calls return that set errno */
#ifndef WEFT_PTHREAD_CORE_ANSWER_H
#define WEFT_PTHREAD_CORE_ANSWER_H

#include <errno.h>
#include <sys/types.h>

/* The kernel's results, negative numbers for errors, as libc gives them. */
static inline ssize_t wefti_pt_result(ssize_t r)
{
	if (r >= 0)
		return r;
	errno = (int)-r;
	return -1;
}

/* Of a call that has no result: 0, or an error number. */
static inline int wefti_answer(int error)
{
	return (int)wefti_pt_result(-error);
}

#endif
