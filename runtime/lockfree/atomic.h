/* SPDX-License-Identifier: MIT */
/*
 * lockfree/atomic.h - the one spelling of atomics in weft
 *
 * The order is part of the name, so a reader sees it and grep finds it.
 * cas_* takes the order of success; failure is always relaxed, so a loop
 * that looks at what a failed CAS found must reload with load_acquire.
 */
#ifndef WEFT_LOCKFREE_ATOMIC_H
#define WEFT_LOCKFREE_ATOMIC_H

#include <stdatomic.h>

#define load_relaxed(p)		atomic_load_explicit((p), memory_order_relaxed)
#define load_acquire(p)		atomic_load_explicit((p), memory_order_acquire)
#define load_seq_cst(p)		atomic_load_explicit((p), memory_order_seq_cst)
#define store_relaxed(p, v)	atomic_store_explicit((p), (v), memory_order_relaxed)
#define store_release(p, v)	atomic_store_explicit((p), (v), memory_order_release)
#define store_seq_cst(p, v)	atomic_store_explicit((p), (v), memory_order_seq_cst)

#define cas_weak_(p, e, d, order)	\
	atomic_compare_exchange_weak_explicit((p), (e), (d), (order), \
		memory_order_relaxed)
#define cas_strong_(p, e, d, order)	\
	atomic_compare_exchange_strong_explicit((p), (e), (d), (order), \
		memory_order_relaxed)

#define cas_weak_relaxed(p, e, d)	cas_weak_(p, e, d, memory_order_relaxed)
#define cas_weak_acquire(p, e, d)	cas_weak_(p, e, d, memory_order_acquire)
#define cas_weak_release(p, e, d)	cas_weak_(p, e, d, memory_order_release)
#define cas_weak_acq_rel(p, e, d)	cas_weak_(p, e, d, memory_order_acq_rel)
#define cas_weak_seq_cst(p, e, d)	cas_weak_(p, e, d, memory_order_seq_cst)
#define cas_relaxed(p, e, d)		cas_strong_(p, e, d, memory_order_relaxed)
#define cas_acquire(p, e, d)		cas_strong_(p, e, d, memory_order_acquire)
#define cas_release(p, e, d)		cas_strong_(p, e, d, memory_order_release)
#define cas_acq_rel(p, e, d)		cas_strong_(p, e, d, memory_order_acq_rel)
#define cas_seq_cst(p, e, d)		cas_strong_(p, e, d, memory_order_seq_cst)

#define xchg_relaxed(p, v)	atomic_exchange_explicit((p), (v), memory_order_relaxed)
#define xchg_acquire(p, v)	atomic_exchange_explicit((p), (v), memory_order_acquire)
#define xchg_release(p, v)	atomic_exchange_explicit((p), (v), memory_order_release)
#define xchg_acq_rel(p, v)	atomic_exchange_explicit((p), (v), memory_order_acq_rel)
#define xchg_seq_cst(p, v)	atomic_exchange_explicit((p), (v), memory_order_seq_cst)

#define fetch_add_relaxed(p, v)	atomic_fetch_add_explicit((p), (v), memory_order_relaxed)
#define fetch_add_acquire(p, v)	atomic_fetch_add_explicit((p), (v), memory_order_acquire)
#define fetch_add_release(p, v)	atomic_fetch_add_explicit((p), (v), memory_order_release)
#define fetch_add_acq_rel(p, v)	atomic_fetch_add_explicit((p), (v), memory_order_acq_rel)
#define fetch_add_seq_cst(p, v)	atomic_fetch_add_explicit((p), (v), memory_order_seq_cst)
#define fetch_sub_relaxed(p, v)	atomic_fetch_sub_explicit((p), (v), memory_order_relaxed)
#define fetch_sub_acq_rel(p, v)	atomic_fetch_sub_explicit((p), (v), memory_order_acq_rel)
#define fetch_sub_seq_cst(p, v)	atomic_fetch_sub_explicit((p), (v), memory_order_seq_cst)
#define fetch_or_relaxed(p, v)	atomic_fetch_or_explicit((p), (v), memory_order_relaxed)
#define fetch_or_acq_rel(p, v)	atomic_fetch_or_explicit((p), (v), memory_order_acq_rel)
#define fetch_or_seq_cst(p, v)	atomic_fetch_or_explicit((p), (v), memory_order_seq_cst)
#define fetch_and_relaxed(p, v)	atomic_fetch_and_explicit((p), (v), memory_order_relaxed)
#define fetch_and_acq_rel(p, v)	atomic_fetch_and_explicit((p), (v), memory_order_acq_rel)
#define fetch_and_seq_cst(p, v)	atomic_fetch_and_explicit((p), (v), memory_order_seq_cst)

#define fence_seq_cst()		atomic_thread_fence(memory_order_seq_cst)

#endif
