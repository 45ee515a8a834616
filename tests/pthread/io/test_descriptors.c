/* SPDX-License-Identifier: MIT */
/* test_descriptors.c - programs that close all descriptors, also those that they
 * do not know of, while threads wait for some */
#include "compare.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "../../support/newer.h"

#define ROUNDS	200
#define LOW	7		/* the first that is closed */
#define MOST	1100		/* all that a program may have here */

/* Two pipes, at numbers that nobody closes: 3 to 4, 5 to 6. */
static void make_pipes(void)
{
	int fd[4];

	if (pipe(fd) || pipe(fd + 2))
		abort();
	for (int i = 0; i < 4; i++)
		fd[i] = fcntl(fd[i], F_DUPFD_CLOEXEC, 100);
	for (int i = 0; i < 4; i++)
		if (dup2(fd[i], 3 + i) < 0)
			abort();
}

static void *answer(void *arg)
{
	char c;

	while (read(3, &c, 1) == 1 && write(6, &c, 1) == 1)
		;
	return arg;
}

static int talk(void)
{
	int sum = 0;
	char c;

	for (int i = 0; i < ROUNDS; i++) {
		if (write(4, "x", 1) != 1 || read(5, &c, 1) != 1)
			break;
		sum += c == 'x';
	}
	return sum;
}

static void close_by(void (*close_all)(void))
{
	pthread_t t;

	make_pipes();
	t = start(answer, NULL);
	printf("%d\n", talk());
	for (int i = 0; i < 3; i++) {
		close_all();
		printf("%d\n", talk());
	}
	close(4);
	finish(t);
}

static void each_close(void)
{
	for (int fd = LOW; fd < MOST; fd++)
		close(fd);
}

static void each_call(void)
{
	for (int fd = LOW; fd < MOST; fd++)
		syscall(SYS_close, fd);
}

static void each_from(void)
{
	closefrom(LOW);
}

static void each_range(void)
{
	printf("%d ", close_range(LOW, ~0u, 0));
	printf("%d ", close_range(LOW, MOST, 0));
	printf("%d ", close_range(MOST, MOST, 0));
	show_errno("empty", close_range(MOST, LOW, 0));
	show_errno("flags", close_range(MOST, MOST, 1 << 20));
}

static void each_range_call(void)
{
	printf("%ld\n", syscall(SYS_close_range, LOW, ~0u, 0));
}

static void each_dup(void)
{
	for (int fd = LOW; fd < MOST; fd += 2) {
		dup2(2, fd);
		dup3(2, fd + 1, O_CLOEXEC);
	}
	closefrom(LOW);
}

static void threads_wait_while_all_is_closed(void)
{
	close_by(each_close);
}

static void threads_wait_while_the_kernel_is_told_to_close(void)
{
	close_by(each_call);
}

static void threads_wait_while_the_rest_is_closed(void)
{
	close_by(each_from);
}

static void threads_wait_while_ranges_are_closed(void)
{
	close_by(each_range);
}

static void threads_wait_while_the_kernel_is_told_of_ranges(void)
{
	close_by(each_range_call);
}

static void threads_wait_while_all_numbers_are_taken(void)
{
	close_by(each_dup);
}

static void *unshare_by_range(void *arg)
{
	show_errno("unshare", close_range(MOST, ~0u, CLOSE_RANGE_UNSHARE));
	return arg;
}

static void a_thread_has_no_descriptors_of_its_own(void)
{
	finish(start(unshare_by_range, NULL));
}

static const struct compare_case cases[] = {
	COMPARE(threads_wait_while_all_is_closed),
	COMPARE(threads_wait_while_the_kernel_is_told_to_close),
	COMPARE(threads_wait_while_the_rest_is_closed),
	COMPARE(threads_wait_while_ranges_are_closed),
	COMPARE(threads_wait_while_the_kernel_is_told_of_ranges),
	COMPARE(threads_wait_while_all_numbers_are_taken),
	WEFT_ONLY(a_thread_has_no_descriptors_of_its_own, "unshare: EINVAL\n"),
};

COMPARE_MAIN(cases)
