/* SPDX-License-Identifier: MIT */
/*
 * lockfree/atomic.h - the one spelling of atomics in weft
 *
 * The order is part of the name, so that a reader sees it and grep finds it. cas_*
 * takes the order of success. The order of failure is always relaxed: a loop that uses
 * what a failed CAS found must reload it with load_acquire.
 *
 * There are six modes of the same operations, chosen for a whole program:
 *
 *	(none)		C11, and nothing else
 *	WEFT_PERTURB	C11, with delays before operations (lockfree/perturb.h)
 *	WEFT_COUNT	C11, and operations that write are counted (lockfree/count.h)
 *	WEFT_COHERENCE	C11, and each access is told to a model of caches
 *			(lockfree/coherence.h)
 *	WEFT_MODEL	calls into a model checker (lockfree/atomic_model.h)
 *	WEFT_TSAN	C11, but a fence is an RMW, see fence_ below
 */
#ifndef WEFT_LOCKFREE_ATOMIC_H
#define WEFT_LOCKFREE_ATOMIC_H

#include <stdatomic.h>

#include "base/compiler.h"
#include "cpu.h"

#if defined(WEFT_MODEL)
#include "lockfree/atomic_model.h"
#else

#if defined(WEFT_PERTURB)
#include "lockfree/perturb.h"
#define perturbed_(x)		(wefti_perturb(), (x))
#else
#define perturbed_(x)		(x)
#endif
/* Between an operation and a plain access that must not come behind it. */
#define perturb_here()		perturbed_((void)0)
#if defined(WEFT_COUNT)
#include "lockfree/count.h"
#define counted_(what, x)	(wefti_count(what), (x))
#else
#define counted_(what, x)	(x)
#endif

#if defined(WEFT_COHERENCE)
#include "lockfree/coherence.h"
#else
/* The address p, which is about to be read or written. */
#define read_at_(p)		(p)
#define written_at_(p)		(p)
#endif

#define load_(p, order)	\
	perturbed_(atomic_load_explicit(read_at_(p), order))
#define store_(p, v, order) \
	perturbed_(atomic_store_explicit(written_at_(p), (v), order))
#define cas_weak_(p, e, d, order) \
	perturbed_(counted_(cas, atomic_compare_exchange_weak_explicit( \
		written_at_(p), (e), (d), order, memory_order_relaxed)))
#define cas_strong_(p, e, d, order) \
	perturbed_(counted_(cas, atomic_compare_exchange_strong_explicit( \
		written_at_(p), (e), (d), order, memory_order_relaxed)))
#define rmw_(op, p, v, order) \
	perturbed_(counted_(rmw, atomic_##op##_explicit(written_at_(p), (v), order)))

/*
 * ThreadSanitizer does not see fences. So a fence is an RMW of one word, the same
 * everywhere. That orders at least as much, so no false race is reported. A race that
 * such a fence happens to order is not reported either; finding it is left to the model
 * checker.
 */
#if defined(WEFT_TSAN)
extern _Atomic unsigned wefti_tsan_fence;
#define fence_(order)		((void)rmw_(fetch_add, &wefti_tsan_fence, 0u, \
					    memory_order_seq_cst))
#else
#define fence_(order)		perturbed_(atomic_thread_fence(order))
#endif

#endif

/*
 * Plain accesses read or write the memory behind p here. A model checker finds accesses
 * that the atomics do not order; the model of caches counts them.
 */
#if defined(WEFT_COHERENCE)
#define plain_read(p)		((void)read_at_(p))
#define plain_write(p)		((void)written_at_(p))
#elif !defined(WEFT_MODEL)
#define plain_read(p)		((void)(p))
#define plain_write(p)		((void)(p))
#endif

#define load_relaxed(p)		load_(p, memory_order_relaxed)
#define load_acquire(p)		load_(p, memory_order_acquire)
#define load_seq_cst(p)		load_(p, memory_order_seq_cst)

#define store_relaxed(p, v)	store_(p, v, memory_order_relaxed)
#define store_release(p, v)	store_(p, v, memory_order_release)
#define store_seq_cst(p, v)	store_(p, v, memory_order_seq_cst)

#define cas_weak_relaxed(p, e, d)	cas_weak_(p, e, d, memory_order_relaxed)
#define cas_weak_acquire(p, e, d)	cas_weak_(p, e, d, memory_order_acquire)
#define cas_weak_release(p, e, d)	cas_weak_(p, e, d, memory_order_release)
#define cas_weak_acq_rel(p, e, d)	cas_weak_(p, e, d, memory_order_acq_rel)
#define cas_weak_seq_cst(p, e, d)	cas_weak_(p, e, d, memory_order_seq_cst)

#define cas_relaxed(p, e, d)	cas_strong_(p, e, d, memory_order_relaxed)
#define cas_acquire(p, e, d)	cas_strong_(p, e, d, memory_order_acquire)
#define cas_release(p, e, d)	cas_strong_(p, e, d, memory_order_release)
#define cas_acq_rel(p, e, d)	cas_strong_(p, e, d, memory_order_acq_rel)
#define cas_seq_cst(p, e, d)	cas_strong_(p, e, d, memory_order_seq_cst)

#define xchg_relaxed(p, v)	rmw_(exchange, p, v, memory_order_relaxed)
#define xchg_acquire(p, v)	rmw_(exchange, p, v, memory_order_acquire)
#define xchg_release(p, v)	rmw_(exchange, p, v, memory_order_release)
#define xchg_acq_rel(p, v)	rmw_(exchange, p, v, memory_order_acq_rel)
#define xchg_seq_cst(p, v)	rmw_(exchange, p, v, memory_order_seq_cst)

#define fetch_add_relaxed(p, v)	rmw_(fetch_add, p, v, memory_order_relaxed)
#define fetch_add_acquire(p, v)	rmw_(fetch_add, p, v, memory_order_acquire)
#define fetch_add_release(p, v)	rmw_(fetch_add, p, v, memory_order_release)
#define fetch_add_acq_rel(p, v)	rmw_(fetch_add, p, v, memory_order_acq_rel)
#define fetch_add_seq_cst(p, v)	rmw_(fetch_add, p, v, memory_order_seq_cst)

#define fetch_sub_relaxed(p, v)	rmw_(fetch_sub, p, v, memory_order_relaxed)
#define fetch_sub_acquire(p, v)	rmw_(fetch_sub, p, v, memory_order_acquire)
#define fetch_sub_release(p, v)	rmw_(fetch_sub, p, v, memory_order_release)
#define fetch_sub_acq_rel(p, v)	rmw_(fetch_sub, p, v, memory_order_acq_rel)
#define fetch_sub_seq_cst(p, v)	rmw_(fetch_sub, p, v, memory_order_seq_cst)

#define fetch_or_relaxed(p, v)	rmw_(fetch_or, p, v, memory_order_relaxed)
#define fetch_or_acquire(p, v)	rmw_(fetch_or, p, v, memory_order_acquire)
#define fetch_or_release(p, v)	rmw_(fetch_or, p, v, memory_order_release)
#define fetch_or_acq_rel(p, v)	rmw_(fetch_or, p, v, memory_order_acq_rel)
#define fetch_or_seq_cst(p, v)	rmw_(fetch_or, p, v, memory_order_seq_cst)

#define fetch_and_relaxed(p, v)	rmw_(fetch_and, p, v, memory_order_relaxed)
#define fetch_and_acquire(p, v)	rmw_(fetch_and, p, v, memory_order_acquire)
#define fetch_and_release(p, v)	rmw_(fetch_and, p, v, memory_order_release)
#define fetch_and_acq_rel(p, v)	rmw_(fetch_and, p, v, memory_order_acq_rel)
#define fetch_and_seq_cst(p, v)	rmw_(fetch_and, p, v, memory_order_seq_cst)

#define fence_seq_cst()		fence_(memory_order_seq_cst)

/*
 * The same fence, for a place where this thread's last shared access before it, in
 * program order, is an RMW. If the CPU's RMWs are full fences by themselves (its cpu.h
 * says so), only the compiler must be stopped. "push; fence; look" then costs one
 * locked instruction, not two.
 */
#if defined(WEFTI_ARCH_RMW_IS_FENCE) && !defined(WEFT_MODEL) && \
	!defined(WEFT_TSAN)
#define fence_seq_cst_after_rmw()	compiler_barrier()
#else
#define fence_seq_cst_after_rmw()	fence_seq_cst()
#endif

#endif
