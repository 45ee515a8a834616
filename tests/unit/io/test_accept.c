/* SPDX-License-Identifier: MIT */
/*
 * test_accept.c - io/accept: what an accept gives, which clients it passes
 * over, which flags a socket keeps, and the errors of connect(2)
 */
#include <fcntl.h>
#include <sys/un.h>

#include "../chan/crowd.h"
#include "io/table.h"
#include "loop.h"
#include "os/call/descriptor.h"

/* Errors that come before the kernel is asked. The linker puts this in place. */
static const int *errors;

int __real_wefti_os_fd_accept(int fd, struct sockaddr *addr, socklen_t *bytes,
			      int flags);
int __wrap_wefti_os_fd_accept(int fd, struct sockaddr *addr, socklen_t *bytes,
			      int flags);

int __wrap_wefti_os_fd_accept(int fd, struct sockaddr *addr, socklen_t *bytes,
			      int flags)
{
	if (errors && *errors)
		return *errors++;
	return __real_wefti_os_fd_accept(fd, addr, bytes, flags);
}

static int is_nonblocking(int fd)
{
	return (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0;
}

static int connect_to(int fd, const struct sockaddr_in *to, int64_t deadline)
{
	return weft_connect_until(fd, (const struct sockaddr *)to, sizeof(*to),
				  deadline);
}

static int accept_at_once(int fd)
{
	return weft_accept_until(fd, NULL, NULL, WEFT_NO_WAIT);
}

static void a_connection_is_made_by_weft_and_says_of_whom(void)
{
	struct sockaddr_in to, from, mine;
	socklen_t bytes = sizeof(from), mine_bytes = sizeof(mine);
	int server, fd, got;
	uint64_t word;

	runtime_begin();
	server = loop_listen(&to);
	fd = loop_connect(&to);
	memset(&from, 0, sizeof(from));
	got = weft_accept(server, (struct sockaddr *)&from, &bytes);
	must(got >= 0);
	CU_ASSERT_EQUAL(bytes, sizeof(from));
	must(getsockname(fd, (struct sockaddr *)&mine, &mine_bytes) == 0);
	CU_ASSERT_EQUAL(from.sin_port, mine.sin_port);
	CU_ASSERT_EQUAL(from.sin_addr.s_addr, mine.sin_addr.s_addr);
	word = load_seq_cst(&wefti_fd_find((uint32_t)got)->word);
	CU_ASSERT_EQUAL(word & WEFTI_FD_FLAGS, WEFTI_FD_MADE |
			WEFTI_FD_NONBLOCK |
			WEFTI_OS_SOCKET << WEFTI_FD_KIND_SHIFT);
	CU_ASSERT_TRUE(is_nonblocking(got));
	CU_ASSERT_EQUAL(fcntl(got, F_GETFD), FD_CLOEXEC);
	must(weft_close(got) == 0 && weft_close(fd) == 0);

	/* Room for a part of the address: it is cut, and its length told. */
	fd = loop_connect(&to);
	bytes = 2;
	memset(&from, 0, sizeof(from));
	got = weft_accept(server, (struct sockaddr *)&from, &bytes);
	must(got >= 0);
	CU_ASSERT_EQUAL(bytes, sizeof(from));
	CU_ASSERT_TRUE(from.sin_family == AF_INET && from.sin_port == 0);
	must(weft_close(got) == 0 && weft_close(fd) == 0);
	must(weft_close(server) == 0);
	runtime_end();
}

/*
 * A client that has gone before it was accepted, and a signal, are nobody's
 * errors.
 */
static void a_client_that_has_gone_is_passed_over(void)
{
	static const int gone[] = { -ECONNABORTED, -EINTR, -ECONNABORTED, 0 };
	static const int full[] = { -ECONNABORTED, -EMFILE, 0 };
	struct sockaddr_in to;
	int server, fd, got;

	runtime_begin();
	server = loop_listen(&to);
	errors = gone;
	CU_ASSERT_EQUAL(accept_at_once(server), -EAGAIN);
	CU_ASSERT_EQUAL(*errors, 0);
	fd = loop_connect(&to);
	errors = full;
	CU_ASSERT_EQUAL(weft_accept(server, NULL, NULL), -EMFILE);
	errors = gone;
	got = weft_accept(server, NULL, NULL);
	CU_ASSERT_EQUAL(*errors, 0);
	errors = NULL;
	must(got >= 0);
	must(weft_close(got) == 0 && weft_close(fd) == 0);
	must(weft_close(server) == 0);
	runtime_end();
}

/* From the first connection that an accept here sees; connect takes it back. */
static void a_socket_that_blocks_does_so_until_an_accept(void)
{
	struct sockaddr_in to;
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd[2], got;

	must(server >= 0);
	runtime_begin();
	loop_bind(server, &to, 10);
	CU_ASSERT_EQUAL(accept_at_once(server), -EAGAIN);
	for (int i = 0; i < 2; i++) {
		must((fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) >=
		     0);
		must(i == 0 || fcntl(fd[i], F_SETFL, O_NONBLOCK) == 0);
		must(connect_to(fd[i], &to, WEFT_FOREVER) == 0);
		CU_ASSERT_EQUAL(is_nonblocking(fd[i]), i);
		/* Linux may say once more of an attempt that it succeeded. */
		got = connect_to(fd[i], &to, WEFT_FOREVER);
		CU_ASSERT_TRUE(got == 0 || got == -EISCONN);
		CU_ASSERT_EQUAL(connect_to(fd[i], &to, WEFT_FOREVER),
				-EISCONN);
		CU_ASSERT_EQUAL(is_nonblocking(fd[i]), i);
		must((got = weft_accept(server, NULL, NULL)) >= 0);
		CU_ASSERT_TRUE(is_nonblocking(server));
		must(weft_close(got) == 0 && weft_close(fd[i]) == 0);
	}
	CU_ASSERT_EQUAL(accept_at_once(server), -EAGAIN);
	CU_ASSERT_EQUAL(weft_accept_until(server, NULL, NULL, 1), -ETIMEDOUT);
	must(weft_close(server) == 0);
	runtime_end();
}

static void what_is_no_socket_for_it_is_an_error(void)
{
	const struct sockaddr_in nowhere = loop_address(htons(1));
	struct sockaddr_un un = { .sun_family = AF_UNIX,
				  .sun_path = "/nowhere/at/all" };
	int pipes[2], fd, datagrams;

	runtime_begin();
	must(weft_pipe(pipes, 0) == 0);
	must((fd = weft_socket(AF_INET, SOCK_STREAM, 0)) >= 0);
	must((datagrams = weft_socket(AF_UNIX, SOCK_DGRAM, 0)) >= 0);
	CU_ASSERT_EQUAL(weft_accept(-1, NULL, NULL), -EBADF);
	CU_ASSERT_EQUAL(weft_accept(pipes[0], NULL, NULL), -ENOTSOCK);
	CU_ASSERT_EQUAL(weft_accept(fd, NULL, NULL), -EINVAL);
	CU_ASSERT_EQUAL(weft_accept(datagrams, NULL, NULL), -EOPNOTSUPP);

	CU_ASSERT_EQUAL(connect_to(-1, &nowhere, WEFT_FOREVER), -EBADF);
	CU_ASSERT_EQUAL(connect_to(pipes[0], &nowhere, WEFT_FOREVER),
			-ENOTSOCK);
	CU_ASSERT_EQUAL(weft_connect(fd, (struct sockaddr *)&un, sizeof(un)),
			-EAFNOSUPPORT);
	CU_ASSERT_EQUAL(weft_connect(fd, (const struct sockaddr *)&nowhere, 3),
			-EINVAL);
	CU_ASSERT_EQUAL(weft_connect(datagrams, (struct sockaddr *)&un,
				     sizeof(un)), -ENOENT);
	must(weft_close(pipes[0]) == 0 && weft_close(pipes[1]) == 0);
	must(weft_close(fd) == 0 && weft_close(datagrams) == 0);
	runtime_end();
}

struct connecting {
	struct sockaddr_in to;
	int fd, result;
};

static void *connect_in_thread(void *arg)
{
	struct connecting *c = arg;

	c->result = connect_to(c->fd, &c->to, WEFT_FOREVER);
	return NULL;
}

/* A server with a full queue does not answer. -EALREADY is no answer either. */
static void an_attempt_that_is_under_way_is_waited_for(void)
{
	struct connecting c = { .result = 1 };
	int server, in, got;
	uint64_t id;

	runtime_begin();
	server = weft_socket(AF_INET, SOCK_STREAM, 0);
	must(server >= 0);
	loop_bind(server, &c.to, 0);
	in = loop_connect(&c.to);
	loop_await_peer(server);
	must((c.fd = weft_socket(AF_INET, SOCK_STREAM, 0)) >= 0);
	CU_ASSERT_EQUAL(connect_to(c.fd, &c.to, WEFT_NO_WAIT), -EAGAIN);
	CU_ASSERT_EQUAL(connect_to(c.fd, &c.to, WEFT_NO_WAIT), -EAGAIN);
	id = spawn(connect_in_thread, &c);
	crowd_await_parked(id);
	CU_ASSERT_EQUAL(c.result, 1);
	/* A close of the end that tries tells it. */
	must(weft_close(c.fd) == 0);
	join(id);
	CU_ASSERT_EQUAL(c.result, -EBADF);
	must((got = weft_accept(server, NULL, NULL)) >= 0);
	must(weft_close(got) == 0 && weft_close(in) == 0);
	must(weft_close(server) == 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(a_connection_is_made_by_weft_and_says_of_whom),
	TEST(a_client_that_has_gone_is_passed_over),
	TEST(a_socket_that_blocks_does_so_until_an_accept),
	TEST(what_is_no_socket_for_it_is_an_error),
	TEST(an_attempt_that_is_under_way_is_waited_for),
};

TEST_MAIN("io/accept", cases)
