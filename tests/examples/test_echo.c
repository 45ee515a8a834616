/* SPDX-License-Identifier: MIT */
/* test_echo.c - examples/echo holds thousands of connections, and lets them go */
#include <sys/resource.h>

#include "lockfree/atomic.h"
#include "server.h"
#include "threads.h"

#define MOST		9000
#define AT_ONCE		400	/* connects, so that no queue overflows */
#define DESCRIPTORS	20000
#define SLOW_BYTES	(300 * 1000)

static struct server server;
static struct weft_barrier all_connected;
static struct weft_sem connecting;

/* How many there may be; more than a server and its client have for others. */
static size_t connections(void)
{
	struct rlimit limit;
	size_t count = test_threads(MOST);

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

static void close_abruptly(int fd)
{
	struct linger now = { .l_onoff = 1 };

	must(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) == 0);
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

static void *client(void *arg)
{
	size_t i = (size_t)(uintptr_t)arg;
	int fd = connect_from(i), ret;

	ping(fd, i);
	ret = weft_barrier_wait(&all_connected);
	must(ret == 0 || ret == WEFT_BARRIER_SERIAL);
	ping(fd, i + 1);
	if (i % 16 == 1)
		close_half(fd);
	else if (i % 64 == 2)
		read_slowly(fd);
	else
		close_abruptly(fd);
	return NULL;
}

static void thousands_of_connections_come_and_go(void)
{
	char *const argv[] = { "examples/echo", "0", NULL };
	size_t count = connections(), before;
	uint64_t *id = calloc(count, sizeof(*id));

	CU_ASSERT_PTR_NOT_NULL_FATAL(id);
	if (server_start(&server, argv) != 0) {
		free(id);
		return;
	}
	runtime_begin();
	must(weft_barrier_init(&all_connected, (unsigned)count + 1) == 0);
	must(weft_sem_init(&connecting, AT_ONCE) == 0);
	before = server_sockets(&server);
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
	printf("    %zu connections at once; kernel threads of the server: "
	       "%zu\n", count, server_kernel_threads(&server));
	/* VCPUs, a few spares, the monitor: none is a connection's. */
	CU_ASSERT_TRUE(server_kernel_threads(&server) < 100);
	CU_ASSERT_EQUAL(server_stop(&server), 0);
	must(weft_barrier_destroy(&all_connected) == 0);
	runtime_end();
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
