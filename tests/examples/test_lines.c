/* SPDX-License-Identifier: MIT */
/* test_lines.c - examples/lines answers, and cuts what is left when it stops */
#include "server.h"
#include "threads.h"

#define CLIENTS	30
#define LINES	20

static struct server server;

static int connect_client(void)
{
	int fd = weft_socket(AF_INET, SOCK_STREAM, 0);

	must(fd >= 0);
	must(weft_connect(fd, (struct sockaddr *)&server.address,
			  sizeof(server.address)) == 0);
	return fd;
}

static void ask(int fd, int i)
{
	char out[40], in[40] = "", wanted[40];
	int bytes = snprintf(out, sizeof(out), "line %d of a client\n", i);

	snprintf(wanted, sizeof(wanted), "LINE %d OF A CLIENT\n", i);
	must(weft_send(fd, out, (size_t)bytes, MSG_NOSIGNAL) == bytes);
	must(weft_recv(fd, in, (size_t)bytes, MSG_WAITALL) == bytes);
	must(strcmp(in, wanted) == 0);
}

static void *be_client(void *unused)
{
	int fd = connect_client();
	char end;

	for (int i = 0; i < LINES; i++)
		ask(fd, i);
	shutdown(fd, SHUT_WR);
	must(weft_recv(fd, &end, 1, 0) == 0);
	must(weft_close(fd) == 0);
	return unused;
}

static void each_line_comes_back(void)
{
	char *argv[] = { "examples/lines", "0", "5", NULL };
	uint64_t id[CLIENTS];

	if (server_start(&server, argv) != 0)
		return;
	runtime_begin();
	for (int i = 0; i < CLIENTS; i++)
		id[i] = spawn(be_client, NULL);
	for (int i = 0; i < CLIENTS; i++)
		join(id[i]);
	CU_ASSERT_EQUAL(server_stop(&server), 0);
	runtime_end();
}

/* They send nothing more, and close nothing: only the deadline ends them. */
static void silent_clients_are_cut_at_the_deadline(void)
{
	char *argv[] = { "examples/lines", "0", "0", NULL };
	int fd[CLIENTS];
	char end;

	if (server_start(&server, argv) != 0)
		return;
	runtime_begin();
	for (int i = 0; i < CLIENTS; i++) {
		fd[i] = connect_client();
		ask(fd[i], i);
	}
	CU_ASSERT_EQUAL(server_stop(&server), 0);
	for (int i = 0; i < CLIENTS; i++) {
		CU_ASSERT_EQUAL(weft_recv(fd[i], &end, 1, 0), 0);
		CU_ASSERT_EQUAL(weft_close(fd[i]), 0);
	}
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(each_line_comes_back),
	TEST(silent_clients_are_cut_at_the_deadline),
};

TEST_MAIN("examples/lines", cases)
