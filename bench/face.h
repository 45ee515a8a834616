/* SPDX-License-Identifier: MIT */
/*
 * face.h - one spelling of threads for weft and for Linux pthreads
 *
 * A benchmark's body is written against face_*, and is compiled once for each
 * variant by a file of two lines that says which (FACE_LIGHT, FACE_TLS or
 * FACE_PTHREADS) and includes the body. All is inline, so that the measured
 * path holds nothing but the calls of the library.
 */
#ifndef WEFT_BENCH_FACE_H
#define WEFT_BENCH_FACE_H

#include <string.h>

#include "bench.h"

#define FACE_PASTE_(a, b)	a ## b
#define FACE_PASTE(a, b)	FACE_PASTE_(a, b)
#define FACE_SYMBOL(prefix)	FACE_PASTE(prefix, FACE_NAME)
#define FACE_TEXT_(a)		#a
#define FACE_TEXT(a)		FACE_TEXT_(a)

#if defined(FACE_LIGHT)
# define FACE_NAME	light
# define FACE_FLAGS	WEFT_LIGHT
# define FACE_BIT	BENCH_NOT_LIGHT
# include "face_weft.h"
#elif defined(FACE_TLS)
# define FACE_NAME	tls
# define FACE_FLAGS	0
# define FACE_BIT	BENCH_NOT_TLS
# include "face_weft.h"
#elif defined(FACE_PTHREADS)
# define FACE_NAME	pthreads
# define FACE_BIT	BENCH_NOT_PTHREADS
# include "face_pthreads.h"
#else
# error "a file that includes face.h says which variant it is"
#endif

/* For results that are 0 unless something is broken. */
static inline void must(int err, const char *what)
{
	if (__builtin_expect(err != 0, 0))
		bench_fail("%s: %s", what, strerror(err < 0 ? -err : err));
}

#endif
