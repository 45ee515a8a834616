/* SPDX-License-Identifier: MIT */
/* test_connect.c - io/accept: a connect waits, also where no event tells of its
 * end: for room in the queue of an AF_UNIX socket that listens */
#include <fcntl.h>
#include <pthread.h>
#include <sys/un.h>
#include <unistd.h>

#include "../chan/crowd.h"
#include "lockfree/atomic.h"
#include "loop.h"

#define ROOM	2	/* of a queue that listens with 1 */
#define CROWD	20

static struct sockaddr_un address;
static socklen_t address_bytes;

/* One that listens, and the sockets that fill its queue. */
struct full {
	int fd;
	int in[ROOM];
};

static int make_socket(int plain)
{
	int fd = plain ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) :
			 weft_socket(AF_UNIX, SOCK_STREAM, 0);

	must(fd >= 0);
	return fd;
}

static int connect_until(int fd, int64_t deadline)
{
	return weft_connect_until(fd, (struct sockaddr *)&address,
				  address_bytes, deadline);
}

/* The kernel gives it a name that nobody else has. */
static void fill(struct full *f)
{
	address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	address_bytes = sizeof(address.sun_family);
	f->fd = make_socket(0);
	must(bind(f->fd, (struct sockaddr *)&address, address_bytes) == 0);
	address_bytes = sizeof(address);
	must(getsockname(f->fd, (struct sockaddr *)&address,
			 &address_bytes) == 0);
	must(listen(f->fd, 1) == 0);
	for (int i = 0; i < ROOM; i++) {
		f->in[i] = make_socket(0);
		must(connect_until(f->in[i], WEFT_NO_WAIT) == 0);
	}
}

static void accept_one(const struct full *f)
{
	int fd = weft_accept(f->fd, NULL, NULL);

	must(fd >= 0 && weft_close(fd) == 0);
}

static void end(const struct full *f)
{
	must(weft_close(f->fd) == 0);
	for (int i = 0; i < ROOM; i++)
		must(weft_close(f->in[i]) == 0);
}

/* Is it the one that was accepted last, and of which all others are gone? */
static void check_connection(const struct full *f, int fd)
{
	int peer;
	char byte = 0;

	for (int i = 1; i < ROOM; i++)
		accept_one(f);
	peer = weft_accept(f->fd, NULL, NULL);
	must(peer >= 0);
	must(weft_send(fd, "x", 1, MSG_NOSIGNAL) == 1);
	must(weft_recv(peer, &byte, 1, 0) == 1 && byte == 'x');
	must(weft_close(peer) == 0);
}

struct waiter {
	int fd;
	int64_t deadline;
	int result;
	_Atomic int ended;
};

static void *wait_for_room(void *arg)
{
	struct waiter *w = arg;

	w->result = connect_until(w->fd, w->deadline);
	store_seq_cst(&w->ended, 1);
	return NULL;
}

/* i: of which kind the socket and the thread are. */
static uint64_t begin_to_wait(struct waiter *w, int i)
{
	struct wefti_thread *t;
	uint64_t id;

	*w = (struct waiter){ make_socket(i & 1), WEFT_FOREVER, 1, 0 };
	id = spawn_with(i & 2 ? WEFT_LIGHT : 0, wait_for_room, w);
	t = wefti_thread_find(id);
	must(t != NULL);
	while (!wefti_wait_is_parked(t) && !load_seq_cst(&w->ended))
		rest();
	return id;
}

static void a_connect_waits_until_there_is_room(void)
{
	size_t before = open_descriptors();

	runtime_begin();
	for (int i = 0; i < 4; i++) {
		struct full f;
		struct waiter w;
		uint64_t id;

		fill(&f);
		id = begin_to_wait(&w, i);
		for (int k = 0; k < 100; k++)
			rest();
		CU_ASSERT_EQUAL(load_seq_cst(&w.ended), 0);
		accept_one(&f);
		join(id);
		CU_ASSERT_EQUAL(w.result, 0);
		check_connection(&f, w.fd);
		CU_ASSERT_EQUAL((fcntl(w.fd, F_GETFL) & O_NONBLOCK) != 0,
				!(i & 1));
		must(weft_close(w.fd) == 0);
		end(&f);
	}
	runtime_end();
	CU_ASSERT_EQUAL(open_descriptors(), before);
}

static void until_its_deadline_and_may_be_called_again(void)
{
	runtime_begin();
	for (int plain = 0; plain < 2; plain++) {
		struct full f;
		int fd = make_socket(plain);

		fill(&f);
		CU_ASSERT_EQUAL(connect_until(fd, WEFT_NO_WAIT), -EAGAIN);
		CU_ASSERT_EQUAL(connect_until(fd, 1), -ETIMEDOUT);
		for (int i = 0; i < 3; i++) {
			int64_t deadline = weft_clock() + 3000000;

			CU_ASSERT_EQUAL(connect_until(fd, deadline),
					-ETIMEDOUT);
			CU_ASSERT_TRUE(weft_clock() >= deadline);
		}
		accept_one(&f);
		CU_ASSERT_EQUAL(connect_until(fd, 1), 0);
		check_connection(&f, fd);
		must(weft_close(fd) == 0);
		end(&f);
	}
	runtime_end();
}

static void a_cancellation_ends_it_and_it_has_done_nothing(void)
{
	runtime_begin();
	for (int i = 0; i < 4; i++) {
		struct full f;
		struct waiter w;
		uint64_t id;

		fill(&f);
		id = begin_to_wait(&w, i);
		must(weft_cancel(id) == 0);
		join(id);
		CU_ASSERT_EQUAL(w.result, -ECANCELED);
		for (int k = 0; k < ROOM; k++)
			accept_one(&f);
		CU_ASSERT_EQUAL(weft_accept_until(f.fd, NULL, NULL,
						  WEFT_NO_WAIT), -EAGAIN);
		CU_ASSERT_EQUAL(connect_until(w.fd, WEFT_FOREVER), 0);
		must(weft_close(w.fd) == 0);
		end(&f);
	}
	runtime_end();
}

static void a_close_ends_it_whichever_end_is_closed(void)
{
	runtime_begin();
	for (int i = 0; i < 4; i++) {
		struct full f;
		struct waiter w[2];
		uint64_t id[2];

		fill(&f);
		for (int k = 0; k < 2; k++)
			id[k] = begin_to_wait(&w[k], i);
		must(weft_close(w[0].fd) == 0);
		join(id[0]);
		CU_ASSERT_EQUAL(w[0].result, -EBADF);
		CU_ASSERT_EQUAL(load_seq_cst(&w[1].ended), 0);
		end(&f);
		join(id[1]);
		CU_ASSERT_EQUAL(w[1].result, -ECONNREFUSED);
		must(weft_close(w[1].fd) == 0);
	}
	runtime_end();
}

static void *connect_one(void *arg)
{
	int fd = make_socket(arg != NULL);
	char byte;

	must(connect_until(fd, WEFT_FOREVER) == 0);
	must(weft_read(fd, &byte, 1) == 0);
	must(weft_close(fd) == 0);
	return NULL;
}

static void a_crowd_that_waits_comes_in_one_by_one(void)
{
	uint64_t id[CROWD];
	struct full f;

	runtime_begin();
	fill(&f);
	for (int i = 0; i < CROWD; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, connect_one,
				   i % 3 ? &f : NULL);
	for (int i = 0; i < ROOM + CROWD; i++)
		accept_one(&f);
	for (int i = 0; i < CROWD; i++)
		join(id[i]);
	end(&f);
	runtime_end();
}

static void *wait_in_kernel_thread(void *arg)
{
	return wait_for_room(arg);
}

/* The runtime stops meanwhile, and they wait on; or there is none at all. */
static void foreign_threads_wait_with_and_without_a_runtime(void)
{
	struct waiter w[2];
	pthread_t thread[2];
	struct full f;

	for (int has_runtime = 0; has_runtime < 2; has_runtime++) {
		if (has_runtime)
			runtime_begin();
		fill(&f);
		w[0] = (struct waiter){ make_socket(0), WEFT_FOREVER, 1, 0 };
		w[1] = (struct waiter){ make_socket(1),
					weft_clock() + 5000000, 1, 0 };
		for (int i = 0; i < 2; i++)
			must(pthread_create(&thread[i], NULL,
					    wait_in_kernel_thread, &w[i]) == 0);
		if (has_runtime) {
			for (int k = 0; k < 20; k++)
				rest();
			runtime_end();
		}
		pthread_join(thread[1], NULL);
		CU_ASSERT_EQUAL(w[1].result, -ETIMEDOUT);
		CU_ASSERT_EQUAL(load_seq_cst(&w[0].ended), 0);
		accept_one(&f);
		pthread_join(thread[0], NULL);
		CU_ASSERT_EQUAL(w[0].result, 0);
		check_connection(&f, w[0].fd);
		for (int i = 0; i < 2; i++)
			must(weft_close(w[i].fd) == 0);
		end(&f);
	}
}

/*
 * A server with a full queue answers nobody; then it does, and the attempt goes
 * on.
 */
static void an_attempt_goes_on_behind_its_deadline(void)
{
	struct sockaddr_in to;
	int server, in, fd, peer, error = -1;
	socklen_t bytes = sizeof(error);

	runtime_begin();
	server = weft_socket(AF_INET, SOCK_STREAM, 0);
	must(server >= 0);
	loop_bind(server, &to, 0);
	in = loop_connect(&to);
	loop_await_peer(server);
	fd = weft_socket(AF_INET, SOCK_STREAM, 0);
	must(fd >= 0);
	CU_ASSERT_EQUAL(weft_connect_until(fd, (struct sockaddr *)&to,
					   sizeof(to), WEFT_NO_WAIT), -EAGAIN);
	CU_ASSERT_EQUAL(weft_connect_until(fd, (struct sockaddr *)&to,
					   sizeof(to), weft_clock() + 2000000),
			-ETIMEDOUT);
	peer = weft_accept(server, NULL, NULL);
	must(peer >= 0 && weft_close(peer) == 0);
	CU_ASSERT_EQUAL(weft_wait_fd(fd, POLLOUT, WEFT_FOREVER), POLLOUT);
	must(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0);
	CU_ASSERT_EQUAL(error, 0);
	peer = weft_accept(server, NULL, NULL);
	CU_ASSERT_EQUAL(weft_send(peer, "x", 1, 0), 1);
	CU_ASSERT_EQUAL(weft_recv(fd, &error, 1, 0), 1);
	must(weft_close(peer) == 0 && weft_close(fd) == 0);
	must(weft_close(in) == 0 && weft_close(server) == 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(a_connect_waits_until_there_is_room),
	TEST(until_its_deadline_and_may_be_called_again),
	TEST(a_cancellation_ends_it_and_it_has_done_nothing),
	TEST(a_close_ends_it_whichever_end_is_closed),
	TEST(a_crowd_that_waits_comes_in_one_by_one),
	TEST(foreign_threads_wait_with_and_without_a_runtime),
	TEST(an_attempt_goes_on_behind_its_deadline),
};

TEST_MAIN("io/connect", cases)
