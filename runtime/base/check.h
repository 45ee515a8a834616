/* SPDX-License-Identifier: MIT */
/*
 * base/check.h - what must hold, and the end of the program when it does not
 *
 *	WEFT_CHECK(cond, format...)	always: states that mean corruption
 *	WEFT_ASSERT(cond, format...)	with WEFT_DEBUG
 *	WEFT_ASSERT_SLOW(cond, ...)	with WEFT_DEBUG: walks of a structure
 *
 * The format (base/format.h) is a literal and may be left out. The message goes to
 * stderr as "weft: file:line: cond: message", in one write(2). So all of these may be
 * used in a signal handler. Without WEFT_DEBUG an assertion is compiled and never
 * evaluated.
 */
#ifndef WEFT_BASE_CHECK_H
#define WEFT_BASE_CHECK_H

#include "base/compiler.h"

/* `format` begins with a space, so that it is never an empty literal. */
COLD _Noreturn void wefti_check_failed(const char *file, int line,
				       const char *cond, const char *format,
				       ...)
	__attribute__((format(printf, 4, 5)));

#define WEFT_CHECK(cond, ...)						\
	do {								\
		if (unlikely(!(cond)))					\
			wefti_check_failed(__FILE__, __LINE__, #cond,	\
					   " " __VA_ARGS__);		\
	} while (0)

#define wefti_check_never(cond, ...)					\
	do {								\
		if (0)							\
			WEFT_CHECK(cond, __VA_ARGS__);			\
	} while (0)

#ifdef WEFT_DEBUG
#define WEFT_ASSERT		WEFT_CHECK
#define WEFT_ASSERT_SLOW	WEFT_CHECK
#else
#define WEFT_ASSERT		wefti_check_never
#define WEFT_ASSERT_SLOW	wefti_check_never
#endif

#endif
