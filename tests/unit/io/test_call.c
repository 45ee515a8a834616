/* SPDX-License-Identifier: MIT */
/*
 * test_call.c - io/call: when a call is tried, when tried again, and when not at
 * all; and that it uses the descriptor for so long
 */
#include "io/call.h"

#include <fcntl.h>
#include <unistd.h>

#include "../chan/crowd.h"
#include "lockfree/atomic.h"

enum { READ = WEFTI_READ_SIDE, WRITE = WEFTI_WRITE_SIDE };

#define STEPS	8

static int fd[2];

/* What each attempt returns; what it does before; how often it was called. */
struct script {
	ssize_t returns[STEPS];
	void (*does)(const struct wefti_call *call);
	int calls;
	struct wefti_call seen;
};

static ssize_t attempt(const struct wefti_call *call, void *arg)
{
	struct script *s = arg;

	must(s->calls < STEPS);
	must(wefti_fd_users(load_seq_cst(&call->use.entry->word)) > 0);
	s->seen = *call;
	if (s->does)
		s->does(call);
	return s->returns[s->calls++];
}

static unsigned users_of(int number)
{
	struct wefti_fd *e = wefti_fd_find((uint32_t)number);

	must(e != NULL);
	return wefti_fd_users(load_seq_cst(&e->word));
}

/* Calls with a script that has `returns` and `does`. */
#define EXPECT(number, does_, deadline, result, calls_, ...)		\
	expect((number), (struct script){ .returns = { __VA_ARGS__ },	\
	       .does = (does_) }, (deadline), (result), (calls_))

static void expect(int number, struct script s, int64_t deadline,
		   ssize_t result, int calls)
{
	CU_ASSERT_EQUAL(wefti_call_do(number, READ, WEFTI_SIDE_ONE, attempt,
				      &s, deadline), result);
	CU_ASSERT_EQUAL(s.calls, calls);
	CU_ASSERT_EQUAL(users_of(number), 0);
}

static void begin(void)
{
	runtime_begin();
	must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
}

static void end(void)
{
	must(weft_close(fd[0]) == 0 && weft_close(fd[1]) == 0);
	runtime_end();
}

static void what_an_attempt_says_is_what_the_call_says(void)
{
	begin();
	EXPECT(fd[0], NULL, WEFT_FOREVER, 7, 1, 7);
	EXPECT(fd[0], NULL, WEFT_FOREVER, 0, 1, 0);
	EXPECT(fd[0], NULL, WEFT_FOREVER, -EPIPE, 1, -EPIPE);
	/*
	 * Also behind the deadline, which is only for a call that has to wait.
	 */
	EXPECT(fd[0], NULL, 1, 7, 1, 7);
	EXPECT(fd[0], NULL, WEFT_NO_WAIT, -EIO, 1, -EIO);
	end();
}

static void a_signal_is_not_seen_and_no_wait_is_one_try(void)
{
	begin();
	EXPECT(fd[0], NULL, WEFT_FOREVER, 5, 3, -EINTR, -EINTR, 5);
	EXPECT(fd[0], NULL, WEFT_NO_WAIT, -EAGAIN, 2, -EINTR, -EAGAIN);
	EXPECT(fd[0], NULL, 1, -ETIMEDOUT, 1, -EAGAIN);
	EXPECT(fd[0], NULL, weft_clock() + 100000, -ETIMEDOUT, 1, -EAGAIN);
	end();
}

static void post_an_edge(const struct wefti_call *call)
{
	struct wefti_thread *self = wefti_enter();

	wefti_side_post(&call->use.entry->sides, call->side);
	wefti_leave(self);
}

static void post_on_the_other_side(const struct wefti_call *call)
{
	struct wefti_thread *self = wefti_enter();

	wefti_side_post(&call->use.entry->sides, !call->side);
	wefti_leave(self);
}

/* What came while it tried is not waited for. */
static void an_edge_during_an_attempt_has_it_tried_again(void)
{
	begin();
	EXPECT(fd[0], post_an_edge, WEFT_FOREVER, 3, 3, -EAGAIN, -EAGAIN, 3);
	EXPECT(fd[0], post_on_the_other_side, weft_clock() + 100000,
	       -ETIMEDOUT, 1, -EAGAIN);
	end();
}

static void close_it(const struct wefti_call *call)
{
	must(weft_close(call->use.fd) == 0);
	must(fcntl(call->use.fd, F_GETFD) >= 0);	/* its number is kept */
}

/* In an attempt: what that did counts, and what it could not do does not. */
static void a_close_during_an_attempt_ends_the_call(void)
{
	begin();
	for (int did = 0; did < 2; did++) {
		int high = fcntl(fd[0], F_DUPFD, 900);

		must(high >= 900);
		EXPECT(high, close_it, WEFT_FOREVER, did ? 4 : -EBADF, 1,
		       did ? 4 : -EAGAIN);
		must(fcntl(high, F_GETFD) < 0);
		/* No attempt at what is closed already. */
		EXPECT(high, NULL, WEFT_FOREVER, -EBADF, 0, 4);
	}
	end();
}

static void what_is_no_descriptor_is_not_tried(void)
{
	struct script s = { .calls = 0 };

	begin();
	must(wefti_call_do(-1, READ, WEFTI_SIDE_ALL, attempt, &s,
			   WEFT_FOREVER) == -EBADF);
	must(wefti_call_do(1 << 22, READ, WEFTI_SIDE_ALL, attempt, &s,
			   WEFT_FOREVER) == -EMFILE);
	CU_ASSERT_EQUAL(s.calls, 0);
	end();
}

static void *call_cancelled(void *arg)
{
	struct script s = { .returns = { 5 } };

	(void)arg;
	must(weft_cancel(weft_self()) == 0);
	must(wefti_call_do(fd[0], READ, WEFTI_SIDE_ONE, attempt, &s,
			   WEFT_FOREVER) == -ECANCELED);
	must(s.calls == 0);
	weft_cancel_hold();
	must(wefti_call_do(fd[0], READ, WEFTI_SIDE_ONE, attempt, &s,
			   WEFT_FOREVER) == 5);
	weft_cancel_release();
	return NULL;
}

static void a_cancelled_thread_tries_nothing(void)
{
	begin();
	join(spawn(call_cancelled, NULL));
	join(spawn_with(WEFT_LIGHT, call_cancelled, NULL));
	end();
}

static void expect_kind(int number, int kind, int nonblocking)
{
	struct script s = { .returns = { 1 } };

	must(wefti_call_do(number, WRITE, WEFTI_SIDE_ALL, attempt, &s,
			   WEFT_FOREVER) == 1);
	CU_ASSERT_EQUAL(s.seen.kind, kind);
	CU_ASSERT_EQUAL(s.seen.nonblocking, nonblocking);
	CU_ASSERT_EQUAL(s.seen.side, WRITE);
	CU_ASSERT_EQUAL(s.seen.mode, WEFTI_SIDE_ALL);
	CU_ASSERT_EQUAL(s.seen.use.fd, number);
}

/*
 * A descriptor that others made is asked each time; weft knows the ones that it
 * made.
 */
static void an_attempt_knows_what_the_descriptor_is(void)
{
	int plain[2], file, pipes[2];

	begin();
	expect_kind(fd[0], WEFTI_OS_SOCKET, 1);
	must(pipe2(plain, O_CLOEXEC | O_NONBLOCK) == 0);
	expect_kind(plain[0], WEFTI_OS_OTHER, 0);	/* it could change */
	must(weft_adopt(plain[0]) == 0);
	expect_kind(plain[0], WEFTI_OS_OTHER, 1);
	must(fcntl(plain[0], F_SETFL, 0) == 0);
	must(weft_adopt(plain[0]) == 0);
	expect_kind(plain[0], WEFTI_OS_OTHER, 0);
	must((file = weft_open("/proc/self/exe", O_RDONLY, 0)) >= 0);
	expect_kind(file, WEFTI_OS_FILE, 0);
	must(weft_pipe(pipes, 0) == 0);
	expect_kind(pipes[1], WEFTI_OS_OTHER, 1);
	for (int i = 0; i < 2; i++)
		must(weft_close(plain[i]) == 0 && weft_close(pipes[i]) == 0);
	must(weft_close(file) == 0);
	end();
}

static void ready_is_what_poll_says(void)
{
	struct wefti_call call = { .side = READ };

	begin();
	must(wefti_fd_begin(&call.use, fd[0]) == 0);
	CU_ASSERT_FALSE(wefti_call_is_ready(&call, POLLIN));
	CU_ASSERT_TRUE(wefti_call_is_ready(&call, POLLOUT));
	must(weft_write(fd[1], "x", 1) == 1);
	CU_ASSERT_TRUE(wefti_call_is_ready(&call, POLLIN));
	must(wefti_fd_end(&call.use) == 0);
	end();
}

/* A call of mode ONE whose end is told by the test. */
struct turn {
	_Atomic int tries, may_end;
	ssize_t result;
};

static ssize_t try_in_turn(const struct wefti_call *call, void *arg)
{
	struct turn *t = arg;

	(void)call;
	fetch_add_seq_cst(&t->tries, 1);
	return load_seq_cst(&t->may_end) ? t->result : -EAGAIN;
}

static void *call_in_turn(void *arg)
{
	struct turn *t = arg;

	must(wefti_call_do(fd[0], READ, WEFTI_SIDE_ONE, try_in_turn, t,
			   WEFT_FOREVER) == t->result);
	return NULL;
}

/* One edge; whoever was woken by it wakes the next, also with an error. */
static void a_woken_thread_that_has_done_wakes_the_next(void)
{
	enum { CROWD = 6 };
	struct turn turn[CROWD];
	uint64_t id[CROWD];

	begin();
	for (int i = 0; i < CROWD; i++) {
		turn[i] = (struct turn){ .result = i % 2 ? i : -EPIPE };
		id[i] = spawn_with(i % 3 ? WEFT_LIGHT : 0, call_in_turn,
				   &turn[i]);
		crowd_await_parked(id[i]);
	}
	for (int i = 0; i < CROWD; i++)
		store_seq_cst(&turn[i].may_end, 1);
	must(weft_write(fd[1], "x", 1) == 1);
	for (int i = 0; i < CROWD; i++)
		join(id[i]);
	for (int i = 0; i < CROWD; i++)
		CU_ASSERT_TRUE(load_seq_cst(&turn[i].tries) >= 2);
	CU_ASSERT_EQUAL(users_of(fd[0]), 0);
	end();
}

static const struct test_case cases[] = {
	TEST(what_an_attempt_says_is_what_the_call_says),
	TEST(a_signal_is_not_seen_and_no_wait_is_one_try),
	TEST(an_edge_during_an_attempt_has_it_tried_again),
	TEST(a_close_during_an_attempt_ends_the_call),
	TEST(what_is_no_descriptor_is_not_tried),
	TEST(a_cancelled_thread_tries_nothing),
	TEST(an_attempt_knows_what_the_descriptor_is),
	TEST(ready_is_what_poll_says),
	TEST(a_woken_thread_that_has_done_wakes_the_next),
};

TEST_MAIN("io/call", cases)
