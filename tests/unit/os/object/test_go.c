/* SPDX-License-Identifier: MIT */
/* test_go.c - os/go: notes of Go's linker, and what is none */
#include "os/object/go.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "support.h"

static _Alignas(8) char notes[256];
static size_t bytes;

/* Puts a note behind others. */
static void note(const char *name, size_t name_bytes, size_t more)
{
	const Elf64_Nhdr n = { (uint32_t)name_bytes, (uint32_t)more, 4 };

	memcpy(notes + bytes, &n, sizeof(n));
	bytes += sizeof(n);
	memcpy(notes + bytes, name, name_bytes);
	bytes += (name_bytes + 3) & ~(size_t)3;
	memset(notes + bytes, 'x', more);
	bytes += (more + 3) & ~(size_t)3;
}

static void begin(void)
{
	memset(notes, 0, sizeof(notes));
	bytes = 0;
}

static void a_note_of_gos_is_found_behind_others(void)
{
	begin();
	note("GNU", 4, 20);
	CU_ASSERT_FALSE(wefti_os_go_is_noted(notes, bytes));
	note("Go\0", 4, 83);
	CU_ASSERT_TRUE(wefti_os_go_is_noted(notes, bytes));
}

static void other_names_are_not_gos(void)
{
	begin();
	note("Google", 7, 4);
	note("G", 2, 4);
	note("", 0, 4);
	note("GoX", 4, 4);
	CU_ASSERT_FALSE(wefti_os_go_is_noted(notes, bytes));
}

/* A file may say of itself what it likes. */
static void what_is_cut_off_or_too_long_is_none(void)
{
	const Elf64_Nhdr wrong = { UINT32_MAX, UINT32_MAX - 2, 4 };

	begin();
	note("Go\0", 4, 40);
	for (size_t n = 0; n < bytes; n++)
		CU_ASSERT_FALSE(wefti_os_go_is_noted(notes, n));
	memcpy(notes, &wrong, sizeof(wrong));
	CU_ASSERT_FALSE(wefti_os_go_is_noted(notes, bytes));
}

static void this_program_is_none(void)
{
	CU_ASSERT_FALSE(wefti_os_go_is_here());
	CU_ASSERT_FALSE(wefti_os_go_has((const void *)this_program_is_none));
	CU_ASSERT_FALSE(wefti_os_go_has(NULL));
}

static const struct test_case cases[] = {
	TEST(a_note_of_gos_is_found_behind_others),
	TEST(other_names_are_not_gos),
	TEST(what_is_cut_off_or_too_long_is_none),
	TEST(this_program_is_none),
};

TEST_MAIN("os/go", cases)
