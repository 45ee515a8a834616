/* SPDX-License-Identifier: MIT */
/* bare_vcpus.h - VCPUs without the runtime, for tests of what looks at them */
#ifndef WEFT_TESTS_BARE_VCPUS_H
#define WEFT_TESTS_BARE_VCPUS_H

#include <stdlib.h>
#include <string.h>

#include "sched/ready.h"
#include "sched/seat.h"
#include "threads.h"

/* All that there are, as new; the array's are freed, NULL the first time. */
static inline void bare_vcpus(struct wefti_vcpu *vcpu[], unsigned count)
{
	if (!vcpu[0]) {
		must(wefti_fifo_reserve(0) == 0);
		must(wefti_fifo_init(&wefti_rt.inject, 0) == 0);
		(void)wefti_known_self();
	}
	wefti_rt.vcpu_count = count;
	for (unsigned i = 0; i < count; i++) {
		free(vcpu[i]);
		vcpu[i] = aligned_alloc(CACHE_LINE, sizeof(*vcpu[i]));
		must(vcpu[i] != NULL);
		memset(vcpu[i], 0, sizeof(*vcpu[i]));
		wefti_ready_begin(vcpu[i], 0);
		vcpu[i]->index = i;
		store_relaxed(&vcpu[i]->timers.next, INT64_MAX);
		wefti_rt.vcpu[i] = vcpu[i];
	}
}

#endif
