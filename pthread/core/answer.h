/* SPDX-License-Identifier: MIT */
/* pthread/core/answer.h - the results of calls that set errno */
#ifndef WEFT_PTHREAD_CORE_ANSWER_H
#define WEFT_PTHREAD_CORE_ANSWER_H

#include <errno.h>
#include <sys/types.h>

/* Turns a result of the kernel, where errors are negative, into libc's. */
static inline ssize_t wefti_pt_result(ssize_t r)
{
	if (r >= 0)
		return r;
	errno = (int)-r;
	return -1;
}

/* For a call without a result: error is 0 or an error number. */
static inline int wefti_answer(int error)
{
	return (int)wefti_pt_result(-error);
}

#endif
