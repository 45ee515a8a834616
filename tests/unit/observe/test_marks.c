/* SPDX-License-Identifier: MIT */
/* test_marks.c - observe/marks: a dump has the marks that have begun */
#include "threads.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TRACE_BYTES	(4u << 20)

static int dump_says(const char *what)
{
	static char text[1 << 16];
	FILE *file = tmpfile();
	ssize_t n;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(weft_dump(fileno(file)), 0);
	n = pread(fileno(file), text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = 0;
	fclose(file);
	return strstr(text, what) != NULL;
}

static void a_dump_has_the_marks_that_have_begun(void)
{
	runtime_begin();
	weft_trace_begin("unknown");
	CU_ASSERT_FALSE(dump_says("in its marks"));
	CU_ASSERT_EQUAL(weft_trace_start(TRACE_BYTES), 0);
	weft_trace_end();		/* began before the recording */
	weft_trace_begin("a day");
	weft_trace_begin("a bill\n, whose name is longer than its place");
	CU_ASSERT_TRUE(dump_says("    in its marks \"a day\", "
				 "\"a bill\\x0a, whose name is l\"\n"));
	weft_trace_end();
	CU_ASSERT_TRUE(dump_says("    in its marks \"a day\"\n"));
	for (int i = 0; i < 4; i++)
		weft_trace_begin("deep");
	CU_ASSERT_TRUE(dump_says("\"deep\", \"deep\", \"deep\", and more\n"));
	for (int i = 0; i < 5; i++)
		weft_trace_end();
	CU_ASSERT_FALSE(dump_says("in its marks"));
	weft_trace_begin("forgotten");
	CU_ASSERT_EQUAL(weft_trace_stop(), 0);
	weft_trace_end();		/* which nothing has seen */
	CU_ASSERT_FALSE(dump_says("in its marks"));
	CU_ASSERT_EQUAL(weft_trace_start(TRACE_BYTES), 0);
	CU_ASSERT_FALSE(dump_says("in its marks"));
	runtime_end();
}

static void *begins(void *sem)
{
	weft_trace_begin("of a thread");
	must(weft_sem_wait(sem) == 0);
	return sem;
}

/* The next thread in the slot has none of its marks. */
static void they_are_the_threads_own(void)
{
	struct weft_sem sem = WEFT_SEM_INIT;
	uint64_t id;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_trace_start(TRACE_BYTES), 0);
	for (int i = 0; i < 2; i++) {
		id = spawn(begins, &sem);
		do
			weft_yield();
		while (!dump_says("    in its marks \"of a thread\"\n"));
		weft_sem_post(&sem);
		join(id);
		CU_ASSERT_FALSE(dump_says("in its marks"));
	}
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(a_dump_has_the_marks_that_have_begun),
	TEST(they_are_the_threads_own),
};

TEST_MAIN("observe/marks", cases)
