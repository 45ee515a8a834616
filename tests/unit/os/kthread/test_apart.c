/* SPDX-License-Identifier: MIT */
/*
 * test_apart.c - os/apart: two tables of descriptors, and which files are in
 * which
 */
#include "os/kthread/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "forked.h"
#include "lockfree/atomic.h"
#include "os/call/newer.h"
#include "os/kthread/kthread.h"
#include "sandbox.h"

#define FIRST	48		/* of those that are opened there */
#define HIGH	1008		/* where a program hardly has any */

static int ours;		/* a descriptor of the process */

static int is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Is it /dev/null, and not what fills the low numbers? */
static int is_null(int fd)
{
	struct stat null, st;

	return stat("/dev/null", &null) == 0 && fstat(fd, &st) == 0 &&
	       st.st_ino == null.st_ino && st.st_rdev == null.st_rdev;
}

/* The number that would be the next one here. */
static int next_number(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd;
}

static void in_another(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, run, arg), 0);
	pthread_join(thread, NULL);
}

static struct {
	int error, saw_ours, saw_high, next, next_of_other, stays_open;
	_Atomic int opened, may_end;
} there;

static void *look_from_there(void *unused)
{
	(void)unused;
	there.next_of_other = next_number();
	return NULL;
}

static void *leave(void *unused)
{
	there.error = wefti_os_descriptors_apart();
	there.saw_ours = is_null(ours);
	there.next = open("/dev/null", O_RDONLY);
	in_another(look_from_there, NULL);
	store_seq_cst(&there.opened, 1);
	while (!load_seq_cst(&there.may_end))
		wefti_os_yield();
	there.stays_open = is_null(there.next);
	return unused;
}

static void what_it_opens_and_what_we_have_are_apart(void)
{
	int before = next_number(), mine;
	pthread_t thread;

	ours = open("/dev/null", O_RDONLY);
	CU_ASSERT_EQUAL(ours, before);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, leave, NULL), 0);
	while (!load_seq_cst(&there.opened))
		wefti_os_yield();
	CU_ASSERT_EQUAL(there.error, 0);
	CU_ASSERT_FALSE(there.saw_ours);
	CU_ASSERT_EQUAL(there.next, FIRST);
	/* A kernel thread that it makes shares its table. */
	CU_ASSERT_EQUAL(there.next_of_other, there.next + 1);
	/* Here nothing of that is to be seen, and the lowest number is free. */
	CU_ASSERT_FALSE(is_open(there.next));
	CU_ASSERT_TRUE(is_null(ours));
	mine = open("/dev/null", O_RDONLY);
	CU_ASSERT_EQUAL(mine, before + 1);
	/* To close ours closes nothing there. */
	close(ours);
	store_seq_cst(&there.may_end, 1);
	pthread_join(thread, NULL);
	CU_ASSERT_TRUE(there.stays_open);
	CU_ASSERT_TRUE(is_open(mine));
	close(mine);
	CU_ASSERT_EQUAL(next_number(), before);
}

static void *leave_and_look(void *unused)
{
	there.error = wefti_os_descriptors_apart();
	there.saw_ours = is_null(ours);
	there.next = next_number();
	return unused;
}

/* 16 numbers are left for files that are opened; below that, all there are. */
static void a_low_limit_leaves_room_all_the_same(void)
{
	static const rlim_t limits[] = { 64, 32, 17, 16, 8 };
	struct rlimit limit, before;

	getrlimit(RLIMIT_NOFILE, &before);
	ours = open("/dev/null", O_RDONLY);
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		limit = before;
		limit.rlim_cur = limits[i];
		CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
		in_another(leave_and_look, NULL);
		CU_ASSERT_EQUAL(there.error, 0);
		CU_ASSERT_FALSE(there.saw_ours);
		CU_ASSERT_TRUE(there.next + 17 >= (int)limits[i]);
		CU_ASSERT_TRUE(there.next > 0 && there.next + 7 <= (int)limits[i]);
	}
	setrlimit(RLIMIT_NOFILE, &before);
	close(ours);
}

static void check_pipe(int least)
{
	int fds[2], lowest = next_number();
	char c = 0;

	CU_ASSERT_EQUAL_FATAL(wefti_os_pipe_high(fds, O_NONBLOCK), 0);
	CU_ASSERT_TRUE(fds[0] >= least && fds[1] >= least);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_TRUE(fcntl(fds[i], F_GETFL) & O_NONBLOCK);
		CU_ASSERT_EQUAL(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
	}
	CU_ASSERT_EQUAL(write(fds[1], "x", 1), 1);
	CU_ASSERT_TRUE(read(fds[0], &c, 1) == 1 && c == 'x');
	CU_ASSERT_EQUAL(close(fds[0]) | close(fds[1]), 0);
	CU_ASSERT_EQUAL(next_number(), lowest);	/* none is left open */
}

static void a_librarys_pipe_has_high_numbers(void)
{
	struct rlimit limit, before;
	int fds[2] = { -7, -7 };

	getrlimit(RLIMIT_NOFILE, &before);
	limit = before;
	if (before.rlim_max >= 2048) {
		limit.rlim_cur = 2048;
		CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
		check_pipe(HIGH);
	}
	limit.rlim_cur = 256;
	CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	check_pipe(256 - 16);
	limit.rlim_cur = 8;
	CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
	check_pipe(0);
	setrlimit(RLIMIT_NOFILE, &before);
	errno = 0;
	CU_ASSERT_EQUAL(wefti_os_pipe_high(fds, -1), -1);
	CU_ASSERT_EQUAL(errno, EINVAL);
	CU_ASSERT_TRUE(fds[0] == -7 && fds[1] == -7);
}

/* --- kernels that refuse */

static void *leave_with_copies(void *unused)
{
	int fd;

	must(wefti_os_descriptors_apart() == 0);
	fd = next_number();
	must(fd > ours);
	/* The number is the same file's; to close it closes nothing of ours. */
	must(close(ours) == 0);
	return unused;
}

static void copies_will_do(void)
{
	if (sandbox_refuses(SYS_close_range, ENOSYS) != 0)
		return;
	in_another(leave_with_copies, NULL);
	must(is_open(ours));
	must(next_number() == ours + 1);
}

static void *try_to_leave(void *unused)
{
	int fd;

	errno = 17;
	must(wefti_os_descriptors_apart() == -EPERM);
	must(errno == 17);
	must(is_open(ours));
	fd = open("/dev/null", O_RDONLY);
	must(fd == ours + 1);
	return unused;
}

static void nothing_will_do(void)
{
	if (sandbox_refuses(SYS_unshare, EPERM) != 0)
		return;
	must(sandbox_refuses(SYS_close_range, ENOSYS) == 0);
	in_another(try_to_leave, NULL);
	must(is_open(ours + 1));	/* it was opened in our table */
}

static void where_the_kernel_refuses_it_is_said(void)
{
	ours = open("/dev/null", O_RDONLY);
	child_is_well(copies_will_do);
	child_is_well(nothing_will_do);
	close(ours);
}

static const struct test_case cases[] = {
	TEST(what_it_opens_and_what_we_have_are_apart),
	TEST(a_low_limit_leaves_room_all_the_same),
	TEST(a_librarys_pipe_has_high_numbers),
	TEST(where_the_kernel_refuses_it_is_said),
};

TEST_MAIN("os/apart", cases)
