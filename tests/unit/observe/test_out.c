/* SPDX-License-Identifier: MIT */
/* test_out.c - observe/out: text that is held, written, cut, and not taken */
#include "observe/out.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#include "base/format.h"
#include "observe/gate.h"
#include "told.h"

static void text_is_held_until_it_is_flushed(void)
{
	struct wefti_out *o = told_begin();
	int fd = o->fd;

	wefti_out(o, "%s %d", "one", 1);
	wefti_out(o, "%c\n", '!');
	CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_CUR), 0);
	CU_ASSERT_EQUAL(o->used, 7);
	wefti_out_flush(o);
	CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_CUR), 7);
	CU_ASSERT_EQUAL(o->used, 0);
	wefti_out_flush(o);		/* there is nothing */
	CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_CUR), 7);
	wefti_out(o, "two\n");
	told_end();
	CU_ASSERT_TRUE(told_is("one 1!\ntwo\n"));
}

/*
 * Texts of all lengths up to the longest that is promised, at all fill levels.
 */
static void no_text_of_the_promised_length_is_cut(void)
{
	static char expected[WEFTI_PRINT_MOST * WEFTI_PRINT_MOST];
	struct wefti_out *o = told_begin();
	size_t used = 0;

	for (size_t n = 1; n < WEFTI_PRINT_MOST; n++) {
		char line[WEFTI_PRINT_MOST];

		memset(line, (int)('a' + n % 26), n);
		line[n] = 0;
		wefti_out(o, "%s", line);
		memcpy(expected + used, line, n);
		used += n;
	}
	CU_ASSERT_EQUAL(strlen(told_end()), used);
	CU_ASSERT_EQUAL(memcmp(told_text, expected, used), 0);
}

static void a_text_that_does_not_fit_makes_room_for_itself(void)
{
	char line[WEFTI_PRINT_MOST];

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = 0;
	for (size_t room = sizeof(line) - 8; room < sizeof(line) + 8; room++) {
		struct wefti_out *o = told_begin();

		o->used = sizeof(o->text) - room;
		memset(o->text, 'f', o->used);
		wefti_out(o, "%s", line);
		told_end();
		CU_ASSERT_EQUAL(strspn(told_text, "f"),
				sizeof(o->text) - room);
		CU_ASSERT_STRING_EQUAL(told_text + sizeof(o->text) - room,
				       line);
	}
}

static void what_is_longer_than_the_room_is_cut_there(void)
{
	static char line[3 * sizeof(told_out.text)];
	struct wefti_out *o = told_begin();

	memset(line, 'x', sizeof(line) - 1);
	wefti_out(o, "%s", line);
	CU_ASSERT_EQUAL(o->used, sizeof(o->text) - 1);
	wefti_out(o, "and on\n");
	told_end();
	CU_ASSERT_EQUAL(strspn(told_text, "x"), sizeof(o->text) - 1);
	CU_ASSERT_STRING_EQUAL(told_text + sizeof(o->text) - 1, "and on\n");
}

/* It stays failed, and goes on taking text, of which there is no end. */
static void fails_for_good(int fd)
{
	struct wefti_out o = { .fd = fd };

	wefti_out_flush(&o);		/* nothing was lost */
	CU_ASSERT_EQUAL(o.failed, 0);
	wefti_out(&o, "lost\n");
	CU_ASSERT_EQUAL(o.failed, 0);
	wefti_out_flush(&o);
	CU_ASSERT_EQUAL(o.failed, 1);
	CU_ASSERT_EQUAL(o.used, 0);
	o.fd = memfd_create("late", 0);
	for (int i = 0; i < 10000; i++)
		wefti_out(&o, "a line more\n");
	wefti_out_flush(&o);
	CU_ASSERT_EQUAL(o.failed, 1);
	CU_ASSERT_EQUAL(lseek(o.fd, 0, SEEK_END), 0);
	close(o.fd);
}

static void a_descriptor_that_takes_nothing_is_noted(void)
{
	int fd = open("/dev/null", O_RDONLY), end[2];

	fails_for_good(-1);
	fails_for_good(fd);
	close(fd);
	fails_for_good(fd);
	fd = open("/dev/full", O_WRONLY);
	if (fd >= 0)
		fails_for_good(fd);
	close(fd);
	CU_ASSERT_EQUAL_FATAL(pipe(end), 0);
	close(end[0]);
	signal(SIGPIPE, SIG_IGN);
	fails_for_good(end[1]);
	signal(SIGPIPE, SIG_DFL);
	close(end[1]);
}

#define LINES	1000

static void *read_to_the_end(void *fd)
{
	ssize_t n, used = 0;

	while ((n = read(*(int *)fd, told_text + used,
			 (size_t)((ssize_t)sizeof(told_text) - 1 - used))) > 0)
		used += n;
	told_text[used] = 0;
	return NULL;
}

/*
 * While the guard is open, the writer waits for the reader; else it gives up.
 */
static void a_full_pipe_is_waited_for_while_the_guard_is_open(void)
{
	struct wefti_out o = { .fd = -1 };
	pthread_t reader;
	int end[2];

	CU_ASSERT_EQUAL_FATAL(pipe2(end, O_NONBLOCK), 0);
	CU_ASSERT_TRUE(fcntl(end[1], F_SETPIPE_SZ, 4096) > 0);
	o.fd = end[1];
	while (!o.failed)		/* nobody reads, and it is shut */
		wefti_out(&o, "line %d\n", 1);
	while (read(end[0], told_text, sizeof(told_text)) > 0)
		;

	o = (struct wefti_out){ .fd = end[1] };
	wefti_observe_open();
	CU_ASSERT_EQUAL(fcntl(end[0], F_SETFL, 0), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&reader, NULL, read_to_the_end,
					     &end[0]), 0);
	for (int i = 0; i < LINES; i++)
		wefti_out(&o, "line %d\n", i);
	wefti_out_flush(&o);
	wefti_observe_close();
	close(end[1]);
	pthread_join(reader, NULL);
	CU_ASSERT_EQUAL(o.failed, 0);
	CU_ASSERT_EQUAL(told_times("line "), LINES);
	CU_ASSERT_EQUAL(told_times("line 999\n"), 1);
	close(end[0]);
}

static const struct test_case cases[] = {
	TEST(text_is_held_until_it_is_flushed),
	TEST(no_text_of_the_promised_length_is_cut),
	TEST(a_text_that_does_not_fit_makes_room_for_itself),
	TEST(what_is_longer_than_the_room_is_cut_there),
	TEST(a_descriptor_that_takes_nothing_is_noted),
	TEST(a_full_pipe_is_waited_for_while_the_guard_is_open),
};

TEST_MAIN("observe/out", cases)
