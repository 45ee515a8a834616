/* SPDX-License-Identifier: MIT */
/* test_reader.c - io/reader: lines and pieces, however the bytes arrive */
#include "weft/reader.h"

#include <string.h>

#include "threads.h"

static int in, out;
static char room[64];
static struct weft_reader reader;

static void begin(size_t bytes)
{
	int fd[2];

	runtime_begin();
	must(weft_pipe(fd, 0) == 0);
	in = fd[0];
	out = fd[1];
	weft_reader_init(&reader, in, room, bytes);
}

static void end(void)
{
	must(weft_close(in) == 0);
	if (out >= 0)
		must(weft_close(out) == 0);
	runtime_end();
}

static void put(const char *text)
{
	must(weft_write(out, text, strlen(text)) == (ssize_t)strlen(text));
}

static void no_more(void)
{
	must(weft_close(out) == 0);
	out = -1;
}

static int next_is(const char *text)
{
	char *line = NULL;
	ssize_t n = weft_reader_line(&reader, &line, WEFT_FOREVER);

	return n == (ssize_t)strlen(text) && strcmp(line, text) == 0;
}

static ssize_t next_error(int64_t deadline)
{
	char *line = room;
	ssize_t n = weft_reader_line(&reader, &line, deadline);

	CU_ASSERT_PTR_EQUAL(line, room);	/* untouched */
	return n;
}

static void lines_end_in_any_way(void)
{
	begin(sizeof(room));
	put("one\ntwo\r\n\n\r\nthr\ree\r\r\nlast");
	CU_ASSERT(next_is("one"));
	CU_ASSERT(next_is("two"));
	CU_ASSERT(next_is(""));
	CU_ASSERT(next_is(""));
	CU_ASSERT(next_is("thr\ree\r"));
	no_more();
	CU_ASSERT(next_is("last"));
	CU_ASSERT_EQUAL(next_error(WEFT_FOREVER), -ENODATA);
	CU_ASSERT_EQUAL(next_error(WEFT_NO_WAIT), -ENODATA);
	end();
}

static void a_line_may_fill_the_buffer_and_no_more(void)
{
	char part[8];

	begin(8);
	put("123456\n1234567\nx\n");
	CU_ASSERT(next_is("123456"));
	CU_ASSERT_EQUAL(next_error(WEFT_FOREVER), -EMSGSIZE);
	CU_ASSERT_EQUAL(next_error(WEFT_FOREVER), -EMSGSIZE);
	CU_ASSERT_EQUAL(weft_reader_read(&reader, part, 5, WEFT_FOREVER), 5);
	CU_ASSERT_EQUAL(memcmp(part, "12345", 5), 0);
	CU_ASSERT(next_is("67"));
	CU_ASSERT(next_is("x"));
	no_more();
	end();
	begin(8);
	put("1234567");		/* is it the last line? There is no room to see */
	no_more();
	CU_ASSERT_EQUAL(next_error(WEFT_FOREVER), -EMSGSIZE);
	end();
	begin(1);
	put("\n");
	CU_ASSERT_EQUAL(next_error(WEFT_FOREVER), -EMSGSIZE);
	CU_ASSERT_EQUAL(weft_reader_read(&reader, part, 1, WEFT_FOREVER), 1);
	end();
}

static void a_late_line_is_had_later(void)
{
	begin(sizeof(room));
	CU_ASSERT_EQUAL(next_error(WEFT_NO_WAIT), -EAGAIN);
	put("begin");
	CU_ASSERT_EQUAL(next_error(WEFT_NO_WAIT), -EAGAIN);
	CU_ASSERT_EQUAL(next_error(weft_deadline(1)), -ETIMEDOUT);
	weft_cancel(weft_self());
	CU_ASSERT_EQUAL(next_error(WEFT_FOREVER), -ECANCELED);
	weft_cancel_hold();
	put("ning\nend\n");
	CU_ASSERT(next_is("beginning"));
	CU_ASSERT(next_is("end"));
	CU_ASSERT_EQUAL(weft_close(in), 0);
	CU_ASSERT_EQUAL(next_error(WEFT_FOREVER), -EBADF);
	weft_cancel_release();
	in = out;
	out = -1;
	end();
}

static void pieces_are_whole_but_at_the_end(void)
{
	char to[200], long_one[151];

	begin(16);
	memset(long_one, 'y', 150);
	long_one[150] = 0;
	put("head\nab");
	CU_ASSERT(next_is("head"));
	put("cd");
	CU_ASSERT_EQUAL(weft_reader_read(&reader, to, 4, WEFT_FOREVER), 4);
	CU_ASSERT_EQUAL(memcmp(to, "abcd", 4), 0);
	CU_ASSERT_EQUAL(weft_reader_read(&reader, to, 0, WEFT_FOREVER), 0);
	CU_ASSERT_EQUAL(weft_reader_read(&reader, to, 1, WEFT_NO_WAIT), -EAGAIN);
	put("pq");
	CU_ASSERT_EQUAL(weft_reader_read(&reader, to, 3, weft_deadline(1)), 2);
	put(long_one);
	put("tail\n");
	CU_ASSERT_EQUAL(weft_reader_read(&reader, to, 150, WEFT_FOREVER), 150);
	CU_ASSERT_EQUAL(memcmp(to, long_one, 150), 0);
	CU_ASSERT(next_is("tail"));
	put("uvw");
	no_more();
	CU_ASSERT_EQUAL(weft_reader_read(&reader, to, 200, WEFT_FOREVER), 3);
	CU_ASSERT_EQUAL(weft_reader_read(&reader, to, 200, WEFT_FOREVER), 0);
	end();
}

/* Random bytes, many of them newlines, arrive in random pieces. */

#define BYTES	20000

static char sent[BYTES];

static void *send_in_pieces(void *arg)
{
	uint64_t random = test_seed(*(size_t *)arg);

	for (size_t at = 0; at < BYTES;) {
		size_t bytes = 1 + test_random_below(&random, 90);

		if (bytes > BYTES - at)
			bytes = BYTES - at;
		must(weft_write(out, sent + at, bytes) == (ssize_t)bytes);
		at += bytes;
		if (test_random_below(&random, 4) == 0)
			weft_yield();
	}
	no_more();
	return arg;
}

static void fill_sent(uint64_t *random)
{
	size_t since = 0;

	for (size_t i = 0; i < BYTES; i++) {
		int ends = test_random_below(random, 12) == 0 || since >= 60;

		sent[i] = ends ? '\n' : (char)('a' + test_random_below(random, 26));
		since = ends ? 0 : since + 1;
	}
	sent[BYTES - 1] = '\n';
}

static void no_byte_is_lost_or_had_twice(void)
{
	for (size_t round = 0; round < test_scaled(20); round++) {
		uint64_t random = test_seed(round + 100), id;
		size_t at = 0;
		char piece[100], *line;
		ssize_t n;

		begin(sizeof(room));
		fill_sent(&random);
		id = spawn(send_in_pieces, &round);
		while (at < BYTES) {
			if (test_random_below(&random, 3)) {
				n = weft_reader_line(&reader, &line, WEFT_FOREVER);
				must(n >= 0 && memcmp(line, sent + at, (size_t)n) == 0);
				must(line[n] == 0 && sent[at + (size_t)n] == '\n');
				at += (size_t)n + 1;
				continue;
			}
			n = weft_reader_read(&reader, piece,
					     test_random_below(&random, 100) + 1,
					     WEFT_FOREVER);
			must(n > 0 && memcmp(piece, sent + at, (size_t)n) == 0);
			at += (size_t)n;
		}
		CU_ASSERT_EQUAL(next_error(WEFT_FOREVER), -ENODATA);
		join(id);
		end();
	}
}

static const struct test_case cases[] = {
	TEST(lines_end_in_any_way),
	TEST(a_line_may_fill_the_buffer_and_no_more),
	TEST(a_late_line_is_had_later),
	TEST(pieces_are_whole_but_at_the_end),
	TEST(no_byte_is_lost_or_had_twice),
};

TEST_MAIN("io/reader", cases)
