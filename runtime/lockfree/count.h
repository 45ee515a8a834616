/* SPDX-License-Identifier: MIT */
/* lockfree/count.h - atomic instructions are counted, for a benchmark */
#ifndef WEFT_LOCKFREE_COUNT_H
#define WEFT_LOCKFREE_COUNT_H

#include <stdatomic.h>
#include <stdint.h>

/* Of all threads. The program has them. */
extern _Atomic uint64_t wefti_count_cas;	/* that failed, too */
extern _Atomic uint64_t wefti_count_rmw;	/* the others that write */

#define wefti_count(what)						\
	atomic_fetch_add_explicit(&wefti_count_##what, 1,		\
				  memory_order_relaxed)

#endif
