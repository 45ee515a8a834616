/* SPDX-License-Identifier: MIT */
/* test_close.c - io/table: close wakes the waiters, and a number that is given
 * again wakes no thread that waited for another file */
#include <pthread.h>
#include <unistd.h>

#include "../chan/crowd.h"
#include "lockfree/atomic.h"
#include "loop.h"

#define CROWD	64
#define BIG	(8 << 20)

struct waiter {
	int fd;
	short events;		/* 0: reads */
	_Atomic int begun, ended;
	intptr_t result;
};

static void *wait_for_it(void *arg)
{
	struct waiter *w = arg;
	char byte;

	store_relaxed(&w->begun, 1);
	w->result = w->events ? weft_wait_fd(w->fd, w->events, WEFT_FOREVER) :
				weft_read(w->fd, &byte, 1);
	store_seq_cst(&w->ended, 1);
	return NULL;
}

static void await(_Atomic int *flag)
{
	while (!load_relaxed(flag))
		rest();
}

static void close_wakes_all_who_wait(void)
{
	struct waiter w[CROWD];
	uint64_t id[CROWD];
	int fd[2];

	runtime_begin();
	for (int round = 0; round < 20; round++) {
		must(weft_pipe(fd, 0) == 0);
		for (int i = 0; i < CROWD; i++) {
			w[i] = (struct waiter){
				.fd = fd[0], .events = i % 3 ? 0 : POLLIN,
			};
			id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, wait_for_it,
					   &w[i]);
		}
		for (int i = 0; i < CROWD; i++)
			await(&w[i].begun);
		if (round % 2)
			rest();
		CU_ASSERT_EQUAL(weft_close(fd[0]), 0);
		for (int i = 0; i < CROWD; i++) {
			join(id[i]);
			CU_ASSERT_EQUAL(w[i].result, -EBADF);
		}
		CU_ASSERT_EQUAL(weft_close(fd[1]), 0);
	}
	runtime_end();
}

enum how { WRITES, WRITES_A_PART, ACCEPTS, POLLS_MANY };

/* A call that nothing but the close ends, on `fd`. */
struct blocked {
	enum how how;
	int fd;
	struct pollfd fds[20];	/* fds[11].fd is it; or less than 0 */
	const char *big;
	intptr_t result;
};

static void *block_in_it(void *arg)
{
	struct blocked *b = arg;

	if (b->how == ACCEPTS)
		b->result = weft_accept(b->fd, NULL, NULL);
	else if (b->how == POLLS_MANY)
		b->result = weft_poll(b->fds, 20, WEFT_FOREVER);
	else
		b->result = weft_write(b->fd, b->big,
				       b->how == WRITES ? 1 : BIG);
	return NULL;
}

/* A socket pair that takes nothing more; or one that takes a part. */
static void make_full(enum how how, int fd[2], const char *big)
{
	must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	if (how == WRITES_A_PART)
		return;
	while (weft_write_until(fd[0], big, BIG, WEFT_NO_WAIT) > 0)
		;
	while (weft_write_until(fd[0], big, 1, WEFT_NO_WAIT) > 0)
		;
}

static void close_while_one_is_blocked(enum how how, unsigned flags,
				       const char *big)
{
	struct blocked b = { .how = how, .big = big };
	struct sockaddr_in address;
	int fd[2] = { -1, -1 };
	uint64_t id;

	if (how == ACCEPTS)
		fd[0] = loop_listen(&address);
	else
		make_full(how, fd, big);
	b.fd = fd[0];
	for (int i = 0; i < 20; i++)
		b.fds[i] = (struct pollfd){
			.fd = i == 11 ? fd[0] : i % 2 ? fd[1] : -1,
			.events = POLLPRI,
		};
	id = spawn_with(flags, block_in_it, &b);
	crowd_await_parked(id);
	CU_ASSERT_EQUAL(weft_close(fd[0]), 0);
	join(id);
	if (how == WRITES || how == ACCEPTS)
		CU_ASSERT_EQUAL(b.result, -EBADF);
	if (how == WRITES_A_PART)
		CU_ASSERT_TRUE(b.result > 0 && b.result < BIG);
	if (how == POLLS_MANY) {
		CU_ASSERT_EQUAL(b.fds[11].revents, POLLNVAL);
		CU_ASSERT_TRUE(b.result >= 1);
	}
	if (fd[1] >= 0)
		CU_ASSERT_EQUAL(weft_close(fd[1]), 0);
}

static void close_wakes_who_writes_accepts_or_polls_many(void)
{
	struct sockaddr_in address;
	char *big = calloc(1, BIG);
	int fd[2], server;

	CU_ASSERT_PTR_NOT_NULL_FATAL(big);
	runtime_begin();
	for (int round = 0; round < 20; round++)
		for (int how = WRITES; how <= POLLS_MANY; how++)
			close_while_one_is_blocked((enum how)how,
					round % 2 ? WEFT_LIGHT : 0, big);

	server = loop_listen(&address);

	struct waiter w = { .fd = server, .events = POLLIN };
	uint64_t id = spawn(wait_for_it, &w);

	await(&w.begun);
	CU_ASSERT_EQUAL(weft_close(server), 0);
	join(id);
	CU_ASSERT_EQUAL(w.result, -EBADF);

	/* The other end is closed: it was read from, and no longer is. */
	must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	w = (struct waiter){ .fd = fd[1], .events = POLLPRI };
	id = spawn(wait_for_it, &w);
	await(&w.begun);
	CU_ASSERT_TRUE(weft_write_until(fd[0], big, BIG,
					weft_clock() + 1000000) > 0);
	CU_ASSERT_EQUAL(weft_close(fd[1]), 0);
	join(id);
	CU_ASSERT_EQUAL(w.result, -EBADF);
	CU_ASSERT_EQUAL(weft_send(fd[0], big, 1, MSG_NOSIGNAL), -EPIPE);
	CU_ASSERT_EQUAL(weft_close(fd[0]), 0);
	runtime_end();
	free(big);
}

/*
 * Threads read from numbers that are closed and made anew all the time. Each
 * pipe carries its own name: a wait for one pipe must not get another's.
 */
struct pipes {
	_Atomic uint64_t current[8];	/* name:32 | fd:32; 0: none */
	_Atomic int stop;
	_Atomic size_t got, closed;
};

static void *read_names(void *arg)
{
	struct pipes *p = arg;
	uint64_t random = test_seed((uint64_t)weft_self());

	while (!load_seq_cst(&p->stop)) {
		uint64_t i = test_random_below(&random, 8);
		uint64_t now = load_seq_cst(&p->current[i]);
		uint32_t name;
		ssize_t n;

		if (!now) {
			weft_yield();
			continue;
		}
		n = weft_read_until((int)(uint32_t)now, &name, sizeof(name),
				    weft_clock() + 500000);
		if (n == (ssize_t)sizeof(name)) {
			/* Begun after a close, it may be another's: see there. */
			if (load_seq_cst(&p->current[i]) == now)
				must(name == now >> 32);
			fetch_add_relaxed(&p->got, 1);
		} else {
			must(n == -EBADF || n == -ETIMEDOUT || n == 0);
		}
	}
	return NULL;
}

static void *make_and_close(void *arg)
{
	struct pipes *p = arg;
	uint64_t random = test_seed(1);
	uint32_t name = 0;
	int other[8] = { 0 };

	for (size_t round = 0; round < test_scaled(2000); round++) {
		uint64_t i = test_random_below(&random, 8);
		uint64_t old = xchg_seq_cst(&p->current[i], 0);
		int fd[2];

		if (old) {
			must(weft_close((int)(uint32_t)old) == 0);
			must(weft_close(other[i]) == 0);
			fetch_add_relaxed(&p->closed, 1);
		}
		must(weft_pipe(fd, 0) == 0);
		other[i] = fd[1];
		name++;
		store_seq_cst(&p->current[i],
			      (uint64_t)name << 32 | (uint32_t)fd[0]);
		if (round % 4 == 0)
			weft_yield();
		if (round % 2)
			must(weft_write(fd[1], &name, sizeof(name)) == 4);
		if (round % 64 == 0)
			rest();
	}
	store_seq_cst(&p->stop, 1);
	for (int i = 0; i < 8; i++)
		if (load_seq_cst(&p->current[i])) {
			must(weft_close((int)(uint32_t)p->current[i]) == 0);
			must(weft_close(other[i]) == 0);
		}
	return NULL;
}

static void a_recycled_number_gives_nobody_anothers_data(void)
{
	struct pipes p = { .stop = 0 };
	size_t before = open_descriptors();
	uint64_t id[7];
	int fd[2];

	runtime_begin();
	/* The poller's own descriptors are to be none of the recycled ones. */
	must(weft_pipe(fd, 0) == 0);
	must(weft_wait_fd(fd[0], POLLIN, weft_clock() + 1) == -ETIMEDOUT);
	for (int i = 0; i < 6; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, read_names, &p);
	id[6] = spawn(make_and_close, &p);
	for (int i = 0; i < 7; i++)
		join(id[i]);
	printf("    %zu read, %zu closed\n", load_relaxed(&p.got),
	       load_relaxed(&p.closed));
	must(weft_close(fd[0]) == 0 && weft_close(fd[1]) == 0);
	runtime_end();
	CU_ASSERT_EQUAL(open_descriptors(), before);
}

/* Others close and make the number without telling weft; it was not weft's. */
static void plain_descriptors_may_be_closed_by_others(void)
{
	char byte;

	runtime_begin();
	for (int i = 0; i < 50; i++) {
		struct waiter w;
		uint64_t id;
		int fd[2], copy;

		must(pipe(fd) == 0);
		w = (struct waiter){ .fd = fd[0] };
		id = spawn(wait_for_it, &w);
		await(&w.begun);
		if (i % 2)
			rest();
		must(write(fd[1], "x", 1) == 1);
		join(id);
		CU_ASSERT_EQUAL(w.result, 1);
		/* The poller's list keeps the file of a copy. */
		copy = dup(fd[0]);
		must(close(fd[0]) == 0);
		must(close(fd[1]) == 0);
		CU_ASSERT_EQUAL(weft_read(copy, &byte, 1), 0);
		must(close(copy) == 0);
	}
	runtime_end();
}

static intptr_t use_number(int how, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct weft_alt a = {
		.op = WEFT_ALT_READY, .u.ready = { .fd = fd, .events = POLLIN },
	};
	char byte;

	switch (how) {
	case 0:
		return weft_wait_fd(fd, POLLIN, WEFT_FOREVER);
	case 1:
		return weft_read(fd, &byte, 1);
	case 2:
		must(weft_alt(&a, 1, WEFT_FOREVER) == 0);
		return a.error;
	default:
		must(weft_poll(&p, 1, WEFT_FOREVER) == 1);
		return p.revents == POLLNVAL ? -EBADF : p.revents;
	}
}

/* The first wait of a runtime makes the poller, in the lowest free numbers. */
static void a_closed_number_is_not_taken_for_the_pollers(void)
{
	for (int i = 0; i < 8; i++) {
		struct pollfd p[2];
		int fd[2], other[2];

		runtime_begin();
		must(pipe(fd) == 0);
		must(i < 4 ? close(fd[0]) == 0 : weft_close(fd[0]) == 0);
		must(close(fd[1]) == 0);
		CU_ASSERT_EQUAL(use_number(i % 4, fd[0]), -EBADF);
		runtime_end();

		/* Beside one that has to be watched. */
		runtime_begin();
		must(pipe(fd) == 0);
		must(pipe(other) == 0);
		must(close(fd[0]) == 0 && close(fd[1]) == 0);
		for (int k = 0; k < 2; k++)
			p[k] = (struct pollfd){
				.fd = k == i % 2 ? fd[0] : other[0],
				.events = POLLIN,
			};
		CU_ASSERT_EQUAL(weft_poll(p, 2, WEFT_FOREVER), 1);
		CU_ASSERT_EQUAL(p[i % 2].revents, POLLNVAL);
		CU_ASSERT_EQUAL(p[!(i % 2)].revents, 0);
		must(close(other[0]) == 0 && close(other[1]) == 0);
		runtime_end();
	}
}

struct sharers {
	int fd;
	_Atomic size_t got;
	size_t all;
};

static void *share(void *arg)
{
	struct sharers *s = arg;
	char buf[16];
	ssize_t n;

	while ((n = weft_read(s->fd, buf, sizeof(buf))) > 0)
		fetch_add_relaxed(&s->got, (size_t)n);
	must(n == 0);
	return NULL;
}

static void *feed(void *arg)
{
	struct sharers *s = arg;
	char buf[50] = { 0 };

	for (size_t left = s->all; left > 0; ) {
		size_t n = left < sizeof(buf) ? left : sizeof(buf);

		must(weft_write(s->fd, buf, n) == (ssize_t)n);
		left -= n;
		if (left % 3 == 0)
			weft_yield();
	}
	return NULL;
}

/* Each edge wakes one; nothing may be left lying, and all see the end. */
static void many_readers_and_writers_share_a_descriptor(void)
{
	uint64_t id[20], writer[4];
	int fd[2];

	runtime_begin();
	for (int kind = 0; kind < 2; kind++) {
		if (kind)
			must(weft_pipe(fd, 0) == 0);
		else
			must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);

		struct sharers in = { .fd = fd[0] };
		struct sharers out = { .fd = fd[1], .all = test_scaled(40000) };

		for (int i = 0; i < 20; i++)
			id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, share, &in);
		for (int i = 0; i < 4; i++)
			writer[i] = spawn(feed, &out);
		for (int i = 0; i < 4; i++)
			join(writer[i]);
		CU_ASSERT_EQUAL(weft_close(fd[1]), 0);
		for (int i = 0; i < 20; i++)
			join(id[i]);
		CU_ASSERT_EQUAL(load_relaxed(&in.got), 4 * out.all);
		CU_ASSERT_EQUAL(weft_close(fd[0]), 0);
	}
	runtime_end();
}

static void *read_in_kernel_thread(void *arg)
{
	return wait_for_it(arg);
}

static void foreign_threads_wait_and_are_woken(void)
{
	struct waiter w[3];
	pthread_t thread[3];
	int fd[2];

	runtime_begin();
	must(weft_pipe(fd, 0) == 0);
	/* The poller has its descriptors, before a number is free for them. */
	CU_ASSERT_EQUAL(weft_wait_fd(fd[0], POLLIN, weft_clock() + 1000),
			-ETIMEDOUT);
	for (int i = 0; i < 3; i++) {
		w[i] = (struct waiter){ .fd = fd[0], .events = i == 2 ?
					POLLIN : 0 };
		must(pthread_create(&thread[i], NULL, read_in_kernel_thread,
				    &w[i]) == 0);
	}
	for (int i = 0; i < 3; i++)
		await(&w[i].begun);
	rest();
	CU_ASSERT_EQUAL(weft_write(fd[1], "x", 1), 1);
	while (!load_seq_cst(&w[0].ended) && !load_seq_cst(&w[1].ended))
		rest();
	CU_ASSERT_EQUAL(weft_close(fd[0]), 0);
	weft_block_begin();
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	weft_block_end();
	CU_ASSERT_EQUAL((w[0].result == 1) + (w[1].result == 1), 1);
	CU_ASSERT_EQUAL((w[0].result == -EBADF) + (w[1].result == -EBADF), 1);
	CU_ASSERT_TRUE(w[2].result == POLLIN || w[2].result == -EBADF);
	CU_ASSERT_EQUAL(weft_close(fd[1]), 0);
	runtime_end();
}

/* One goes on waiting after the runtime has stopped, by itself. */
static void a_foreign_thread_outlives_the_runtime(void)
{
	struct waiter w = { .begun = 0 };
	pthread_t thread;
	int fd[2];

	runtime_begin();
	must(weft_pipe(fd, 0) == 0);
	w.fd = fd[0];
	must(pthread_create(&thread, NULL, read_in_kernel_thread, &w) == 0);
	await(&w.begun);
	rest();
	runtime_end();
	CU_ASSERT_EQUAL(weft_write(fd[1], "x", 1), 1);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(w.result, 1);
	CU_ASSERT_EQUAL(weft_close(fd[0]), 0);
	CU_ASSERT_EQUAL(weft_close(fd[1]), 0);
}

static const struct test_case cases[] = {
	TEST(close_wakes_all_who_wait),
	TEST(close_wakes_who_writes_accepts_or_polls_many),
	TEST(a_recycled_number_gives_nobody_anothers_data),
	TEST(plain_descriptors_may_be_closed_by_others),
	TEST(a_closed_number_is_not_taken_for_the_pollers),
	TEST(many_readers_and_writers_share_a_descriptor),
	TEST(foreign_threads_wait_and_are_woken),
	TEST(a_foreign_thread_outlives_the_runtime),
};

TEST_MAIN("io/close", cases)
