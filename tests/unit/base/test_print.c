/* SPDX-License-Identifier: MIT */
/* test_print.c - base/print: what write(2) did not take goes after it */
#include "base/format.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

#define NOWHERE	(-7)		/* a descriptor of this file's write() */
#define ALL	((ssize_t)1 << 30)

/* What each write() returns: so many bytes at most, or -errno. */
static const ssize_t *script;
static size_t calls;
static char taken[2 * WEFTI_PRINT_MOST];
static size_t taken_bytes;

ssize_t __real_write(int fd, const void *buf, size_t bytes);
ssize_t __wrap_write(int fd, const void *buf, size_t bytes);

/* The linker puts this in the place of write(). */
ssize_t __wrap_write(int fd, const void *buf, size_t bytes)
{
	ssize_t n;

	if (fd != NOWHERE)
		return __real_write(fd, buf, bytes);
	calls++;
	n = *script++;
	if (n < 0) {
		errno = (int)-n;
		return -1;
	}
	if ((size_t)n > bytes)
		n = (ssize_t)bytes;
	memcpy(taken + taken_bytes, buf, (size_t)n);
	taken_bytes += (size_t)n;
	return n;
}

static void begin(const ssize_t *steps)
{
	script = steps;
	calls = taken_bytes = 0;
	errno = ENOTTY;
}

static void expect(const char *text, size_t count)
{
	CU_ASSERT_EQUAL(taken_bytes, strlen(text));
	CU_ASSERT_EQUAL(memcmp(taken, text, strlen(text)), 0);
	CU_ASSERT_EQUAL(calls, count);
	CU_ASSERT_EQUAL(errno, ENOTTY);
}

static void write_goes_on_behind_a_part_and_a_signal(void)
{
	static const ssize_t steps[] = {
		-EINTR, 3, 1, -EINTR, -EINTR, 2, ALL, -EIO, -EIO,
	};

	begin(steps);
	wefti_write(NOWHERE, "abcdefghij", 10);
	expect("abcdefghij", 7);
}

static void write_ends_where_the_descriptor_fails_or_takes_nothing(void)
{
	static const ssize_t fails[] = { 4, -EIO, ALL, ALL };
	static const ssize_t would_wait[] = { 2, -EAGAIN, ALL, ALL };
	static const ssize_t takes_nothing[] = { 1, 0, ALL, ALL };

	begin(fails);
	wefti_write(NOWHERE, "abcdefghij", 10);
	expect("abcd", 2);
	begin(would_wait);
	wefti_write(NOWHERE, "abcdefghij", 10);
	expect("ab", 2);
	begin(takes_nothing);
	wefti_write(NOWHERE, "abcdefghij", 10);
	expect("a", 2);
}

static void write_of_nothing_makes_no_call(void)
{
	static const ssize_t steps[] = { ALL };

	begin(steps);
	wefti_write(NOWHERE, "abc", 0);
	expect("", 0);
}

static void print_is_one_call_also_of_a_line_that_is_cut(void)
{
	static const ssize_t steps[] = { ALL, -EIO };
	char line[WEFTI_PRINT_MOST];

	begin(steps);
	wefti_print(NOWHERE, "%s %d\n", "line", 1);
	expect("line 1\n", 1);

	/* The longest, and one character more, which is cut. */
	memset(line, 'x', sizeof(line));
	line[WEFTI_PRINT_MOST - 1] = 0;
	for (int more = 0; more < 2; more++) {
		begin(steps);
		wefti_print(NOWHERE, "%s%.*s", line, more, "y");
		expect(line, 1);
	}
}

static void print_writes_one_line_and_leaves_errno(void)
{
	char buf[2 * WEFTI_PRINT_MOST];
	int fd[2];

	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	errno = ENOTTY;
	wefti_print(-1, "nowhere");
	wefti_print(fd[1], "%s %d\n", "line", 1);
	CU_ASSERT_EQUAL(errno, ENOTTY);
	CU_ASSERT_EQUAL(read(fd[0], buf, sizeof(buf)), 7);
	CU_ASSERT_EQUAL(memcmp(buf, "line 1\n", 7), 0);

	wefti_print(fd[1], "%*d", 2 * WEFTI_PRINT_MOST, 1);
	CU_ASSERT_EQUAL(read(fd[0], buf, sizeof(buf)), WEFTI_PRINT_MOST - 1);
	close(fd[0]);
	close(fd[1]);
}

static const struct test_case cases[] = {
	TEST(write_goes_on_behind_a_part_and_a_signal),
	TEST(write_ends_where_the_descriptor_fails_or_takes_nothing),
	TEST(write_of_nothing_makes_no_call),
	TEST(print_is_one_call_also_of_a_line_that_is_cut),
	TEST(print_writes_one_line_and_leaves_errno),
};

TEST_MAIN("base/print", cases)
