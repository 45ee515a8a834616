/* SPDX-License-Identifier: MIT */
/* pthread/mutex.h - mutexes, for condition variables */
#ifndef WEFT_PTHREAD_MUTEX_H
#define WEFT_PTHREAD_MUTEX_H

#include <pthread.h>
#include <stdint.h>

/* Bits of __kind. */
#define WEFTI_MUTEX_ROBUST	16
#define WEFTI_MUTEX_SHARED	128

/* Of a shared one: which thread of all processes has it; 0: none of weft's. */
static inline uint64_t *wefti_mutex_holder(const pthread_mutex_t *m)
{
	return (uint64_t *)(uintptr_t)&m->__data.__list;
}

/* 0: it checks who gives it back, and the caller does not have it. */
int wefti_mutex_may_wait(const pthread_mutex_t *m);

/*
 * Around libc's own wait for a condition variable that processes share. It
 * gives the mutex back and takes it again itself, so meanwhile the caller is a
 * kernel thread to libc and the kernel: in a region, not preempted, known by the
 * kernel's id. Not for a private mutex.
 */
struct wefti_mutex_lent {
	int tid;			/* of the kernel thread; 0: no need */
	int tid_before;
	void *list_before;
	uint64_t mask_before;
};

struct wefti_mutex_lent wefti_mutex_lend(pthread_mutex_t *m);
void wefti_mutex_take_back(pthread_mutex_t *m, struct wefti_mutex_lent l);

#endif
