/* SPDX-License-Identifier: MIT */
/* sched/spare.h - kernel threads without a VCPU: kept, given a VCPU, ended */
#ifndef WEFT_SCHED_SPARE_H
#define WEFT_SCHED_SPARE_H

#include "sched/vcpu.h"

/*
 * Called by the kernel thread: waits for a VCPU. NULL: it is asked for something else.
 */
struct wefti_vcpu *wefti_spare_wait(struct wefti_kthread *k);

/* Only the monitor calls the other functions. */

/*
 * Reserves a waiting spare, or makes a new one. The spare does nothing until it is given
 * a VCPU. If it is given NULL, it becomes an ordinary spare. Returns NULL if the limit is
 * reached (reported the first time), or if no kernel thread can be made.
 */
struct wefti_kthread *wefti_spare_reserve(void);
void wefti_spare_give(struct wefti_kthread *k, struct wefti_vcpu *v);

/*
 * Ends spares that were not needed for a second. Returns 1 while there are spares that
 * may have to be ended later.
 */
int wefti_spares_trim(int64_t now);

/*
 * Set by a layer above, for good: a kernel thread that has run threads does not end
 * while the runtime runs. For what the kernel ends together with the kernel thread that
 * asked for it.
 */
extern _Atomic uint32_t wefti_spares_stay;

/* Called when the runtime starts: there are no spares. */
void wefti_spares_reset(void);

#endif
