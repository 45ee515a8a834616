/* SPDX-License-Identifier: MIT */
/* pthread/shared/mutex_layout.h - what the words of glibc's mutex mean */
#ifndef WEFT_PTHREAD_SHARED_MUTEX_LAYOUT_H
#define WEFT_PTHREAD_SHARED_MUTEX_LAYOUT_H

#include <limits.h>
#include <pthread.h>
#include <stdint.h>

/* Bits of __kind. */
#define WEFTI_MUTEX_KIND_MASK	3
#define WEFTI_MUTEX_ROBUST	16
#define WEFTI_MUTEX_INHERIT	32
#define WEFTI_MUTEX_PROTECT	64
#define WEFTI_MUTEX_SHARED	128

/* Values of a robust mutex's __owner. */
#define WEFTI_NOTRECOVERABLE	(INT_MAX - 1)
#define WEFTI_INCONSISTENT	INT_MAX

/* A lock's word: libc keeps the ceiling in these high bits; the low bits are the lock. */
#define WEFTI_CEILING_SHIFT	19
#define WEFTI_CEILING_MASK	0xfff80000u

/* A shared mutex: its owner among the threads of all processes; 0: no thread of weft. */
static inline uint64_t *wefti_mutex_holder(const pthread_mutex_t *m)
{
	return (uint64_t *)(uintptr_t)&m->__data.__list;
}

#endif
