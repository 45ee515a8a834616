/* SPDX-License-Identifier: MIT */
/* lockfree/perturb.h - delays before atomic operations, for tests */
#ifndef WEFT_LOCKFREE_PERTURB_H
#define WEFT_LOCKFREE_PERTURB_H

/*
 * Usually returns at once. Rarely it spins for a while; more rarely it gives the CPU to
 * another kernel thread. Where it does so depends on WEFT_TEST_SEED (a number; default
 * 1) and on the order in which kernel threads first call it.
 */
void wefti_perturb(void);

/* Called in the place of all that, where it is set (sched/explore.c). */
typedef void wefti_perturb_hook_fn(void);
extern _Atomic(wefti_perturb_hook_fn *) wefti_perturb_hook;

#endif
