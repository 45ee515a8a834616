/* SPDX-License-Identifier: MIT */
/* test_ready.c - descriptors that become ready, among the things an alt waits for */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../chan/crowd.h"
#include "io/table.h"
#include "lockfree/atomic.h"
#include "sync/segment.h"

#define READY(f, e)							\
	{ .op = WEFT_ALT_READY, .u.ready = { .fd = (f), .events = (e) } }
#define RECV(c, p)	{ .op = WEFT_ALT_RECV, .chan = (c), .elem = (p) }

static struct weft_chan *make(size_t capacity)
{
	struct weft_chan *c = NULL;

	must(weft_chan_create(&c, sizeof(long), capacity, 0) == 0);
	return c;
}

static void end(struct weft_chan *c)
{
	must(weft_chan_destroy(c) == 0);
}

static void close_both(const int fd[2])
{
	must(weft_close(fd[0]) == 0);
	must(weft_close(fd[1]) == 0);
}

static void what_is_ready_is_found_at_once(void)
{
	struct weft_chan *c;
	long x = 1, y = 0;
	int fd[2];

	runtime_begin();
	c = make(1);
	must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	{
		struct weft_alt a[] = { RECV(c, &y), READY(fd[0], POLLIN) };

		must(weft_alt(a, 2, WEFT_NO_WAIT) == -EAGAIN);
		must(weft_alt(a, 2, weft_clock() + 100000) == -ETIMEDOUT);
		must(weft_chan_send(c, &x, WEFT_NO_WAIT) == 0);
		must(weft_alt(a, 2, WEFT_NO_WAIT) == 0 && y == 1);
		must(weft_write(fd[1], "x", 1) == 1);
		must(weft_alt(a, 2, WEFT_NO_WAIT) == 1);
		must(a[1].error == 0 && a[1].u.ready.revents == POLLIN);
		/* Nothing was taken from it. */
		must(weft_alt(a + 1, 1, WEFT_FOREVER) == 0);
		a[1].u.ready.events = POLLIN | POLLOUT;
		must(weft_alt(a + 1, 1, WEFT_FOREVER) == 0);
		must(a[1].u.ready.revents == (POLLIN | POLLOUT));
	}
	close_both(fd);
	end(c);
	runtime_end();
}

static void what_is_not_open_takes_effect_with_an_error(void)
{
	int fd[2], file;

	runtime_begin();
	must(weft_pipe(fd, 0) == 0);
	close_both(fd);
	{
		struct weft_alt a[] = {
			READY(fd[0], POLLIN), READY(-1, POLLIN),
			READY(1 << 19, POLLOUT),
		};

		for (int i = 0; i < 3; i++) {
			must(weft_alt(a + i, 1, WEFT_FOREVER) == 0);
			must(a[i].error == -EBADF);
			must(weft_alt(a + i, 1, WEFT_NO_WAIT) == 0);
			must(a[i].error == -EBADF);
		}
	}
	/* A file is always ready, and no poller takes it. */
	file = weft_open("/dev/null", O_RDWR, 0);
	must(file >= 0);
	{
		struct weft_alt a[] = {
			READY(file, POLLIN), READY(file, POLLPRI),
		};

		must(weft_alt(a, 2, WEFT_FOREVER) == 0 && a[0].error == 0);
		must(weft_alt(a + 1, 1, weft_clock() + 100000) == -ETIMEDOUT);
	}
	must(weft_close(file) == 0);
	runtime_end();
}

/* Whoever waits does so on both; what comes is counted where it was taken. */
struct counters {
	struct weft_chan *chan;
	int fd;
	_Atomic long messages, bytes;
};

static void *count(void *arg)
{
	struct counters *n = arg;

	for (;;) {
		long x;
		char byte;
		struct weft_alt a[] = {
			RECV(n->chan, &x), READY(n->fd, POLLIN),
		};
		int at = weft_alt(a, 2, WEFT_FOREVER);

		must(at >= 0 && (at == 0 || a[1].error == 0));
		if (at == 0 && a[0].error)
			return NULL;
		if (at == 0)
			fetch_add_relaxed(&n->messages, 1);
		else if (weft_read_until(n->fd, &byte, 1, WEFT_NO_WAIT) == 1)
			fetch_add_relaxed(&n->bytes, 1);
	}
}

static void messages_and_bytes_are_taken_once(void)
{
	enum { CROWD = 6 };
	const long all = (long)test_scaled(2000);
	struct counters n = { .messages = 0 };
	uint64_t id[CROWD];
	int fd[2];

	runtime_begin();
	for (size_t capacity = 0; capacity < 3; capacity += 2) {
		n.chan = make(capacity);
		must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
		n.fd = fd[0];
		store_relaxed(&n.messages, 0);
		store_relaxed(&n.bytes, 0);
		for (int i = 0; i < CROWD; i++)
			id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, count, &n);
		for (long x = 0; x < all; x++) {
			must(weft_chan_send(n.chan, &x, WEFT_FOREVER) == 0);
			must(weft_write(fd[1], "x", 1) == 1);
			if (x % 7 == 0)
				weft_yield();
		}
		while (load_relaxed(&n.bytes) < all)
			rest();
		must(weft_chan_close(n.chan) == 0);
		for (int i = 0; i < CROWD; i++)
			join(id[i]);
		CU_ASSERT_EQUAL(load_relaxed(&n.messages), all);
		CU_ASSERT_EQUAL(load_relaxed(&n.bytes), all);
		close_both(fd);
		end(n.chan);
	}
	runtime_end();
}

/* What each of a crowd waits for, and what came of it. */
struct waiter {
	struct weft_chan *chan;
	int fd;
	_Atomic int ended;
	int at, error, revents;
};

static void *wait_for_either(void *arg)
{
	struct waiter *w = arg;
	long x;
	struct weft_alt a[] = {
		RECV(w->chan, &x), READY(w->fd, POLLIN), READY(w->fd, POLLPRI),
	};

	w->at = weft_alt(a, 3, WEFT_FOREVER);
	if (w->at >= 0)
		w->error = a[w->at].error;
	if (w->at > 0)
		w->revents = a[w->at].u.ready.revents;
	store_seq_cst(&w->ended, 1);
	return NULL;
}

static void close_wakes_all_with_an_error(void)
{
	enum { CROWD = 20 };
	struct waiter w[CROWD];
	uint64_t id[CROWD];
	struct weft_chan *c;
	int fd[2];

	runtime_begin();
	c = make(0);
	for (int round = 0; round < 20; round++) {
		must(weft_pipe(fd, 0) == 0);
		for (int i = 0; i < CROWD; i++) {
			w[i] = (struct waiter){ .chan = c, .fd = fd[0] };
			id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0,
					   wait_for_either, &w[i]);
		}
		for (int i = 0; i < CROWD && round % 2; i++)
			crowd_await_parked(id[i]);
		must(weft_close(fd[0]) == 0);
		for (int i = 0; i < CROWD; i++) {
			join(id[i]);
			CU_ASSERT_TRUE(w[i].at > 0);
			CU_ASSERT_EQUAL(w[i].error, -EBADF);
		}
		must(weft_close(fd[1]) == 0);
	}
	end(c);
	runtime_end();
}

/*
 * The number is given again as soon as it can be, to a file that is ready. A
 * thread that waited for the old file hears of the close and of nothing else.
 */
static void a_recycled_number_wakes_nobody_for_another_file(void)
{
	struct weft_chan *c;
	size_t same = 0;

	runtime_begin();
	c = make(0);
	for (size_t round = 0; round < test_scaled(400); round++) {
		struct waiter w = { .chan = c };
		int old[2], fd[2];
		uint64_t id;

		must(weft_pipe(old, 0) == 0);
		w.fd = old[0];
		id = spawn_with(round % 2 ? WEFT_LIGHT : 0, wait_for_either,
				&w);
		crowd_await_parked(id);
		must(weft_close(old[0]) == 0);
		for (int i = 1; !load_seq_cst(&w.ended); i++) {
			must(weft_pipe(fd, 0) == 0);
			must(weft_write(fd[1], "x", 1) == 1);
			same += fd[0] == old[0];
			if (i % 8 == 0)
				weft_yield();
			close_both(fd);
		}
		join(id);
		must(w.at > 0 && w.error == -EBADF && w.revents == 0);
		must(weft_close(old[1]) == 0);
	}
	printf("    %zu numbers given again\n", same);
	end(c);
	runtime_end();
}

/* How many segments the lists of tickets for fd have. */
static unsigned segments_of(int fd)
{
	struct wefti_fd *e = wefti_fd_find((uint32_t)fd);

	must(e != NULL);
	return wefti_seg_count(&e->sides.one.first) +
	       wefti_seg_count(&e->sides.side[WEFTI_READ_SIDE].all.first) +
	       wefti_seg_count(&e->sides.side[WEFTI_WRITE_SIDE].all.first);
}

static void timed_out_alts_on_a_descriptor_leave_no_memory(void)
{
	/* Not fewer than fill some segments. */
	const size_t n = 200 + test_scaled(5000);
	struct waiter first;
	struct weft_chan *c;
	uint32_t before;
	uint64_t id;
	int fd[2];
	long x;

	runtime_begin();
	c = make(0);
	must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	/* In front of all of them waits one that stays. */
	first = (struct waiter){ .chan = c, .fd = fd[0] };
	id = spawn(wait_for_either, &first);
	crowd_await_parked(id);
	before = wefti_dense_limit(&wefti_segments.table);
	for (size_t i = 0; i < n; i++) {
		struct weft_alt a[] = {
			RECV(c, &x), READY(fd[0], POLLIN),
			READY(fd[0], POLLPRI), READY(fd[0], POLLIN),
		};

		must(weft_alt(a, 4, 1) == -ETIMEDOUT);
	}
	/* The first, the last, and one that somebody waits in. */
	CU_ASSERT_TRUE(segments_of(fd[0]) <= 3);
	CU_ASSERT_TRUE(wefti_seg_count(&c->receivers.first) <= 3);
	/* Each VCPU that the caller has been on may have made a batch. */
	CU_ASSERT_TRUE(wefti_dense_limit(&wefti_segments.table) <=
		       before + 9 * WEFTI_STOCK_BATCH);
	must(weft_write(fd[1], "x", 1) == 1);
	join(id);
	CU_ASSERT_EQUAL(first.at, 1);
	close_both(fd);
	end(c);
	runtime_end();
}

static void hundreds_of_descriptors_stand_in_one_alt(void)
{
	enum { PIPES = 300, ALTS = 3 * PIPES };
	static int fd[PIPES][2];
	static struct weft_alt a[ALTS];
	struct weft_chan *c;
	long x;

	runtime_begin();
	c = make(0);
	for (int i = 0; i < PIPES; i++) {
		must(weft_pipe(fd[i], 0) == 0);
		a[3 * i] = (struct weft_alt)READY(fd[i][0], POLLIN);
		a[3 * i + 1] = (struct weft_alt)RECV(c, &x);
		a[3 * i + 2] = a[3 * i];
	}
	for (int i = 0; i < 10; i++) {
		int at = i * 37 % PIPES, got;
		char byte;

		must(weft_alt(a, ALTS, 1) == -ETIMEDOUT);
		must(weft_write(fd[at][1], "x", 1) == 1);
		got = weft_alt(a, ALTS, WEFT_FOREVER);
		must(got == 3 * at || got == 3 * at + 2);
		must(weft_read(fd[at][0], &byte, 1) == 1);
	}
	for (int i = 0; i < PIPES; i++)
		close_both(fd[i]);
	end(c);
	runtime_end();
}

static _Atomic size_t polls;

int __real_wefti_os_fd_poll(struct pollfd *fds, nfds_t count, int64_t deadline);
int __wrap_wefti_os_fd_poll(struct pollfd *fds, nfds_t count, int64_t deadline);

int __wrap_wefti_os_fd_poll(struct pollfd *fds, nfds_t count, int64_t deadline)
{
	fetch_add_relaxed(&polls, 1);
	return __real_wefti_os_fd_poll(fds, count, deadline);
}

/* As poll(2) does it, of which each call takes no more than there may be open. */
static void all_descriptors_are_looked_at_at_once(void)
{
	enum { ALTS = 1000 };
	static struct weft_alt a[ALTS];
	struct rlimit before, few;
	long x = 1;
	int fd[2];

	runtime_begin();
	must(weft_pipe(fd, 0) == 0);
	for (int i = 0; i < ALTS; i++)
		a[i] = (struct weft_alt)READY(fd[0], POLLIN);
	polls = 0;
	must(weft_alt(a, ALTS, WEFT_NO_WAIT) == -EAGAIN && polls == 1);
	must(weft_write(fd[1], "x", 1) == 1);
	must(weft_alt(a, ALTS, WEFT_FOREVER) >= 0 && polls == 2);

	/* None when a channel comes first. */
	a[0] = (struct weft_alt)RECV(make(1), &x);
	polls = 0;
	for (int i = 0; i < 100; i++) {
		must(weft_chan_send(a[0].chan, &x, WEFT_NO_WAIT) == 0);
		if (weft_alt(a, 2, WEFT_FOREVER) != 0)
			must(weft_chan_recv(a[0].chan, &x, WEFT_NO_WAIT) == 0);
	}
	must(polls > 0 && polls < 100);
	end(a[0].chan);

	must(getrlimit(RLIMIT_NOFILE, &before) == 0);
	few = before;
	few.rlim_cur = (rlim_t)fd[1] + 50;
	if (few.rlim_cur < ALTS - 1 && few.rlim_cur < before.rlim_cur) {
		must(setrlimit(RLIMIT_NOFILE, &few) == 0);
		polls = 0;
		must(weft_alt(a + 1, ALTS - 1, WEFT_FOREVER) >= 0);
		must(polls == ALTS);
		must(setrlimit(RLIMIT_NOFILE, &before) == 0);
	}
	close_both(fd);
	runtime_end();
}

static void a_cancelled_alt_leaves_the_descriptor(void)
{
	struct weft_chan *c;
	struct waiter w;
	uint64_t id;
	int fd[2];

	runtime_begin();
	c = make(0);
	must(weft_pipe(fd, 0) == 0);
	for (int i = 0; i < 20; i++) {
		w = (struct waiter){ .chan = c, .fd = fd[0] };
		id = spawn_with(i % 2 ? WEFT_LIGHT : 0, wait_for_either, &w);
		if (i % 4)
			crowd_await_parked(id);
		must(weft_cancel(id) == 0);
		join(id);
		CU_ASSERT_EQUAL(w.at, -ECANCELED);
	}
	close_both(fd);
	end(c);
	runtime_end();
}

static void *wait_in_kernel_thread(void *arg)
{
	return wait_for_either(arg);
}

static void foreign_threads_wait_until_the_runtime_stops(void)
{
	struct waiter w[2];
	pthread_t thread[2];
	struct weft_chan *c;
	int fd[2];

	runtime_begin();
	c = make(0);
	must(weft_pipe(fd, 0) == 0);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 2; i++) {
			w[i] = (struct waiter){ .chan = c, .fd = fd[0] };
			must(pthread_create(&thread[i], NULL,
					    wait_in_kernel_thread, &w[i]) == 0);
		}
		rest();
		if (round == 0)
			must(weft_write(fd[1], "x", 1) == 1);
		else
			runtime_end();
		weft_block_begin();
		for (int i = 0; i < 2; i++)
			pthread_join(thread[i], NULL);
		weft_block_end();
		for (int i = 0; i < 2; i++)
			CU_ASSERT_EQUAL(w[i].at, round ? -ESRCH : 1);
		if (round == 0) {
			char byte;

			must(weft_read(fd[0], &byte, 1) == 1);
		}
	}
	{
		struct weft_alt a[] = { READY(fd[0], POLLIN) };

		CU_ASSERT_EQUAL(weft_alt(a, 1, WEFT_NO_WAIT), -EAGAIN);
		CU_ASSERT_EQUAL(weft_alt(a, 1, WEFT_FOREVER), -ESRCH);
		must(weft_write(fd[1], "x", 1) == 1);
		CU_ASSERT_EQUAL(weft_alt(a, 1, WEFT_FOREVER), 0);
	}
	close_both(fd);
	end(c);
}

static const struct test_case cases[] = {
	TEST(what_is_ready_is_found_at_once),
	TEST(what_is_not_open_takes_effect_with_an_error),
	TEST(messages_and_bytes_are_taken_once),
	TEST(close_wakes_all_with_an_error),
	TEST(a_recycled_number_wakes_nobody_for_another_file),
	TEST(timed_out_alts_on_a_descriptor_leave_no_memory),
	TEST(hundreds_of_descriptors_stand_in_one_alt),
	TEST(all_descriptors_are_looked_at_at_once),
	TEST(a_cancelled_alt_leaves_the_descriptor),
	TEST(foreign_threads_wait_until_the_runtime_stops),
};

TEST_MAIN("alt/ready", cases)
