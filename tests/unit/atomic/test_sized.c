/* SPDX-License-Identifier: MIT */
/*
 * test_sized.c - atomic/sized, by the calls that a compiler makes
 *
 * Compiled so that the compiler does no atomics itself. Linked with ours in
 * place of its own library.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "support.h"

/* The call is what is tested. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Watomic-alignment"
#endif

typedef unsigned __int128 uint128_t;

/* Every operation once, each with what the arithmetic says. */
#define CHECK_FETCH(T, op, expression)					\
	do {								\
		T x = 7, arg = (T)(3 * (T)0x81);			\
		T old = x, want = (T)(expression);			\
									\
		CU_ASSERT_TRUE(__atomic_fetch_##op(&x, arg, 5) == old);	\
		CU_ASSERT_TRUE(x == want);				\
		old = x;						\
		want = (T)(expression);					\
		CU_ASSERT_TRUE(__atomic_##op##_fetch(&x, arg, 5) == want); \
		CU_ASSERT_TRUE(x == want);				\
	} while (0)

#define CHECK_SIZE(T)							\
	static void operations_on_##T(void)				\
	{								\
		T v = 5, other = (T)~(T)4, e = 6;			\
									\
		CU_ASSERT_TRUE(__atomic_load_n(&v, 5) == 5);		\
		__atomic_store_n(&v, other, 5);				\
		CU_ASSERT_TRUE(v == other);				\
		CU_ASSERT_TRUE(__atomic_exchange_n(&v, 9, 5) == other);	\
		CU_ASSERT_FALSE(__atomic_compare_exchange_n(&v, &e,	\
						other, 0, 5, 5));	\
		CU_ASSERT_TRUE(e == 9 && v == 9);			\
		CU_ASSERT_TRUE(__atomic_compare_exchange_n(&v, &e,	\
						other, 0, 5, 5));	\
		CU_ASSERT_TRUE(v == other);				\
		CHECK_FETCH(T, add, old + arg);				\
		CHECK_FETCH(T, sub, old - arg);				\
		CHECK_FETCH(T, and, old & arg);				\
		CHECK_FETCH(T, or, old | arg);				\
		CHECK_FETCH(T, xor, old ^ arg);				\
		CHECK_FETCH(T, nand, ~(old & arg));			\
	}

CHECK_SIZE(uint8_t)
CHECK_SIZE(uint16_t)
CHECK_SIZE(uint32_t)
CHECK_SIZE(uint64_t)
CHECK_SIZE(uint128_t)

/* By its name in the library, which the compiler does not call here. */
_Bool test_and_set_4(void *p, int order) __asm__("__atomic_test_and_set_4");

static void test_and_set_sets_the_lowest_bit_once(void)
{
	uint32_t word = 0;

	CU_ASSERT_FALSE(test_and_set_4(&word, 5));
	CU_ASSERT_TRUE(test_and_set_4(&word, 5));
	CU_ASSERT_EQUAL(word, 1);
}

/* What C11 writes, on an object that no instruction can do. */
struct three {
	uint64_t a, b, c;
};

static void a_struct_of_24_bytes_is_an_atomic_object(void)
{
	static _Atomic struct three object;
	struct three v = { 1, 2, 3 }, e = { 0, 0, 0 };

	CU_ASSERT_FALSE(atomic_is_lock_free(&object));
	CU_ASSERT_TRUE(atomic_compare_exchange_strong(&object, &e, v));
	CU_ASSERT_FALSE(atomic_compare_exchange_strong(&object, &e, v));
	CU_ASSERT_TRUE(e.a == 1 && e.b == 2 && e.c == 3);
	v.c = 4;
	atomic_store(&object, v);
	v = atomic_load(&object);
	CU_ASSERT_TRUE(v.a == 1 && v.b == 2 && v.c == 4);
}

static const struct test_case cases[] = {
	TEST(operations_on_uint8_t),
	TEST(operations_on_uint16_t),
	TEST(operations_on_uint32_t),
	TEST(operations_on_uint64_t),
	TEST(operations_on_uint128_t),
	TEST(test_and_set_sets_the_lowest_bit_once),
	TEST(a_struct_of_24_bytes_is_an_atomic_object),
};

TEST_MAIN("atomic/sized", cases)
