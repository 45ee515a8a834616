/* SPDX-License-Identifier: MIT */
/*
 * test_echo.c - examples/echo holds thousands of connections, and lets them go
 *
 * All connections are there at once; then each ends in a way and at a moment of
 * its own. tools/run-full lets several crowds of full size come, one after the
 * other.
 */
#include <sys/resource.h>

#include "../unit/io/loop.h"
#include "lockfree/atomic.h"
#include "server.h"
#include "threads.h"

#define MOST		9000	/* at a scale of 3 and more */
#define SCALED		3000
#define AT_ONCE		400	/* connects, so that no queue overflows */
#define DESCRIPTORS	20000
#define OTHERS		6	/* that are no connection's */
#define SLOW_BYTES	(300 * 1000)

static struct server server;
static struct weft_barrier all_connected;
static struct weft_sem connecting;

/* How many there may be; more than a server and its client have for others. */
static size_t connections(void)
{
	struct rlimit limit;
	size_t wanted = test_scaled(SCALED);
	size_t count = test_threads(wanted < MOST ? wanted : MOST);

	must(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	if (limit.rlim_cur < DESCRIPTORS) {
		limit.rlim_cur = limit.rlim_max < DESCRIPTORS ?
				 limit.rlim_max : DESCRIPTORS;
		must(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	}
	if (limit.rlim_cur < count + 100) {
		count = limit.rlim_cur / 2;
		printf("    only %zu connections: the limit of descriptors\n",
		       count);
	}
	return count;
}

/* From many addresses: ports that rest after a close are no limit then. */
static int connect_from(size_t i)
{
	struct sockaddr_in from = { .sin_family = AF_INET };
	int fd = weft_socket(AF_INET, SOCK_STREAM, 0);

	must(fd >= 0);
	from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + (uint32_t)i % 100);
	must(bind(fd, (struct sockaddr *)&from, sizeof(from)) == 0);
	must(weft_sem_wait(&connecting) == 0);
	must(weft_connect(fd, (struct sockaddr *)&server.address,
			  sizeof(server.address)) == 0);
	must(weft_sem_post(&connecting) == 0);
	return fd;
}

static void ping(int fd, size_t i)
{
	char out[64], in[64];

	memset(out, (int)i, sizeof(out));
	must(weft_send(fd, out, sizeof(out), MSG_NOSIGNAL) == sizeof(out));
	must(weft_recv(fd, in, sizeof(in), MSG_WAITALL) == sizeof(in));
	must(memcmp(in, out, sizeof(in)) == 0);
}

static void close_orderly(int fd)
{
	must(weft_close(fd) == 0);
}

/* The other side gets a reset. */
static void close_abruptly(int fd)
{
	struct linger now = { .l_onoff = 1 };

	must(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) == 0);
	must(weft_close(fd) == 0);
}

/* Nobody reads the answer. */
static void close_unread(int fd)
{
	static const char question[3000];

	must(weft_send(fd, question, sizeof(question), MSG_NOSIGNAL) ==
	     sizeof(question));
	must(weft_close(fd) == 0);
}

/* What it has sent comes back, and then the end, although nobody sends. */
static void close_half(int fd)
{
	char byte = 'x';

	must(weft_send(fd, &byte, 1, MSG_NOSIGNAL) == 1);
	must(shutdown(fd, SHUT_WR) == 0);
	must(weft_read(fd, &byte, 1) == 1);
	must(weft_read(fd, &byte, 1) == 0);
	must(weft_close(fd) == 0);
}

static void *send_much(void *arg)
{
	static const char zeros[SLOW_BYTES];
	int fd = (int)(intptr_t)arg;

	must(weft_send(fd, zeros, sizeof(zeros), MSG_NOSIGNAL) ==
	     sizeof(zeros));
	return NULL;
}

/* Reads in small pieces, with pauses, what another thread sends. */
static void read_slowly(int fd)
{
	uint64_t sender = spawn(send_much, (void *)(intptr_t)fd);
	char buf[20000];

	for (size_t got = 0; got < SLOW_BYTES; ) {
		ssize_t n = weft_read(fd, buf, sizeof(buf));

		must(n > 0);
		got += (size_t)n;
		must(weft_sleep(100000) == 0);
	}
	join(sender);
	close_abruptly(fd);
}

static void end_somehow(int fd, uint64_t *random)
{
	static void (*const ways[])(int fd) = {
		close_orderly, close_abruptly, close_unread, close_half,
	};

	if (test_random_below(random, 64) == 0)
		read_slowly(fd);
	else
		ways[test_random_below(random, 4)](fd);
}

static void *client(void *arg)
{
	size_t i = (size_t)(uintptr_t)arg;
	uint64_t random = test_seed(i);
	int fd = connect_from(i), ret;

	ping(fd, i);
	ret = weft_barrier_wait(&all_connected);
	must(ret == 0 || ret == WEFT_BARRIER_SERIAL);
	(void)weft_sleep((int64_t)test_random_below(&random, 20000000));
	for (uint64_t n = test_random_below(&random, 4); n; n--)
		ping(fd, i + n);
	end_somehow(fd, &random);
	/* Some come again, while others still go. */
	if (test_random_below(&random, 8) == 0) {
		fd = connect_from(i);
		ping(fd, i);
		end_somehow(fd, &random);
	}
	return NULL;
}

/* All at once, until the server has forgotten them. */
static void one_crowd(size_t count, uint64_t *id)
{
	size_t before = server_sockets(&server);

	must(weft_barrier_init(&all_connected, (unsigned)count + 1) == 0);
	for (size_t i = 0; i < count; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, client,
				   (void *)(uintptr_t)i);
	while (server_sockets(&server) < before + count)
		must(weft_sleep(20000000) == 0);
	(void)weft_barrier_wait(&all_connected);
	for (size_t i = 0; i < count; i++)
		join(id[i]);
	/* It sees the ends in its own time; the watchdog has an eye on it. */
	while (server_sockets(&server) > before)
		must(weft_sleep(5000000) == 0);
	must(weft_barrier_destroy(&all_connected) == 0);
	printf("    %zu connections at once; the server's kernel threads: %zu, "
	       "VmRSS %ld KiB\n", count, server_kernel_threads(&server),
	       server_memory(&server));
	fflush(stdout);
}

static void thousands_of_connections_come_and_go(void)
{
	char *const argv[] = { "examples/echo", "0", NULL };
	size_t count = connections(), before = open_descriptors(), servers;
	uint64_t *id = calloc(count, sizeof(*id));
	long kib;

	CU_ASSERT_PTR_NOT_NULL_FATAL(id);
	if (server_start(&server, argv) != 0) {
		free(id);
		return;
	}
	servers = server_descriptors(&server);
	runtime_begin();
	must(weft_sem_init(&connecting, AT_ONCE) == 0);
	one_crowd(count, id);
	kib = server_memory(&server);
	for (size_t n = test_scaled(1); n > 1; n--)
		one_crowd(count, id);
	/* Its stacks may lie with the wrong VCPU, but once. */
	CU_ASSERT_TRUE(server_memory(&server) <= 2 * kib + 16384);
	/* VCPUs, a few spares, the monitor: none is a connection's. */
	CU_ASSERT_TRUE(server_kernel_threads(&server) < 100);
	/* The poller's, which it may not have had at first, and libunwind's. */
	CU_ASSERT_TRUE(server_descriptors(&server) <= servers + OTHERS);
	/* It waits for its last thread, so none is left. */
	CU_ASSERT_EQUAL(server_stop(&server), 0);
	runtime_end();
	CU_ASSERT_TRUE(open_descriptors() <= before + OTHERS);
	free(id);
}

/* Some are silent, some wait for an answer that does not fit. */
static void a_stop_lets_all_go(void)
{
	char *const argv[] = { "examples/echo", "0", NULL };
	int fd[20];

	if (server_start(&server, argv) != 0)
		return;
	runtime_begin();
	must(weft_sem_init(&connecting, AT_ONCE) == 0);
	for (int i = 0; i < 20; i++) {
		fd[i] = connect_from((size_t)i);
		ping(fd[i], (size_t)i);
	}
	for (int i = 0; i < 20; i++)
		must(weft_send(fd[i], "last", 4, 0) == 4);
	CU_ASSERT_EQUAL(server_stop(&server), 0);
	for (int i = 0; i < 20; i++) {
		char buf[10];

		/* What came before the stop was answered. */
		CU_ASSERT_EQUAL(weft_recv(fd[i], buf, 4, MSG_WAITALL), 4);
		CU_ASSERT_EQUAL(weft_read(fd[i], buf, sizeof(buf)), 0);
		must(weft_close(fd[i]) == 0);
	}
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(thousands_of_connections_come_and_go),
	TEST(a_stop_lets_all_go),
};

TEST_MAIN("examples/echo", cases)
