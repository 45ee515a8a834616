/* SPDX-License-Identifier: MIT */
/*
 * test_atomic.c - lockfree/atomic.h: what each operation gives and leaves, for
 * each width, and that it is one step
 */
#include "lockfree/atomic.h"

#include <pthread.h>
#include <stdint.h>

#include "support.h"

#define CREW	4

/* Each of the five orders, as op(suffix). */
#define ORDERS(op) \
	op(relaxed) op(acquire) op(release) op(acq_rel) op(seq_cst)

/* The object between two of its kind, which nobody touches. */
#define GUARD		0x5a

#define LOADS_AND_STORES(type, v)					\
	do {								\
		store_relaxed(x, (type)(v));				\
		CU_ASSERT_EQUAL(load_relaxed(x), (type)(v));		\
		store_release(x, (type)~(v));				\
		CU_ASSERT_EQUAL(load_acquire(x), (type)~(v));		\
		store_seq_cst(x, (type)(v));				\
		CU_ASSERT_EQUAL(load_seq_cst(x), (type)(v));		\
	} while (0);

/* A failed one says what it found, and changes nothing; a weak one may fail. */
#define CAS(order)							\
	store_relaxed(x, a);						\
	e = b;								\
	CU_ASSERT_FALSE(cas_##order(x, &e, b));				\
	CU_ASSERT_EQUAL(e, a);						\
	CU_ASSERT_EQUAL(load_relaxed(x), a);				\
	CU_ASSERT_TRUE(cas_##order(x, &e, b));				\
	CU_ASSERT_EQUAL(e, a);						\
	CU_ASSERT_EQUAL(load_relaxed(x), b);				\
	e = a;								\
	CU_ASSERT_FALSE(cas_weak_##order(x, &e, a));			\
	CU_ASSERT_EQUAL(e, b);						\
	while (!cas_weak_##order(x, &e, a))				\
		CU_ASSERT_EQUAL(e, b);					\
	CU_ASSERT_EQUAL(load_relaxed(x), a);

#define XCHG(order)							\
	store_relaxed(x, a);						\
	CU_ASSERT_EQUAL(xchg_##order(x, b), a);				\
	CU_ASSERT_EQUAL(load_relaxed(x), b);

#define FETCH(what, order, expression)					\
	store_relaxed(x, a);						\
	CU_ASSERT_EQUAL(fetch_##what##_##order(x, b), a);		\
	CU_ASSERT_EQUAL(load_relaxed(x), (expression));

/* a + b and b - a go round. */
#define FETCHES(order)							\
	FETCH(add, order, sum)						\
	FETCH(sub, order, difference)					\
	FETCH(or, order, either)					\
	FETCH(and, order, both)

#define TEST_WIDTH(name, type)						\
	static void name(void)						\
	{								\
		_Atomic type three[3], *x = &three[1];			\
		const type a = (type)UINT64_C(0xf123456789abcdf1);	\
		const type b = (type)UINT64_C(0xfedcba987654321e);	\
		const type sum = (type)(a + b), difference = (type)(a - b); \
		const type either = a | b, both = a & b;		\
		type e;							\
									\
		store_relaxed(&three[0], (type)GUARD);			\
		store_relaxed(&three[2], (type)GUARD);			\
		LOADS_AND_STORES(type, a)				\
		ORDERS(CAS)						\
		ORDERS(XCHG)						\
		ORDERS(FETCHES)						\
		CU_ASSERT_EQUAL(load_relaxed(&three[0]), (type)GUARD);	\
		CU_ASSERT_EQUAL(load_relaxed(&three[2]), (type)GUARD);	\
	}

TEST_WIDTH(operations_on_8_bits, uint8_t)
TEST_WIDTH(operations_on_16_bits, uint16_t)
TEST_WIDTH(operations_on_32_bits, uint32_t)
TEST_WIDTH(operations_on_64_bits, uint64_t)

static void operations_on_pointers(void)
{
	static char here, there;
	_Atomic(char *) pointer, *x = &pointer;
	char *const a = &here, *const b = &there;
	char *e;

	store_release(x, b);
	CU_ASSERT_PTR_EQUAL(load_acquire(x), b);
	ORDERS(CAS)
	ORDERS(XCHG)
	fence_seq_cst();
	CU_ASSERT_PTR_EQUAL(xchg_seq_cst(x, NULL), b);
	fence_seq_cst_after_rmw();
	CU_ASSERT_PTR_NULL(load_seq_cst(x));
}

/* One word, and its neighbours in one word. */
static struct {
	_Atomic uint8_t byte[CREW];
	_Atomic uint16_t half[CREW];
	_Atomic uint32_t word;
	_Atomic uint64_t wide, by_cas;
} all;

static size_t turns;

static void *add(void *arg)
{
	size_t me = (size_t)(uintptr_t)arg;

	for (size_t i = 0; i < turns; i++) {
		uint64_t seen = load_relaxed(&all.by_cas);

		fetch_add_relaxed(&all.byte[me], (uint8_t)1);
		fetch_sub_relaxed(&all.half[me], (uint16_t)1);
		fetch_add_relaxed(&all.word, 1u);
		fetch_sub_relaxed(&all.wide, (uint64_t)1);
		while (!cas_weak_relaxed(&all.by_cas, &seen, seen + 1))
			;
	}
	return NULL;
}

static void what_several_do_at_once_is_not_lost(void)
{
	pthread_t thread[CREW];

	turns = test_scaled(20000);
	for (uintptr_t i = 0; i < CREW; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, add,
						     (void *)i), 0);
	for (int i = 0; i < CREW; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < CREW; i++) {
		CU_ASSERT_EQUAL(load_relaxed(&all.byte[i]), (uint8_t)turns);
		CU_ASSERT_EQUAL(load_relaxed(&all.half[i]), (uint16_t)-turns);
	}
	CU_ASSERT_EQUAL(load_relaxed(&all.word), CREW * turns);
	CU_ASSERT_EQUAL(load_relaxed(&all.wide), 0 - (uint64_t)CREW * turns);
	CU_ASSERT_EQUAL(load_relaxed(&all.by_cas), CREW * turns);
}

static const struct test_case cases[] = {
	TEST(operations_on_8_bits),
	TEST(operations_on_16_bits),
	TEST(operations_on_32_bits),
	TEST(operations_on_64_bits),
	TEST(operations_on_pointers),
	TEST(what_several_do_at_once_is_not_lost),
};

TEST_MAIN("lockfree/atomic", cases)
