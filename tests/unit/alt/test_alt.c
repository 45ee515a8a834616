/* SPDX-License-Identifier: MIT */
/*
 * test_alt.c - alt/alt: which alternatives are refused, and that a descriptor is
 * held for the time of the call and not longer, however the call ends
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../chan/crowd.h"
#include "io/table.h"

#define READY(f, e)							\
	{ .op = WEFT_ALT_READY, .u.ready = { .fd = (f), .events = (e) } }
#define SEND(c, p)	{ .op = WEFT_ALT_SEND, .chan = (c), .elem = (p) }
#define RECV(c, p)	{ .op = WEFT_ALT_RECV, .chan = (c), .elem = (p) }

#define PIPES	6		/* more than a call has on its stack */
#define NO_ERROR	77	/* what stands where nothing takes effect */

static int fd[PIPES][2];
static struct weft_chan *empty;

static void begin(void)
{
	runtime_begin();
	for (int i = 0; i < PIPES; i++)
		must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd[i]) == 0);
	must(weft_chan_create(&empty, sizeof(long), 0, 0) == 0);
}

/* Nobody uses a descriptor any more, or waits for it. */
static void expect_free(void)
{
	for (int i = 0; i < PIPES; i++) {
		struct wefti_fd *e = wefti_fd_find((uint32_t)fd[i][0]);

		must(e != NULL);
		CU_ASSERT_EQUAL(wefti_fd_users(load_seq_cst(&e->word)), 0);
		CU_ASSERT_FALSE(wefti_side_any_waits(&e->sides));
	}
}

static void end(void)
{
	for (int i = 0; i < PIPES; i++)
		must(weft_close(fd[i][0]) == 0 && weft_close(fd[i][1]) == 0);
	must(weft_chan_destroy(empty) == 0);
	runtime_end();
}

/* An alternative of each descriptor, and behind them `last`. */
static void fill(struct weft_alt *a, size_t count, struct weft_alt last)
{
	for (size_t i = 0; i < count; i++)
		a[i] = (struct weft_alt)READY(fd[i][0], POLLIN);
	a[count] = last;
	for (size_t i = 0; i <= count; i++)
		a[i].error = NO_ERROR;
}

static void expect(struct weft_alt *a, size_t count, int64_t deadline,
		   int result)
{
	CU_ASSERT_EQUAL(weft_alt(a, count, deadline), result);
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_EQUAL(a[i].error, (int)i == result ? 0 : NO_ERROR);
	expect_free();
}

/* With no descriptor; as many as lie on the stack; one more. */
static const size_t counts[] = { 0, 1, 4, 5, PIPES };

#define COUNTS	(sizeof(counts) / sizeof(counts[0]))

static void however_a_call_ends_it_holds_no_descriptor(void)
{
	struct weft_alt a[PIPES + 1];
	long x = 0;

	begin();
	for (size_t k = 0; k < COUNTS; k++) {
		size_t n = counts[k];

		fill(a, n, (struct weft_alt)RECV(empty, &x));
		expect(a, n + 1, WEFT_NO_WAIT, -EAGAIN);
		expect(a, n + 1, 1, -ETIMEDOUT);
		expect(a, n + 1, weft_clock() + 100000, -ETIMEDOUT);
		for (size_t i = 0; i < n; i++) {
			char byte;

			fill(a, n, (struct weft_alt)RECV(empty, &x));
			must(weft_write(fd[i][1], "x", 1) == 1);
			expect(a, n + 1, WEFT_FOREVER, (int)i);
			CU_ASSERT_EQUAL(a[i].u.ready.revents, POLLIN);
			must(weft_read(fd[i][0], &byte, 1) == 1);
		}
		fill(a, n, (struct weft_alt){
			.op = WEFT_ALT_TIME, .u.time = weft_clock() + 50000 });
		expect(a, n + 1, WEFT_FOREVER, (int)n);
	}
	end();
}

static void what_is_wrong_with_one_is_an_error_of_the_call(void)
{
	static const struct weft_alt wrong[] = {
		{ .op = WEFT_ALT_READY + 1 }, { .op = UINT32_MAX },
		{ .op = WEFT_ALT_SEND }, { .op = WEFT_ALT_RECV },
	};
	struct weft_alt a[PIPES + 1];

	begin();
	must(weft_write(fd[0][1], "x", 1) == 1);	/* could be done */
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		for (size_t k = 0; k < COUNTS; k++) {
			fill(a, counts[k], wrong[i]);
			expect(a, counts[k] + 1, WEFT_FOREVER, -EINVAL);
		}
	/* A number that no table has a place for: the others are let go. */
	for (size_t k = 0; k < COUNTS; k++) {
		fill(a, counts[k], (struct weft_alt)READY(1 << 22, POLLIN));
		expect(a, counts[k] + 1, WEFT_FOREVER, -EMFILE);
	}
	/* The last number that one has is not open: that is its effect. */
	fill(a, 0, (struct weft_alt)READY((1 << 22) - 1, POLLIN));
	CU_ASSERT_EQUAL(weft_alt(a, 1, WEFT_FOREVER), 0);
	CU_ASSERT_EQUAL(a[0].error, -EBADF);
	end();
}

static void what_is_nothing_is_passed_over(void)
{
	struct weft_alt a[PIPES + 1];

	begin();
	fill(a, 2, (struct weft_alt){ .op = WEFT_ALT_NONE });
	a[0] = (struct weft_alt){ .op = WEFT_ALT_NONE, .error = NO_ERROR };
	expect(a, 3, 1, -ETIMEDOUT);
	must(weft_write(fd[1][1], "x", 1) == 1);
	expect(a, 3, WEFT_FOREVER, 1);
	end();
}

/* What an earlier call left in them is of no meaning for the next. */
static void alternatives_may_be_used_again(void)
{
	struct weft_alt a[PIPES + 1];

	begin();
	must(weft_write(fd[1][1], "x", 1) == 1);
	fill(a, 2, (struct weft_alt){ .op = WEFT_ALT_NONE });
	expect(a, 2, WEFT_NO_WAIT, 1);
	a[0].u.ready.fd = -1;
	a[1].u.ready.fd = fd[2][0];
	CU_ASSERT_EQUAL(weft_alt(a, 2, WEFT_NO_WAIT), 0);
	CU_ASSERT_EQUAL(a[0].error, -EBADF);
	expect_free();
	end();
}

/* What each asks for, and what comes without being asked for. */
static void events_are_those_of_the_alternative(void)
{
	struct weft_alt a[3] = {
		READY(-1, 0), READY(-1, POLLIN), READY(-1, POLLOUT),
	};

	begin();
	for (int i = 0; i < 3; i++) {
		a[i].u.ready.fd = fd[0][0];
		a[i].error = NO_ERROR;
	}
	expect(a, 2, 1, -ETIMEDOUT);
	expect(a, 3, WEFT_FOREVER, 2);
	CU_ASSERT_EQUAL(a[2].u.ready.revents, POLLOUT);
	CU_ASSERT_EQUAL(a[1].u.ready.revents, 0);
	/* The other end has gone: it is the end, whatever was asked for. */
	must(weft_close(fd[0][1]) == 0);
	CU_ASSERT_EQUAL(weft_alt(a, 1, WEFT_FOREVER), 0);
	CU_ASSERT_EQUAL(a[0].u.ready.revents, POLLHUP);
	CU_ASSERT_EQUAL(weft_alt(a + 1, 1, WEFT_FOREVER), 0);
	CU_ASSERT_EQUAL(a[1].u.ready.revents, POLLIN | POLLHUP);
	must((fd[0][1] = dup(fd[1][1])) >= 0);	/* for end() */
	end();
}

/* Things that could be done at once, of all kinds. */
struct scene {
	struct weft_chan *full, *one[2];
	long x;
};

static void *alt_cancelled(void *arg)
{
	struct scene *s = arg;
	struct weft_alt a[] = {
		RECV(s->full, &s->x), READY(fd[0][0], POLLIN),
		SEND(s->one[0], &s->x), RECV(s->one[1], &s->x),
		{ .op = WEFT_ALT_TIME },
	};

	must(weft_cancel(weft_self()) == 0);
	must(weft_alt(a, 5, WEFT_FOREVER) == -ECANCELED);
	must(weft_alt(a, 5, WEFT_NO_WAIT) == -ECANCELED);
	for (int i = 0; i < 5; i++)
		must(weft_alt(a + i, 1, WEFT_FOREVER) == -ECANCELED);
	return NULL;
}

static void *alt_refused(void *arg)
{
	struct scene *s = arg;
	struct weft_alt a[] = {
		RECV(s->full, &s->x), READY(fd[0][0], POLLIN),
		SEND(s->one[0], &s->x),
	};

	must(weft_alt(a, 3, WEFT_FOREVER) == -EPERM);
	a[2].op = WEFT_ALT_RECV;
	a[2].chan = s->one[1];
	must(weft_alt(a, 3, WEFT_FOREVER) == -EPERM);
	must(weft_alt(a + 2, 1, WEFT_NO_WAIT) == -EPERM);
	return NULL;
}

static void *alt_wrong(void *arg)
{
	struct scene *s = arg;
	struct weft_alt a[] = {
		SEND(s->one[0], &s->x), RECV(s->one[1], &s->x), { .op = 99 },
	};

	must(weft_alt(a, 3, WEFT_FOREVER) == -EINVAL);
	return NULL;
}

/*
 * Its caller becomes the owner of nothing, either; but a thread that tries
 * does.
 */
static void a_call_that_is_refused_has_done_nothing(void)
{
	struct scene s = { .x = 5 };
	long y = 0;

	begin();
	must(weft_chan_create(&s.full, sizeof(long), 1, 0) == 0);
	must(weft_chan_send(s.full, &s.x, WEFT_NO_WAIT) == 0);
	must(weft_write(fd[0][1], "x", 1) == 1);
	for (int i = 0; i < 2; i++)
		must(weft_chan_create(&s.one[i], sizeof(long), 1,
				      WEFT_CHAN_ONE_TO_ONE) == 0);
	join(spawn(alt_wrong, &s));
	for (int i = 0; i < 2; i++)
		join(spawn_with(i ? WEFT_LIGHT : 0, alt_cancelled, &s));
	expect_free();
	must(weft_chan_length(s.full) == 1);
	must(weft_chan_length(s.one[0]) == 0);

	{
		struct weft_alt a[] = { RECV(s.one[1], &y) };

		must(weft_alt(a, 1, WEFT_NO_WAIT) == -EAGAIN);
		must(weft_chan_send(s.one[0], &s.x, WEFT_NO_WAIT) == 0);
	}
	join(spawn(alt_refused, &s));
	expect_free();
	must(weft_chan_length(s.full) == 1);
	must(weft_chan_length(s.one[0]) == 1);
	must(weft_chan_destroy(s.full) == 0);
	for (int i = 0; i < 2; i++)
		must(weft_chan_destroy(s.one[i]) == 0);
	end();
}

struct holder {
	struct weft_alt a[PIPES + 1];
	size_t count;
};

static void *hold(void *arg)
{
	struct holder *h = arg;

	must(weft_alt(h->a, h->count, WEFT_FOREVER) == (int)h->count - 1);
	return NULL;
}

/* While it waits each number is in use; so none is given again. */
static void a_call_that_waits_holds_its_descriptors(void)
{
	begin();
	for (size_t k = 0; k < COUNTS; k++) {
		struct holder h = { .count = counts[k] + 1 };
		long x, y = 3;
		uint64_t id;

		fill(h.a, counts[k], (struct weft_alt)RECV(empty, &x));
		id = spawn(hold, &h);
		crowd_await_parked(id);
		for (size_t i = 0; i < PIPES; i++) {
			struct wefti_fd *e = wefti_fd_find((uint32_t)fd[i][0]);

			CU_ASSERT_EQUAL(wefti_fd_users(load_seq_cst(&e->word)),
					i < counts[k]);
		}
		must(weft_chan_send(empty, &y, WEFT_FOREVER) == 0);
		join(id);
		expect_free();
	}
	end();
}

static const struct test_case cases[] = {
	TEST(however_a_call_ends_it_holds_no_descriptor),
	TEST(what_is_wrong_with_one_is_an_error_of_the_call),
	TEST(what_is_nothing_is_passed_over),
	TEST(alternatives_may_be_used_again),
	TEST(events_are_those_of_the_alternative),
	TEST(a_call_that_is_refused_has_done_nothing),
	TEST(a_call_that_waits_holds_its_descriptors),
};

TEST_MAIN("alt/alt", cases)
