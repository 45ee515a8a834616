/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/deputy.h - kernel threads that own mutexes for green threads
 *
 * The kernel lends priorities by the id of the kernel thread that owns a mutex, and
 * only that kernel thread may unlock the mutex. A green thread has no kernel thread of
 * its own. So while it holds such a mutex it has a deputy. The deputy is a kernel thread
 * that only owns these mutexes and waits for them. If the green thread ends while it
 * holds one, the deputy ends too.
 */
#ifndef WEFT_PTHREAD_SHARED_DEPUTY_H
#define WEFT_PTHREAD_SHARED_DEPUTY_H

#include <linux/futex.h>
#include <stdint.h>

#include "lockfree/atomic.h"
#include "os/kthread/kthread.h"

struct wefti_deputy {
	struct wefti_deputy *next;	/* in the free list */
	uint32_t tid;			/* the kernel's id */
	_Atomic uint32_t state;		/* a futex, and a place in the lot */
	/* The request. The thread may touch it until ASKED, the deputy until DONE. */
	int op;				/* FUTEX_LOCK_PI and so on */
	_Atomic uint32_t *word;
	int64_t deadline;		/* CLOCK_MONOTONIC; INT64_MAX: none */
	int error;			/* an errno value */
	/* The kernel's list of the mutexes it owns; a list's head is a pair of links. */
	struct robust_list *unused;
	struct robust_list_head held;
	struct wefti_os_kthread kthread;
};

/* Takes a free deputy. May park until one is created. NULL: none can be created. */
struct wefti_deputy *wefti_deputy_take(void);
void wefti_deputy_free(struct wefti_deputy *d);

/*
 * The deputy makes the futex call op on the word. Returns an errno value. wait() may
 * park, and runs signal handlers meanwhile. call() sleeps in the kernel; it is for
 * operations that do not wait.
 */
int wefti_deputy_wait(struct wefti_deputy *d, int op, _Atomic uint32_t *word,
		      int64_t deadline);
int wefti_deputy_call(struct wefti_deputy *d, int op, _Atomic uint32_t *word);

/*
 * Is the deputy still in a wait? True when a handler left the wait by longjmp(), or
 * interrupted it and still runs.
 */
int wefti_deputy_is_busy(const struct wefti_deputy *d);

/* Ends the deputy. When this returns, the kernel has marked the mutexes it held. */
void wefti_deputy_end(struct wefti_deputy *d);

void wefti_deputies_make(void);		/* by the receiver of signals: creates some */
void wefti_deputies_forget(void);	/* in the child of a fork */

#endif
