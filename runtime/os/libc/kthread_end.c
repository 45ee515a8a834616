/* SPDX-License-Identifier: MIT */
/*
 * os/libc/kthread_end.c - calls a function when the calling kernel thread ends
 *
 * Writers
 *   function  wefti_os_at_kthread_end
 */
#include "os/libc/kthread_end.h"

#include <errno.h>
#include <pthread.h>

#include "lockfree/atomic.h"

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic(void (*)(void *arg)) function;
static int made;

static void make_key(void)
{
	made = pthread_key_create(&key, load_relaxed(&function)) == 0;
}

int wefti_os_at_kthread_end(void (*fn)(void *arg), void *arg)
{
	store_relaxed(&function, fn);
	pthread_once(&once, make_key);
	return made && pthread_setspecific(key, arg) == 0 ? 0 : -EAGAIN;
}
