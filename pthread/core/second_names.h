/* SPDX-License-Identifier: MIT */
/*
 * pthread/core/second_names.h - functions that libc exports under a second name, too
 *
 * For example __read() for read(). Programs may be linked to such names. SECOND_NAME()
 * stands behind the function's definition, and tools/check-pthread compares the names
 * with libc's. Both names mean that function, which has one row in the table.
 */
#ifndef WEFT_PTHREAD_CORE_SECOND_NAMES_H
#define WEFT_PTHREAD_CORE_SECOND_NAMES_H

#include "pthread/core/real.h"

#ifdef __has_attribute
#if __has_attribute(copy)
#define WEFTI_ATTRIBUTES_OF(name)	__attribute__((copy(name)))
#endif
#endif
#ifndef WEFTI_ATTRIBUTES_OF
#define WEFTI_ATTRIBUTES_OF(name)
#endif

/* A header may declare the second name, with types of its own (struct stat64). */
#define SECOND_NAME(name, second)					\
	EXPORT __typeof__(name) wefti_second_##second __asm__(#second)	\
		WEFTI_ATTRIBUTES_OF(name) __attribute__((alias(#name)))

#endif
