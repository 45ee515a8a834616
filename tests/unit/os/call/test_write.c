/* SPDX-License-Identifier: MIT */
/* test_write.c - os/write: it writes all, or asks when there is no room */
#include "os/call/write.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"
#include "support.h"

#define MUCH	(1 << 20)

static char text[MUCH], got[MUCH];
static _Atomic int asked;
static int answers;		/* how often it is to go on */

static int goes_on(void)
{
	return fetch_add_seq_cst(&asked, 1) < answers;
}

static void begin(int how_often)
{
	store_seq_cst(&asked, 0);
	answers = how_often;
}

/* Until nothing more goes in; the flag is of the open file. */
static size_t fill(int fd)
{
	size_t total = 0;
	ssize_t n;

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	while ((n = write(fd, text, 4096)) > 0 || (n = write(fd, text, 1)) > 0)
		total += (size_t)n;
	CU_ASSERT_EQUAL(errno, EAGAIN);
	return total;
}

static void *read_all(void *fd)
{
	size_t total = 0;
	ssize_t n;

	while (total < MUCH &&
	       (n = read(*(int *)fd, got + total, MUCH - total)) > 0)
		total += (size_t)n;
	return (void *)total;
}

/* Far more than there is room for, to a reader that is slower or not. */
static void all_goes_through(int fd[2])
{
	pthread_t reader;
	void *total;

	begin(1 << 30);
	memset(got, 0, sizeof(got));
	CU_ASSERT_EQUAL_FATAL(pthread_create(&reader, NULL, read_all, &fd[0]),
			      0);
	CU_ASSERT_EQUAL(wefti_os_write(fd[1], text, MUCH, goes_on), 0);
	pthread_join(reader, &total);
	CU_ASSERT_EQUAL((size_t)total, MUCH);
	CU_ASSERT_EQUAL(memcmp(got, text, MUCH), 0);
	close(fd[0]);
	close(fd[1]);
}

static void all_of_a_long_text_is_written(void)
{
	int fd[2];

	for (size_t i = 0; i < MUCH; i++)
		text[i] = (char)(i * 31 >> 3);
	for (int flags = 0; flags <= O_NONBLOCK; flags += O_NONBLOCK) {
		CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
		fcntl(fd[1], F_SETFL, flags);
		all_goes_through(fd);
		CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, fd),
				      0);
		fcntl(fd[1], F_SETFL, flags);
		all_goes_through(fd);
	}
}

static void what_takes_nothing_is_eio(void)
{
	int fd[2], full = open("/dev/full", O_WRONLY);
	int only_read = open("/dev/null", O_RDONLY);

	begin(0);
	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	CU_ASSERT_EQUAL(wefti_os_write(-1, "x", 1, goes_on), -EIO);
	CU_ASSERT_EQUAL(wefti_os_write(fd[0], "x", 1, goes_on), -EIO);
	CU_ASSERT_EQUAL(wefti_os_write(only_read, "x", 1, goes_on),
			-EIO);
	CU_ASSERT_EQUAL(wefti_os_write(full, "x", 1, goes_on), -EIO);
	close(fd[0]);
	signal(SIGPIPE, SIG_IGN);
	CU_ASSERT_EQUAL(wefti_os_write(fd[1], "x", 1, goes_on), -EIO);
	signal(SIGPIPE, SIG_DFL);
	close(fd[1]);
	close(full);
	close(only_read);
	CU_ASSERT_EQUAL(wefti_os_write(fd[1], "x", 1, goes_on), -EIO);
	CU_ASSERT_EQUAL(load_seq_cst(&asked), 0);
}

static void nothing_to_write_needs_no_room(void)
{
	int fd[2];

	begin(0);
	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	fill(fd[1]);
	CU_ASSERT_EQUAL(wefti_os_write(fd[1], "", 0, goes_on), 0);
	CU_ASSERT_EQUAL(wefti_os_write(-1, NULL, 0, goes_on), 0);
	CU_ASSERT_EQUAL(load_seq_cst(&asked), 0);
	close(fd[0]);
	close(fd[1]);
}

static void a_caller_that_will_not_wait_is_asked_and_gives_up(void)
{
	int fd[2], saved;
	size_t room;

	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	for (int flags = 0; flags <= O_NONBLOCK; flags += O_NONBLOCK) {
		room = fill(fd[1]);
		fcntl(fd[1], F_SETFL, flags);
		begin(flags ? 0 : 1);
		errno = 17;
		saved = wefti_os_write(fd[1], "x", 1, goes_on);
		CU_ASSERT_EQUAL(errno, 17);
		CU_ASSERT_EQUAL(saved, -EIO);
		CU_ASSERT_EQUAL(load_seq_cst(&asked), flags ? 1 : 2);
		/* Nothing was added. */
		fcntl(fd[0], F_SETFL, O_NONBLOCK);
		for (ssize_t n; (n = read(fd[0], got, MUCH)) > 0; )
			room -= (size_t)n;
		CU_ASSERT_EQUAL(room, 0);
	}
	close(fd[0]);
	close(fd[1]);
}

/* --- signals that come all the time */

static _Atomic int handled, writer_tid, writer_is_back;

static void on_signal(int number)
{
	(void)number;
	fetch_add_seq_cst(&handled, 1);
}

static void *write_to_full(void *fd)
{
	int error;

	store_seq_cst(&writer_tid, wefti_os_gettid());
	while (!load_seq_cst(&handled))	/* they come from now on */
		wefti_os_yield();
	error = wefti_os_write(*(int *)fd, "x", 1, goes_on);
	store_seq_cst(&writer_is_back, 1);
	return (void *)(intptr_t)error;
}

/*
 * A handler that ran says nothing about room: where it was taken for some, the
 * write would wait in the kernel, and nobody would be asked again.
 */
static void signals_do_not_make_room(void)
{
	struct sigaction act = { .sa_flags = SA_RESTART }, old;
	pthread_t writer;
	void *error;
	int fd[2];

	act.sa_handler = on_signal;
	sigaction(SIGUSR1, &act, &old);
	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	fill(fd[1]);
	fcntl(fd[1], F_SETFL, 0);
	begin(3);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&writer, NULL, write_to_full,
					     &fd[1]), 0);
	while (!load_seq_cst(&writer_tid))
		wefti_os_yield();
	while (!load_seq_cst(&writer_is_back)) {
		pthread_kill(writer, SIGUSR1);
		wefti_os_yield();
	}
	pthread_join(writer, &error);
	CU_ASSERT_EQUAL((intptr_t)error, -EIO);
	CU_ASSERT_EQUAL(load_seq_cst(&asked), 4);
	CU_ASSERT_TRUE(load_seq_cst(&handled) > 0);
	sigaction(SIGUSR1, &old, NULL);
	close(fd[0]);
	close(fd[1]);
}

static const struct test_case cases[] = {
	TEST(all_of_a_long_text_is_written),
	TEST(what_takes_nothing_is_eio),
	TEST(nothing_to_write_needs_no_room),
	TEST(a_caller_that_will_not_wait_is_asked_and_gives_up),
	TEST(signals_do_not_make_room),
};

TEST_MAIN("os/write", cases)
