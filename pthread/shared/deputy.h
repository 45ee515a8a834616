/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/deputy.h - kernel threads that own mutexes for green threads
 *
 * The kernel lends priorities by the id of the kernel thread that owns a mutex, and
 * only that one may give the mutex back. A green thread has no kernel thread of its
 * own. So from its first mutex to its last it has a deputy: a kernel thread that does
 * nothing but own these mutexes, wait for them, and end if its thread ends with one.
 */
#ifndef WEFT_PTHREAD_SHARED_DEPUTY_H
#define WEFT_PTHREAD_SHARED_DEPUTY_H

#include <linux/futex.h>
#include <stdint.h>

#include "lockfree/atomic.h"
#include "os/kthread/kthread.h"

struct wefti_deputy {
	struct wefti_deputy *next;	/* in the list of those that are free */
	uint32_t tid;			/* the kernel's */
	_Atomic uint32_t state;		/* a futex, and a place in the lot */
	/* What it is asked to do; its thread's until ASKED, its own until DONE. */
	int op;				/* FUTEX_LOCK_PI and so on */
	_Atomic uint32_t *word;
	int64_t deadline;		/* CLOCK_MONOTONIC; INT64_MAX: none */
	int error;			/* an errno value */
	/* The kernel's list of what it owns; a list's head is a pair of links. */
	struct robust_list *unused;
	struct robust_list_head held;
	struct wefti_os_kthread kthread;
};

/* One that is free. May park, until it is made. NULL: none can be made. */
struct wefti_deputy *wefti_deputy_take(void);
void wefti_deputy_free(struct wefti_deputy *d);

/*
 * It does that system call with the word. Returns an errno value. wait() may park, and
 * runs handlers meanwhile; call() sleeps in the kernel, for what takes no time.
 */
int wefti_deputy_wait(struct wefti_deputy *d, int op, _Atomic uint32_t *word,
		      int64_t deadline);
int wefti_deputy_call(struct wefti_deputy *d, int op, _Atomic uint32_t *word);

/* Is it still in a wait that a handler has left by longjmp(), or is on top of? */
int wefti_deputy_is_busy(const struct wefti_deputy *d);

/* It ends, and the kernel has marked what it held when this returns. */
void wefti_deputy_end(struct wefti_deputy *d);

void wefti_deputies_look(void);		/* by the receiver of signals: makes one */
void wefti_deputies_forget(void);	/* in the child of a fork */

#endif
