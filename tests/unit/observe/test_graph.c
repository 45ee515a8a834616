/* SPDX-License-Identifier: MIT */
/*
 * test_graph.c - observe/graph: cycles, chains, and labels that Graphviz can read
 *
 * Programs, and Graphviz itself: tests/tools/test_graph.sh.
 */
#include "observe/graph.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "observe/view.h"
#include "threads.h"

static struct weft_mutex first, second;
static _Atomic int have_one;
static char text[1 << 16];

static const char *graph(const char *form)
{
	const int fd = memfd_create("graph", 0);
	ssize_t n;

	CU_ASSERT_FATAL(fd >= 0);
	wefti_graph(fd, form);
	n = pread(fd, text, sizeof(text) - 1, 0);
	CU_ASSERT_FATAL(n >= 0);
	text[n] = 0;
	close(fd);
	return text;
}

static void *locks(void *from)
{
	struct weft_mutex *one = from, *other = one == &first ? &second : &first;

	must(weft_mutex_lock(one) == 0);
	fetch_add_seq_cst(&have_one, 1);
	while (load_seq_cst(&have_one) < 2)
		(void)weft_sleep(100000);
	(void)!weft_mutex_lock_until(other, weft_deadline(INT64_C(3600000000000)));
	return NULL;
}

static void *joins(void *id)
{
	(void)!weft_join((uint64_t)(uintptr_t)id, NULL);
	return NULL;
}

static void await_parked(uint64_t id, enum wefti_why why)
{
	struct wefti_view view;

	do {
		(void)weft_sleep(100000);
		wefti_view_slot((uint32_t)id, &view);
	} while (view.state != WEFTI_VIEW_PARKED || view.why != why);
}

static void nothing_is_told_while_the_runtime_is_off(void)
{
	CU_ASSERT_STRING_EQUAL(graph(""), "");
}

/* The monitor is a foreign thread until it has begun. */
static void a_program_without_waits_has_no_chains(void)
{
	unsigned threads = 0;
	char said[128];

	runtime_begin();
	CU_ASSERT_EQUAL(sscanf(graph(""), "weft: which thread waits for which weft: %u",
			       &threads), 1);
	CU_ASSERT_TRUE(threads == 1 || threads == 2);
	snprintf(said, sizeof(said), "weft: which thread waits for which\n\n"
		 "weft: %u threads, 0 wait for another one, 0 cycles\n"
		 "weft: end of graph\n", threads);
	CU_ASSERT_STRING_EQUAL(text, said);
	CU_ASSERT_STRING_EQUAL(graph("dot"), "digraph weft {\n    node [shape=box];\n}\n");
	runtime_end();
}

/* The threads stay: the test's process ends with them. */
static void a_cycle_and_what_waits_for_it_are_told(void)
{
	uint64_t a, b, c;
	char line[256];

	runtime_begin();
	a = spawn_named("a\"\\", 0, locks, &first);
	b = spawn_named("b", 0, locks, &second);
	await_parked(a, WEFTI_WHY_MUTEX);
	await_parked(b, WEFTI_WHY_MUTEX);
	c = spawn_named("c", 0, joins, (void *)(uintptr_t)a);
	await_parked(c, WEFTI_WHY_JOIN);

	graph("");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\ncycle 1: 2 threads wait for each other, "
				      "until a deadline\n    "));
	CU_ASSERT_PTR_NULL(strstr(text, "\ncycle 2"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, ", 3 wait for another one, 1 cycle\n"));
	/* The name is written as it is: no character of it is a control character. */
	snprintf(line, sizeof(line), "joins \"a\"\\\" (id %lu)\n    \"a\"\\\" (id %lu): in "
		 "cycle 1\n", a, a);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, line));

	graph("dot");
	snprintf(line, sizeof(line), "    \"%lu\" [label=\"a\\\"\\\\\\nid %lu\\nparked\", "
		 "color=red];\n", a, a);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, line));
	snprintf(line, sizeof(line), "    \"%lu\" -> \"%lu\" [label=\"mutex %p\", color=red];\n",
		 a, b, (void *)&second);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, line));
	snprintf(line, sizeof(line), "    \"%lu\" -> \"%lu\" [label=\"join\"];\n", c, a);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, line));
}

static const struct test_case cases[] = {
	TEST(nothing_is_told_while_the_runtime_is_off),
	TEST(a_program_without_waits_has_no_chains),
	TEST(a_cycle_and_what_waits_for_it_are_told),
};

TEST_MAIN("observe/graph", cases)
