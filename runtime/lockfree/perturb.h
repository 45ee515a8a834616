/* SPDX-License-Identifier: MIT */
/* lockfree/perturb.h - delays before atomic operations, for tests */
#ifndef WEFT_LOCKFREE_PERTURB_H
#define WEFT_LOCKFREE_PERTURB_H

/*
 * Usually returns at once; rarely spins for a while, more rarely gives the CPU
 * to another kernel thread. Where it does so is decided by WEFT_TEST_SEED (a
 * number; default 1) and by the order in which kernel threads first call it.
 */
void wefti_perturb(void);

#endif
