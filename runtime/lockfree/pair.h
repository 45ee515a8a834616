/* SPDX-License-Identifier: MIT */
/*
 * lockfree/pair.h - two words that change together
 *
 * The counterpart of lockfree/atomic.h for two words. Each half can be read by itself,
 * and hi can be changed by itself. A CAS is always acquire and release.
 *
 * For a model checker a pair is one word, lo:48 | hi:16.
 */
#ifndef WEFT_LOCKFREE_PAIR_H
#define WEFT_LOCKFREE_PAIR_H

#include <stdalign.h>
#include <stdint.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"
#include "wide.h"

struct wefti_pair {
	alignas(16) _Atomic uint64_t lo;
	_Atomic uint64_t hi;
};

#if defined(WEFT_MODEL)

#define WEFTI_PAIR_HI_BITS	16
#define WEFTI_PAIR_HI_SHIFT	48
#define WEFTI_PAIR_LO_MASK	((UINT64_C(1) << WEFTI_PAIR_HI_SHIFT) - 1)

static inline uint64_t wefti_pair_word(struct wefti_wide v)
{
	return v.hi << WEFTI_PAIR_HI_SHIFT | (v.lo & WEFTI_PAIR_LO_MASK);
}

#define pair_lo_relaxed(p)	(load_relaxed(&(p)->lo) & WEFTI_PAIR_LO_MASK)
#define pair_hi_relaxed(p)	(load_relaxed(&(p)->lo) >> WEFTI_PAIR_HI_SHIFT)
#define pair_lo_acquire(p) \
	(load_(&(p)->lo, memory_order_acquire) & WEFTI_PAIR_LO_MASK)
#define pair_hi_acquire(p) \
	(load_(&(p)->lo, memory_order_acquire) >> WEFTI_PAIR_HI_SHIFT)

static inline int pair_cas_acq_rel(struct wefti_pair *p,
				   struct wefti_wide *e,
				   struct wefti_wide d)
{
	uint64_t w = wefti_pair_word(*e);
	int done = cas_strong_(&p->lo, &w, wefti_pair_word(d),
			       memory_order_acq_rel);

	e->lo = w & WEFTI_PAIR_LO_MASK;
	e->hi = w >> WEFTI_PAIR_HI_SHIFT;
	return done;
}

static inline int pair_hi_cas_acq_rel(struct wefti_pair *p, uint64_t *e,
				      uint64_t d)
{
	uint64_t w = load_relaxed(&p->lo);

	for (;;) {
		uint64_t lo = w & WEFTI_PAIR_LO_MASK;

		if (w >> WEFTI_PAIR_HI_SHIFT != (*e & 0xffff))
			break;
		if (cas_strong_(&p->lo, &w, d << WEFTI_PAIR_HI_SHIFT | lo,
				memory_order_acq_rel))
			return 1;
	}
	*e = w >> WEFTI_PAIR_HI_SHIFT;
	return 0;
}

static inline void pair_init(struct wefti_pair *p, uint64_t lo, uint64_t hi)
{
	store_relaxed(&p->lo, wefti_pair_word((struct wefti_wide){ lo, hi }));
}

#else

#define WEFTI_PAIR_HI_BITS	64

#define pair_lo_relaxed(p)	load_relaxed(&(p)->lo)
#define pair_hi_relaxed(p)	load_relaxed(&(p)->hi)
#define pair_lo_acquire(p)	load_(&(p)->lo, memory_order_acquire)
#define pair_hi_acquire(p)	load_(&(p)->hi, memory_order_acquire)
#define pair_hi_cas_acq_rel(p, e, d) \
	cas_strong_(&(p)->hi, (e), (d), memory_order_acq_rel)

#if defined(WEFT_TSAN)
void __tsan_acquire(void *);
void __tsan_release(void *);
#endif

/* Returns 1; or 0, with the value found in *e. */
static inline int pair_cas_acq_rel(struct wefti_pair *p,
				   struct wefti_wide *e,
				   struct wefti_wide d)
{
	int done;

#if defined(WEFT_TSAN)
	/* ThreadSanitizer does not see what assembler does. */
	__tsan_release(&p->lo);
	__tsan_release(&p->hi);
#endif
	done = perturbed_(wefti_arch_wide_cas(written_at_(p), e, d));
#if defined(WEFT_TSAN)
	__tsan_acquire(&p->lo);
	__tsan_acquire(&p->hi);
#endif
	return done;
}

/* Called before other threads see it. */
static inline void pair_init(struct wefti_pair *p, uint64_t lo, uint64_t hi)
{
	store_relaxed(&p->lo, lo);
	store_relaxed(&p->hi, hi);
}

#endif
#endif
