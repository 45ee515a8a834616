/* SPDX-License-Identifier: MIT */
/* init/start.h - what start and stop share */
#ifndef WEFT_INIT_START_H
#define WEFT_INIT_START_H

#include "sched/vcpu.h"

/* Kernel thread 0, and the memory that it got when main became a thread. */
struct wefti_first {
	struct wefti_kthread *k;
	struct wefti_cold *cold;	/* main's */
	void *memory;			/* k's stack and TLS block */
	size_t bytes;
};

extern struct wefti_first wefti_first;

int wefti_first_make(void);	/* main becomes a thread */
void wefti_first_undo(void);	/* main is the kernel thread again */
void wefti_vcpus_free(void);

#endif
