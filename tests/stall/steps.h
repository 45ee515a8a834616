/* SPDX-License-Identifier: MIT */
/*
 * steps.h - stops one kernel thread before its n-th atomic operation
 *
 * The library that these tests link is compiled with WEFT_PERTURB, so that each
 * atomic operation calls wefti_perturb(). Ours counts the operations of one
 * kernel thread from a moment on, whatever the thread does and on whatever
 * stack. Then it stops the thread in a futex, like one that has lost its CPU to
 * the kernel, until it is let go.
 */
#ifndef WEFT_TESTS_STALL_STEPS_H
#define WEFT_TESTS_STALL_STEPS_H

#include <stddef.h>

/*
 * The calling kernel thread will stop before its n-th operation from now, from
 * 1 up. One kernel thread at a time.
 */
void steps_begin(size_t n);

/* The call is over: no more steps count. */
void steps_end(void);

/* Is it stopped? */
int steps_stopped(void);

/* Operations counted since steps_begin(). */
size_t steps_taken(void);

/* Operations of the calling kernel thread, all that there ever were. */
size_t steps_own(void);

/* Where they are counted, for others to look at. */
_Atomic size_t *steps_own_place(void);

/* Until it goes on, the calling kernel thread's operations do not count. */
void steps_hold(void);
void steps_go_on(void);

/* Lets it go on to its n-th operation, still counted from steps_begin(). */
void steps_go_to(size_t n);

/* Lets it go on, and counts no more. */
void steps_release(void);

#endif
