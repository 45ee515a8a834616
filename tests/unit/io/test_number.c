/* SPDX-License-Identifier: MIT */
/*
 * test_number.c - io/poll: a wait for a descriptor that was being closed when
 * the wait began, and that is another file's when the wait looks
 */
#include "../chan/crowd.h"
#include "io/table.h"
#include "loop.h"

static struct wefti_use held;
static _Atomic int is_held;
static int other[2];

int __wrap_wefti_os_fd_poll(struct pollfd *fds, nfds_t count, int64_t deadline);
int __real_wefti_os_fd_poll(struct pollfd *fds, nfds_t count, int64_t deadline);

/* The wait's first look: the close is over, and the number is given again. */
int __wrap_wefti_os_fd_poll(struct pollfd *fds, nfds_t count, int64_t deadline)
{
	if (fds && fds->fd == held.fd && xchg_seq_cst(&is_held, 0)) {
		must(wefti_fd_end(&held) == 0);
		must(weft_pipe(other, 0) == 0);
		must(other[0] == held.fd);
	}
	return __real_wefti_os_fd_poll(fds, count, deadline);
}

static void *wait_for_it(void *unused)
{
	(void)unused;
	return (void *)(intptr_t)weft_wait_fd(held.fd, POLLIN, WEFT_FOREVER);
}

/* A thread that waits for a pipe whose number was another's. */
static uint64_t begin(int fd[2])
{
	uint64_t id;

	must(weft_pipe(fd, 0) == 0);
	must(wefti_fd_begin(&held, fd[0]) == 0);
	CU_ASSERT_EQUAL(weft_close(fd[0]), 0);	/* once it is let go */
	store_seq_cst(&is_held, 1);
	id = spawn(wait_for_it, NULL);
	crowd_await_parked(id);
	CU_ASSERT_EQUAL(load_seq_cst(&is_held), 0);
	return id;
}

static void it_ends_by_what_the_other_is_told(void)
{
	uint64_t id;
	int fd[2];

	runtime_begin();
	id = begin(fd);
	CU_ASSERT_EQUAL(weft_write(other[1], "1", 1), 1);
	CU_ASSERT_EQUAL((intptr_t)join(id), POLLIN);
	CU_ASSERT_EQUAL(weft_close(other[0]), 0);
	CU_ASSERT_EQUAL(weft_close(other[1]), 0);
	CU_ASSERT_EQUAL(weft_close(fd[1]), 0);
	runtime_end();
}

static void it_ends_by_the_close_of_the_other(void)
{
	uint64_t id;
	int fd[2];

	runtime_begin();
	id = begin(fd);
	CU_ASSERT_EQUAL(weft_close(other[0]), 0);
	CU_ASSERT_EQUAL((intptr_t)join(id), -EBADF);
	CU_ASSERT_EQUAL(weft_close(other[1]), 0);
	CU_ASSERT_EQUAL(weft_close(fd[1]), 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(it_ends_by_what_the_other_is_told),
	TEST(it_ends_by_the_close_of_the_other),
};

TEST_MAIN("io/number", cases)
