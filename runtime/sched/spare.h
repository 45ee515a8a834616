/* SPDX-License-Identifier: MIT */
/* sched/spare.h - kernel threads without a VCPU: kept, given one, ended */
#ifndef WEFT_SCHED_SPARE_H
#define WEFT_SCHED_SPARE_H

#include "sched/vcpu.h"

/* By the kernel thread: waits for a VCPU. NULL: something else is asked of it. */
struct wefti_vcpu *wefti_spare_wait(struct wefti_kthread *k);

/* The rest is the monitor's. */

/*
 * One that waits, or a new one; it does nothing until it is given a VCPU, or
 * NULL, which makes it an ordinary spare. NULL: there may be no more (the first
 * time, that is reported), or none can be made.
 */
struct wefti_kthread *wefti_spare_reserve(void);
void wefti_spare_give(struct wefti_kthread *k, struct wefti_vcpu *v);

/*
 * Ends those that were not needed for a second. Returns 1 while there are some
 * that may turn out not to be.
 */
int wefti_spares_trim(int64_t now);

/*
 * Set by a layer above, for good: a kernel thread that has run threads does not end
 * while the runtime runs. For what the kernel ends with whichever has asked for it.
 */
extern _Atomic uint32_t wefti_spares_stay;

/* The runtime starts: there are none. */
void wefti_spares_reset(void);

#endif
