/* SPDX-License-Identifier: MIT */
/*
 * lockfree/atomic_model.h - atomics as calls into a model checker
 *
 * Only for tests/model: the same C files, compiled with -DWEFT_MODEL, run under
 * a checker that owns the memory behind every atomic object and explores what
 * C11 allows. Values are passed as 64 bits; size is the object's, 1 to 8. `order` is a
 * memory_order constant. A weak CAS is a strong one here: a checker that may fail it at
 * will never ends.
 */
#ifndef WEFT_LOCKFREE_ATOMIC_MODEL_H
#define WEFT_LOCKFREE_ATOMIC_MODEL_H

#include <stdatomic.h>
#include <stdint.h>

enum {
	M_EXCHANGE,
	M_FETCH_ADD,
	M_FETCH_SUB,
	M_FETCH_OR,
	M_FETCH_AND
};

uint64_t m_load(const volatile void *p, int order, int size);
void m_store(volatile void *p, uint64_t v, int order, int size);
/* Returns 1; or 0, with the value found (a relaxed load) in *expected. */
int m_cas(volatile void *p, uint64_t *expected, uint64_t desired, int order,
	  int size);
/* Returns the value before the operation; op is one of M_*. */
uint64_t m_rmw(volatile void *p, int op, uint64_t v, int order, int size);
void m_fence(int order);
/* A plain access to the object that `p` stands for: a race is a violation. */
void m_data_read(const void *p);
void m_data_write(const void *p);

/* The type of *p as a value: the comma removes _Atomic; nothing is read. */
#define m_value_type(p)		__typeof__(((void)0, *(p)))
#define m_value(p, bits)	((m_value_type(p))(uintptr_t)(bits))

#define load_(p, order)		m_value(p, m_load((p), order, sizeof(*(p))))
#define store_(p, v, order) \
	m_store((p), (uintptr_t)(m_value_type(p))(v), order, sizeof(*(p)))
#define rmw_(op, p, v, order) \
	m_value(p, m_rmw((p), m_op_##op, (uintptr_t)(v), order, sizeof(*(p))))
#define fence_(order)		m_fence(order)
#define plain_read(p)		m_data_read(p)
#define plain_write(p)		m_data_write(p)
#define perturb_here()		((void)0)

#define m_op_exchange		M_EXCHANGE
#define m_op_fetch_add		M_FETCH_ADD
#define m_op_fetch_sub		M_FETCH_SUB
#define m_op_fetch_or		M_FETCH_OR
#define m_op_fetch_and		M_FETCH_AND

#define cas_strong_(p, e, d, order) __extension__({ \
	__typeof__(e) m_e_ = (e); \
	uint64_t m_found_ = (uintptr_t)*m_e_; \
	int m_done_ = m_cas((p), &m_found_, (uintptr_t)(m_value_type(p))(d), \
			    order, sizeof(*(p))); \
	*m_e_ = m_value(m_e_, m_found_); \
	m_done_; })
#define cas_weak_(p, e, d, order)	cas_strong_(p, e, d, order)

#endif
