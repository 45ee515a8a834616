/* SPDX-License-Identifier: MIT */
/* test_copy.c - os/copy: as far as there is something, and never a fault */
#include "os/call/copy.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "forked.h"
#include "lockfree/atomic.h"
#include "os/call/vm.h"
#include "sandbox.h"

#define PAGES	4

static size_t page;
static char *memory;		/* PAGES of them; no two bytes in a row alike */
static char got[PAGES * 65536 + 64];

static void begin(void)
{
	page = wefti_os_page_size();
	memory = wefti_os_vm_reserve(PAGES * page);
	CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
	for (size_t i = 0; i < PAGES * page; i++)
		memory[i] = (char)(1 + i % 127);
}

static void end(void)
{
	wefti_os_vm_unmap(memory, PAGES * page);
}

/* Exactly so many bytes came from there, and none behind them was touched. */
static int copies(size_t from, size_t bytes, size_t expected)
{
	size_t n, i = 0;

	memset(got, 0, sizeof(got));
	n = wefti_os_copy(got, memory + from, bytes);
	while (i < n && i < bytes && got[i] == (char)(1 + (from + i) % 127))
		i++;
	if (n == expected && i == n && got[n] == 0)
		return 1;
	printf("    %zu from %zu: %zu, expected %zu; %zu are right\n", bytes,
	       from, n, expected, i);
	return 0;
}

static void what_is_there_is_copied_in_any_part(void)
{
	static const int odd[] = { 0, 1, 7, 63, 4095 };

	begin();
	errno = 17;
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		for (size_t j = 0; j < sizeof(odd) / sizeof(*odd); j++) {
			size_t from = (size_t)odd[i];
			size_t bytes = PAGES * page - from - (size_t)odd[j];

			CU_ASSERT_TRUE(copies(from, bytes, bytes));
			CU_ASSERT_TRUE(copies(from, (size_t)odd[j],
					      (size_t)odd[j]));
		}
	CU_ASSERT_EQUAL(errno, 17);
	end();
}

static void a_hole_is_where_it_ends(void)
{
	begin();
	wefti_os_vm_unmap(memory + 2 * page, page);
	CU_ASSERT_TRUE(copies(0, PAGES * page, 2 * page));
	CU_ASSERT_TRUE(copies(page, 2 * page, page));
	CU_ASSERT_TRUE(copies(2 * page - 1, 1, 1));
	CU_ASSERT_TRUE(copies(2 * page - 1, 2, 1));
	CU_ASSERT_TRUE(copies(2 * page - 100, 4096, 100));
	CU_ASSERT_TRUE(copies(2 * page, page, 0));
	CU_ASSERT_TRUE(copies(3 * page - 1, 2, 0));
	CU_ASSERT_TRUE(copies(3 * page, page, page));
	end();
}

/* An emulator does not have the call; by a file more can be read. */
static int is_by_file(void)
{
	struct iovec here = { got, 1 }, there = { memory, 1 };

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 1;
}

static void what_may_not_be_read_is_as_a_hole(void)
{
	begin();
	CU_ASSERT_EQUAL(wefti_os_vm_forbid(memory + page, page), 0);
	if (is_by_file()) {
		CU_ASSERT_TRUE(copies(0, 3 * page, 3 * page));
	} else {
		CU_ASSERT_TRUE(copies(0, 3 * page, page));
		CU_ASSERT_TRUE(copies(page, 8, 0));
		CU_ASSERT_TRUE(copies(2 * page - 4, 8, 0));
	}
	end();
}

static void no_address_is_a_fault(void)
{
	static const uintptr_t nowhere[] = {
		0, 1, 4095, (uintptr_t)1 << 47, (uintptr_t)1 << 63,
		UINTPTR_MAX - 4096, UINTPTR_MAX - 7, UINTPTR_MAX
	};

	begin();
	for (size_t i = 0; i < sizeof(nowhere) / sizeof(*nowhere); i++) {
		const void *at = (const void *)nowhere[i];

		CU_ASSERT_EQUAL(wefti_os_copy(got, at, 1), 0);
		CU_ASSERT_EQUAL(wefti_os_copy(got, at, 8), 0);
		CU_ASSERT_EQUAL(wefti_os_copy(got, at, 10000), 0);
		CU_ASSERT_EQUAL(wefti_os_copy(got, at, 0), 0);
	}
	/* Where to is the caller's affair, but it is no fault either. */
	CU_ASSERT_EQUAL(wefti_os_copy(NULL, memory, 8), 0);
	end();
}

static _Atomic int stop;

static void *come_and_go(void *unused)
{
	while (!load_seq_cst(&stop)) {
		if (wefti_os_vm_forbid(memory + page, page) != 0 ||
		    wefti_os_vm_allow(memory + page, page) != 0)
			return &stop;
	}
	return unused;
}

static void what_goes_meanwhile_is_there_or_not(void)
{
	size_t count = test_scaled(3000), wrong = 0;
	pthread_t other;
	void *failed;

	begin();
	store_seq_cst(&stop, 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, come_and_go, NULL),
			      0);
	for (size_t i = 0; i < count; i++) {
		size_t n = wefti_os_copy(got, memory + page - 64, page);

		wrong += n < 64 || n > page ||
			 memcmp(got, memory + page - 64, 64) != 0;
	}
	store_seq_cst(&stop, 1);
	pthread_join(other, &failed);
	CU_ASSERT_PTR_NULL(failed);
	CU_ASSERT_EQUAL(wrong, 0);
	end();
}

static void copy_without_the_call(void)
{
	if (sandbox_refuses(SYS_process_vm_readv, EPERM) != 0)
		return;
	must(copies(5, 3 * page - 10, 3 * page - 10));
	must(copies(0, 0, 0));
	wefti_os_vm_unmap(memory + 2 * page, page);
	must(copies(0, PAGES * page, 2 * page));
	must(copies(2 * page - 3, 8, 3));
	must(copies(2 * page, 8, 0));
	must(wefti_os_copy(got, NULL, 8) == 0);
	/* And without files too. */
	must(sandbox_refuses(SYS_openat, EACCES) == 0);
	must(copies(0, page, 0));
}

static void a_sandbox_leaves_a_file_or_nothing(void)
{
	begin();
	child_is_well(copy_without_the_call);
	end();
}

static const struct test_case cases[] = {
	TEST(what_is_there_is_copied_in_any_part),
	TEST(a_hole_is_where_it_ends),
	TEST(what_may_not_be_read_is_as_a_hole),
	TEST(no_address_is_a_fault),
	TEST(what_goes_meanwhile_is_there_or_not),
	TEST(a_sandbox_leaves_a_file_or_nothing),
};

TEST_MAIN("os/copy", cases)
