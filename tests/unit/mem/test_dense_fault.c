/* SPDX-License-Identifier: MIT */
/* test_dense_fault.c - mem/dense: no memory, and a race that is lost */
#include "mem/dense.h"

#include "os/call/vm.h"
#include "probe.h"
#include "refusals.h"

static struct wefti_dense d;

static size_t chunk_bytes(void)
{
	size_t page = wefti_os_page_size();

	return (WEFTI_DENSE_CHUNK * 16 + page - 1) / page * page;
}

static int out_of_memory(size_t n)
{
	uint32_t first = 77;

	(void)n;
	fail_at = 1;
	must(wefti_dense_grow(&d, 16, 10, &first) == -ENOMEM);
	must(first == 77 && wefti_dense_limit(&d) == 0);
	must(!wefti_dense_at(&d, 16, 0));
	must(wefti_dense_grow(&d, 16, WEFTI_DENSE_CHUNK - 5, &first) == 0);
	must(first == 0);

	/* A batch in two chunks, the second of which cannot be made. */
	fail_at = 1;
	must(wefti_dense_grow(&d, 16, 10, &first) == -ENOMEM);
	must(wefti_dense_limit(&d) == WEFTI_DENSE_CHUNK - 5);
	must(wefti_dense_grow(&d, 16, 5, &first) == 0);
	must(first == WEFTI_DENSE_CHUNK - 5);
	must(reserved == chunk_bytes());
	return 0;
}

static void dense_hands_out_nothing_without_memory(void)
{
	CU_ASSERT_EQUAL(in_child(out_of_memory, 0), 0);
}

static uint32_t others_first;

static void another_grows(void)
{
	must(wefti_dense_grow(&d, 16, 10, &others_first) == 0);
}

/* While we reserve the first chunk, another makes it and takes ten items. */
static int overtaken(size_t n)
{
	uint32_t first;

	(void)n;
	in_reserve = another_grows;
	must(wefti_dense_grow(&d, 16, 10, &first) == 0);
	must(others_first == 0 && first == 10);
	must(wefti_dense_limit(&d) == 20);
	must(wefti_dense_at(&d, 16, 19));
	must(reserved == chunk_bytes());	/* ours was given back */
	return 0;
}

static void dense_gives_back_a_chunk_that_another_made(void)
{
	CU_ASSERT_EQUAL(in_child(overtaken, 0), 0);
}

static const struct test_case cases[] = {
	TEST(dense_hands_out_nothing_without_memory),
	TEST(dense_gives_back_a_chunk_that_another_made),
};

TEST_MAIN("mem/dense_fault", cases)
