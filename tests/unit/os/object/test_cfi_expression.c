/* SPDX-License-Identifier: MIT */
/* test_cfi_expression.c - os/cfi_expression: what DWARF's stack machine finds */
#include <string.h>

#include "os/object/cfi.h"
#include "os/object/unwind.h"
#include "support.h"

#define MOST	16
#define FIRST	1000	/* what a program finds on its stack */

static struct wefti_cfi_frame frame;
static const uint64_t word = 77;

static int run(const unsigned char *program, size_t bytes, uintptr_t *value)
{
	wefti_os_unwind_begin();
	*value = FIRST;
	return wefti_os_cfi_expression(&frame, (uintptr_t)program, bytes, value);
}

static void programs_have_values(void)
{
	static const struct {
		unsigned char program[MOST];
		size_t bytes;
		long value;
	} known[] = {
		{ { 0 }, 0, FIRST },
		{ { 0x35 }, 1, 5 },				/* lit5 */
		{ { 0x09, 0xfe }, 2, -2 },			/* const1s */
		{ { 0x08, 0xfe }, 2, 254 },			/* const1u */
		{ { 0x0a, 0x34, 0x12 }, 3, 0x1234 },		/* const2u */
		{ { 0x10, 0x80, 0x01 }, 3, 128 },		/* constu */
		{ { 0x11, 0x7f }, 2, -1 },			/* consts */
		{ { 0x23, 0x03 }, 2, FIRST + 3 },		/* plus_uconst */
		{ { 0x39, 0x33, 0x1c }, 3, 6 },			/* 9 - 3 */
		{ { 0x39, 0x33, 0x16, 0x1c }, 4, -6 },		/* swapped */
		{ { 0x39, 0x33, 0x14 }, 3, 9 },			/* over */
		{ { 0x39, 0x33, 0x13 }, 3, 9 },			/* drop */
		{ { 0x39, 0x12, 0x22 }, 3, 18 },		/* dup, plus */
		{ { 0x3f, 0x36, 0x1a }, 3, 6 },			/* and */
		{ { 0x31, 0x33, 0x24 }, 3, 8 },			/* shl */
		{ { 0x09, 0xf0, 0x32, 0x26 }, 4, -4 },		/* shra */
		{ { 0x39, 0x33, 0x2a }, 3, 1 },			/* ge */
		{ { 0x39, 0x33, 0x2d, 0x96 }, 4, 0 },		/* lt, nop */
		{ { 0x73, 0x7c }, 2, 300 - 4 },			/* breg3 - 4 */
		{ { 0x92, 0x03, 0x04 }, 3, 300 + 4 },		/* bregx 3 */
		{ { 0x39, 0x1f }, 2, -9 },			/* neg */
		{ { 0x74, 0x00, 0x06 }, 3, 77 },		/* deref */
	};
	uintptr_t value;

	frame.reg[3] = 300;
	frame.reg[4] = (uintptr_t)&word;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		CU_ASSERT_EQUAL(run(known[i].program, known[i].bytes, &value), 0);
		CU_ASSERT_EQUAL((long)value, known[i].value);
	}
}

static void what_is_no_program_fails(void)
{
	static const unsigned char too_short[] = { 0x0c, 1, 2 }, unknown[] = { 0xff };
	static const unsigned char empty[] = { 0x13, 0x13 }, nowhere[] = { 0x30, 0x06 };
	unsigned char pushes[64];
	uintptr_t value;

	memset(pushes, 0x30, sizeof(pushes));
	CU_ASSERT_EQUAL(run(too_short, sizeof(too_short), &value), -1);
	CU_ASSERT_EQUAL(run(unknown, sizeof(unknown), &value), -1);
	CU_ASSERT_EQUAL(run(empty, sizeof(empty), &value), -1);
	CU_ASSERT_EQUAL(run(nowhere, sizeof(nowhere), &value), -1);
	CU_ASSERT_EQUAL(run(pushes, sizeof(pushes), &value), -1);
}

static const struct test_case cases[] = {
	TEST(programs_have_values),
	TEST(what_is_no_program_fails),
};

TEST_MAIN("os/cfi_expression", cases)
