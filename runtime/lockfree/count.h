/* SPDX-License-Identifier: MIT */
/* lockfree/count.h - counts atomic instructions, for a benchmark */
#ifndef WEFT_LOCKFREE_COUNT_H
#define WEFT_LOCKFREE_COUNT_H

#include <stdatomic.h>
#include <stdint.h>

/* Counts of all threads. The program defines them. */
extern _Atomic uint64_t wefti_count_cas;	/* failed ones included */
extern _Atomic uint64_t wefti_count_rmw;	/* the other operations that write */

#define wefti_count(what)						\
	atomic_fetch_add_explicit(&wefti_count_##what, 1,		\
				  memory_order_relaxed)

#endif
