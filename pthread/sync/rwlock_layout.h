/* SPDX-License-Identifier: MIT */
/* pthread/sync/rwlock_layout.h - what an rwlock's words are, in glibc's size */
#ifndef WEFT_PTHREAD_SYNC_RWLOCK_LAYOUT_H
#define WEFT_PTHREAD_SYNC_RWLOCK_LAYOUT_H

#include <stdint.h>

#include "lockfree/atomic.h"

struct wefti_pt_rwlock {
	_Atomic uint32_t word;	/* readers wait at its address */
	char writers[4];	/* writers wait at this address */
	_Atomic int writer;
};

_Static_assert(sizeof(struct wefti_pt_rwlock) <= 24, "below what is kept of glibc's");

#endif
