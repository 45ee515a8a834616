/* SPDX-License-Identifier: MIT */
/* test_epoll.c - os/epoll: a change is told once, a wake until it is taken */
#include "os/call/epoll.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "forked.h"
#include "os/call/clock.h"
#include "sandbox.h"

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2	441
#endif

#define HIGH	60	/* from where the numbers are the runtime's */

static int ep, ends[2];
static struct wefti_os_event event[WEFTI_OS_EVENTS];

static void begin(void)
{
	ep = wefti_os_epoll_open();
	CU_ASSERT_FATAL(ep >= 0);
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
}

static void end(void)
{
	close(ep);
	close(ends[0]);
	close(ends[1]);
}

/* One event, and it is that; 0 for ready: none. */
static int gives(uint64_t data, uint32_t ready)
{
	int n = wefti_os_epoll_wait(ep, event, 0);

	if (ready == 0 ? n == 0 : n == 1 && event[0].data == data &&
				  event[0].ready == ready)
		return 1;
	printf("    %d events, the first %llx of %llx; expected %x of %llx\n",
	       n, n > 0 ? (unsigned long long)event[0].ready : 0,
	       n > 0 ? (unsigned long long)event[0].data : 0, ready,
	       (unsigned long long)data);
	return 0;
}

static void a_change_is_told_once(void)
{
	begin();
	CU_ASSERT_EQUAL(wefti_os_epoll_add(ep, ends[0], UINT64_MAX - 1), 0);
	CU_ASSERT_TRUE(gives(0, 0));
	CU_ASSERT_EQUAL(write(ends[1], "a", 1), 1);
	CU_ASSERT_TRUE(gives(UINT64_MAX - 1, WEFTI_OS_READABLE));
	CU_ASSERT_TRUE(gives(0, 0));
	CU_ASSERT_EQUAL(write(ends[1], "b", 1), 1);
	CU_ASSERT_TRUE(gives(UINT64_MAX - 1, WEFTI_OS_READABLE));
	/* Again: it still is. */
	CU_ASSERT_EQUAL(wefti_os_epoll_again(ep, ends[0], 7), 0);
	CU_ASSERT_TRUE(gives(7, WEFTI_OS_READABLE));
	CU_ASSERT_TRUE(gives(0, 0));
	wefti_os_epoll_remove(ep, ends[0]);
	CU_ASSERT_EQUAL(write(ends[1], "c", 1), 1);
	CU_ASSERT_TRUE(gives(0, 0));
	CU_ASSERT_EQUAL(wefti_os_epoll_add(ep, ends[0], 8), 0);
	CU_ASSERT_TRUE(gives(8, WEFTI_OS_READABLE));
	end();
}

static void the_end_and_an_error_are_readiness(void)
{
	int pair[2];

	begin();
	CU_ASSERT_EQUAL(wefti_os_epoll_add(ep, ends[1], 1), 0);
	CU_ASSERT_TRUE(gives(1, WEFTI_OS_WRITABLE));
	close(ends[0]);
	CU_ASSERT_TRUE(gives(1, WEFTI_OS_READABLE | WEFTI_OS_WRITABLE));
	end();

	begin();
	CU_ASSERT_EQUAL(wefti_os_epoll_add(ep, ends[0], 2), 0);
	close(ends[1]);
	CU_ASSERT_TRUE(gives(2, WEFTI_OS_READABLE | WEFTI_OS_WRITABLE));
	end();

	begin();
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	CU_ASSERT_EQUAL(wefti_os_epoll_add(ep, pair[0], 3), 0);
	CU_ASSERT_TRUE(gives(3, WEFTI_OS_WRITABLE));
	CU_ASSERT_EQUAL(shutdown(pair[1], SHUT_WR), 0);
	CU_ASSERT_TRUE(gives(3, WEFTI_OS_READABLE | WEFTI_OS_WRITABLE));
	close(pair[0]);
	close(pair[1]);
	end();
}

static void wrong_use_is_an_error(void)
{
	int file = open("/proc/self/exe", O_RDONLY);

	begin();
	CU_ASSERT_EQUAL(wefti_os_epoll_add(ep, file, 0), -EPERM);
	CU_ASSERT_EQUAL(wefti_os_epoll_again(ep, ends[0], 0), -ENOENT);
	wefti_os_epoll_remove(ep, ends[0]);
	CU_ASSERT_EQUAL(wefti_os_epoll_add(ep, ends[0], 0), 0);
	CU_ASSERT_EQUAL(wefti_os_epoll_add(ep, ends[0], 0), -EEXIST);
	close(file);
	CU_ASSERT_EQUAL(wefti_os_epoll_add(ep, file, 0), -EBADF);
	CU_ASSERT_EQUAL(wefti_os_epoll_again(ep, file, 0), -EBADF);
	wefti_os_epoll_remove(ep, file);
	CU_ASSERT_EQUAL(wefti_os_epoll_add(ep, -1, 0), -EBADF);
	CU_ASSERT_EQUAL(wefti_os_epoll_add(-1, ends[0], 0), -EBADF);
	CU_ASSERT_EQUAL(wefti_os_eventfd_open(-1, 0), -EBADF);
	end();
}

static void what_does_not_fit_comes_next_time(void)
{
	int pipes[WEFTI_OS_EVENTS + 5][2], n;
	uint64_t seen = 0;

	begin();
	for (uint64_t i = 0; i < WEFTI_OS_EVENTS + 5; i++) {
		CU_ASSERT_EQUAL_FATAL(pipe(pipes[i]), 0);
		CU_ASSERT_EQUAL(write(pipes[i][1], "", 1), 1);
		CU_ASSERT_EQUAL(wefti_os_epoll_add(ep, pipes[i][0], i), 0);
	}
	n = wefti_os_epoll_wait(ep, event, INT64_MAX);
	CU_ASSERT_EQUAL(n, WEFTI_OS_EVENTS);
	for (int i = 0; i < n; i++)
		seen |= (uint64_t)1 << event[i].data;
	n = wefti_os_epoll_wait(ep, event, INT64_MAX);
	CU_ASSERT_EQUAL(n, 5);
	for (int i = 0; i < n; i++)
		seen |= (uint64_t)1 << event[i].data;
	CU_ASSERT_EQUAL(seen, ((uint64_t)1 << (WEFTI_OS_EVENTS + 5)) - 1);
	for (size_t i = 0; i < WEFTI_OS_EVENTS + 5; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
	end();
}

static void a_wake_lasts_until_it_is_taken(void)
{
	int wake;

	begin();
	wake = wefti_os_eventfd_open(ep, 99);
	CU_ASSERT_FATAL(wake >= 0);
	CU_ASSERT_TRUE(gives(0, 0));
	wefti_os_eventfd_take(wake);		/* does not wait */
	wefti_os_eventfd_post(wake);
	wefti_os_eventfd_post(wake);
	for (int i = 0; i < 3; i++)
		CU_ASSERT_TRUE(gives(99, WEFTI_OS_READABLE));
	wefti_os_eventfd_take(wake);
	CU_ASSERT_TRUE(gives(0, 0));
	wefti_os_eventfd_post(wake);
	CU_ASSERT_TRUE(gives(99, WEFTI_OS_READABLE));
	close(wake);
	CU_ASSERT_TRUE(gives(0, 0));
	end();
}

/* More posts than the kernel can count wait for nobody. */
static void a_wake_that_is_full_is_a_wake(void)
{
	uint64_t most = UINT64_MAX - 1;
	int wake;

	begin();
	wake = wefti_os_eventfd_open(ep, 1);
	CU_ASSERT_EQUAL(write(wake, &most, sizeof(most)), sizeof(most));
	wefti_os_eventfd_post(wake);
	CU_ASSERT_TRUE(gives(1, WEFTI_OS_READABLE));
	wefti_os_eventfd_take(wake);
	CU_ASSERT_TRUE(gives(0, 0));
	close(wake);
	end();
}

static int lowest_number(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

static void numbers_are_high_and_closed_by_exec(void)
{
	int before = lowest_number(), wake;

	begin();
	wake = wefti_os_eventfd_open(ep, 0);
	CU_ASSERT_TRUE(ep >= HIGH && wake >= HIGH);
	CU_ASSERT_EQUAL(fcntl(ep, F_GETFD), FD_CLOEXEC);
	CU_ASSERT_EQUAL(fcntl(wake, F_GETFD), FD_CLOEXEC);
	CU_ASSERT_EQUAL(ends[0], before);
	close(wake);
	end();
}

static void limit_numbers(int most)
{
	struct rlimit limit = { (rlim_t)most, (rlim_t)most };

	must(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static void where_few_are_left(void)
{
	int next = lowest_number(), wake;

	limit_numbers(next + 2);
	ep = wefti_os_epoll_open();
	must(ep == next);
	wake = wefti_os_eventfd_open(ep, 5);
	must(wake == next + 1);
	must(fcntl(wake, F_GETFD) == FD_CLOEXEC);
	wefti_os_eventfd_post(wake);
	must(gives(5, WEFTI_OS_READABLE));
	must(wefti_os_eventfd_open(ep, 5) == -EMFILE);
	must(wefti_os_epoll_open() == -EMFILE);
	close(wake);
	/* One that could be made and not watched is closed again. */
	must(wefti_os_eventfd_open(STDERR_FILENO, 5) == -EINVAL);
	must(lowest_number() == next + 1);
}

static void a_low_limit_is_no_error_until_it_is_reached(void)
{
	child_is_well(where_few_are_left);
}

static void wait_until_times(void)
{
	int64_t now = wefti_os_now_ns();

	must(wefti_os_epoll_wait(ep, event, 0) == 0);
	must(wefti_os_epoll_wait(ep, event, 1) == 0);
	must(wefti_os_epoll_wait(ep, event, now - 1) == 0);
	must(wefti_os_epoll_wait(ep, event, now + 2500000) == 0);
	must(wefti_os_now_ns() >= now + 2500000);
	must(write(ends[1], "", 1) == 1);
	must(wefti_os_epoll_add(ep, ends[0], 3) == 0);
	must(wefti_os_epoll_wait(ep, event, INT64_MAX) == 1);
	must(wefti_os_epoll_again(ep, ends[0], 4) == 0);
	must(wefti_os_epoll_wait(ep, event, INT64_MAX - 1) == 1);
	must(event[0].data == 4);
	wefti_os_epoll_remove(ep, ends[0]);	/* the parent's too */
}

/* As before Linux 5.11, and under filters that were made before it. */
static void wait_in_milliseconds(void)
{
	if (sandbox_refuses(SYS_epoll_pwait2, ENOSYS) == 0)
		wait_until_times();
}

static void wait_under_an_old_filter(void)
{
	if (sandbox_refuses(SYS_epoll_pwait2, EPERM) == 0)
		wait_until_times();
}

#ifdef SYS_epoll_wait
static void wait_by_the_oldest_call(void)
{
	if (sandbox_refuses(SYS_epoll_pwait2, EACCES) == 0 &&
	    sandbox_refuses(SYS_epoll_pwait, EPERM) == 0)
		wait_until_times();
}
#endif

static void a_wait_lasts_until_its_deadline(void)
{
	begin();
	child_is_well(wait_until_times);
	child_is_well(wait_in_milliseconds);
	child_is_well(wait_under_an_old_filter);
#ifdef SYS_epoll_wait
	child_is_well(wait_by_the_oldest_call);
#endif
	end();
}

/* The kernel refuses a file itself; a filter refuses all of them. */
static void tell_files_from_filters(void)
{
	int file = open("/proc/self/exe", O_RDONLY);

	CU_ASSERT_EQUAL(wefti_os_epoll_add(ep, file, 1), -EPERM);
	if (sandbox_refuses(SYS_epoll_ctl, EPERM) != 0)
		return;
	CU_ASSERT_EQUAL(wefti_os_epoll_add(ep, ends[0], 1), -ENOSYS);
	CU_ASSERT_EQUAL(wefti_os_epoll_again(ep, file, 1), -ENOSYS);
	CU_ASSERT_EQUAL(wefti_os_eventfd_open(ep, 1), -ENOSYS);
}

static void make_neither(void)
{
	if (sandbox_refuses(SYS_epoll_create1, EPERM) != 0 ||
	    sandbox_refuses(SYS_eventfd2, EACCES) != 0)
		return;
	CU_ASSERT_EQUAL(wefti_os_epoll_open(), -ENOSYS);
	CU_ASSERT_EQUAL(wefti_os_eventfd_make(), -ENOSYS);
}

static void what_a_filter_refuses_is_not_there(void)
{
	begin();
	child_is_well(tell_files_from_filters);
	child_is_well(make_neither);
	end();
}

static volatile int handled;

static void on_alarm(int number)
{
	(void)number;
	handled = 1;
}

static void a_handler_ends_a_wait_without_events(void)
{
	static const struct itimerval often = { { 0, 10000 }, { 0, 10000 } };
	static const struct itimerval never;
	struct sigaction act = { .sa_flags = SA_RESTART }, old;

	begin();
	act.sa_handler = on_alarm;
	sigaction(SIGALRM, &act, &old);
	handled = 0;
	setitimer(ITIMER_REAL, &often, NULL);
	CU_ASSERT_EQUAL(wefti_os_epoll_wait(ep, event, INT64_MAX), 0);
	setitimer(ITIMER_REAL, &never, NULL);
	CU_ASSERT_EQUAL(handled, 1);
	sigaction(SIGALRM, &old, NULL);
	end();
}

static void wait_on_what_is_closed(void)
{
	close(ep);
	(void)wefti_os_epoll_wait(ep, event, INT64_MAX);
}

static void what_is_no_epoll_is_the_end(void)
{
	int status;

	begin();
	status = in_child(wait_on_what_is_closed);
	CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, "weft: epoll_pwait: unexpected "
					    "result -9\n"));
	end();
}

static const struct test_case cases[] = {
	TEST(a_change_is_told_once),
	TEST(the_end_and_an_error_are_readiness),
	TEST(wrong_use_is_an_error),
	TEST(what_does_not_fit_comes_next_time),
	TEST(a_wake_lasts_until_it_is_taken),
	TEST(a_wake_that_is_full_is_a_wake),
	TEST(numbers_are_high_and_closed_by_exec),
	TEST(a_low_limit_is_no_error_until_it_is_reached),
	TEST(a_wait_lasts_until_its_deadline),
	TEST(what_a_filter_refuses_is_not_there),
	TEST(a_handler_ends_a_wait_without_events),
	TEST(what_is_no_epoll_is_the_end),
};

TEST_MAIN("os/epoll", cases)
