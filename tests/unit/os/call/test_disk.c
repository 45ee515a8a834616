/* SPDX-License-Identifier: MIT */
/* test_disk.c - os/disk: the kernel does calls on its own, and says when */
#include "os/call/disk.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

#define PAGE	4096
#define MOST	4

static uint64_t queue;
static int fd, wake;

/* Returns 0 where there is nothing to test. */
static int begin(void)
{
	char path[] = "/tmp/weft-test-disk-XXXXXX";
	int error = wefti_os_disk_open(MOST, &queue);

	if (error == -ENOSYS) {
		printf("(no io_setup() here) ");
		return 0;
	}
	CU_ASSERT_EQUAL_FATAL(error, 0);
	CU_ASSERT_NOT_EQUAL(queue, 0);
	fd = mkstemp(path);
	wake = eventfd(0, EFD_NONBLOCK);
	CU_ASSERT_FATAL(fd >= 0 && wake >= 0 && unlink(path) == 0);
	return 1;
}

static void end(void)
{
	wefti_os_disk_close(queue);
	close(fd);
	close(wake);
}

static int submit(enum wefti_os_disk_kind kind, int of, const struct iovec *iov,
		  off_t at, uint64_t data)
{
	const struct wefti_os_disk_call call = { kind, of, iov, 1, at };

	return wefti_os_disk_submit(queue, &call, wake, data);
}

/* Until that one is done, which is the only one. */
static int64_t result_of(uint64_t data)
{
	struct pollfd p = { .fd = wake, .events = POLLIN };
	struct wefti_os_disk_done done;
	uint64_t count;

	CU_ASSERT_EQUAL(poll(&p, 1, -1), 1);
	CU_ASSERT_EQUAL(read(wake, &count, sizeof(count)), sizeof(count));
	CU_ASSERT_EQUAL(count, 1);
	CU_ASSERT_EQUAL_FATAL(wefti_os_disk_take(queue, &done, 1), 1);
	CU_ASSERT_EQUAL(done.data, data);
	CU_ASSERT_EQUAL(wefti_os_disk_take(queue, &done, 1), 0);
	return done.result;
}

static void each_kind_is_done(void)
{
	char out[PAGE], in[PAGE] = "";
	const struct iovec from = { out, PAGE }, to = { in, PAGE };
	struct stat s;

	if (!begin())
		return;
	memset(out, 'w', PAGE);
	CU_ASSERT_EQUAL(submit(WEFTI_OS_DISK_WRITE, fd, &from, 100, 1), 0);
	CU_ASSERT_EQUAL(result_of(1), PAGE);
	CU_ASSERT_EQUAL(fstat(fd, &s), 0);
	CU_ASSERT_EQUAL(s.st_size, 100 + PAGE);
	CU_ASSERT_EQUAL(submit(WEFTI_OS_DISK_SYNC, fd, NULL, 0, UINT64_MAX), 0);
	CU_ASSERT_EQUAL(result_of(UINT64_MAX), 0);
	CU_ASSERT_EQUAL(submit(WEFTI_OS_DISK_SYNC_DATA, fd, NULL, 0, 3), 0);
	CU_ASSERT_EQUAL(result_of(3), 0);
	CU_ASSERT_EQUAL(submit(WEFTI_OS_DISK_READ, fd, &to, 100, 4), 0);
	CU_ASSERT_EQUAL(result_of(4), PAGE);
	CU_ASSERT_EQUAL(memcmp(in, out, PAGE), 0);
	CU_ASSERT_EQUAL(submit(WEFTI_OS_DISK_READ, fd, &to, 200, 5), 0);
	CU_ASSERT_EQUAL(result_of(5), PAGE - 100);	/* the file ends */
	CU_ASSERT_EQUAL(submit(WEFTI_OS_DISK_READ, fd, &to, 1 << 20, 6), 0);
	CU_ASSERT_EQUAL(result_of(6), 0);
	CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_CUR), 0);
	end();
}

static void what_is_not_begun_is_not_given_back(void)
{
	struct wefti_os_disk_done done;
	int ends[2];

	if (!begin())
		return;
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	CU_ASSERT_EQUAL(submit(WEFTI_OS_DISK_SYNC, -1, NULL, 0, 1), -EBADF);
	CU_ASSERT_EQUAL(submit(WEFTI_OS_DISK_SYNC, ends[0], NULL, 0, 2),
			-EINVAL);
	CU_ASSERT_EQUAL(submit(WEFTI_OS_DISK_READ, fd,
			       &(struct iovec){ NULL, PAGE }, -5, 3), -EINVAL);
	CU_ASSERT_EQUAL(wefti_os_disk_take(queue, &done, 1), 0);
	close(ends[0]);
	close(ends[1]);
	end();
}

/* The kernel rounds up how many there may be; it has an end. */
static void a_full_queue_takes_no_more(void)
{
	struct wefti_os_disk_done done[7];
	int begun = 0, error, taken = 0, n;
	uint64_t seen = 0;

	if (!begin())
		return;
	do {
		error = submit(WEFTI_OS_DISK_SYNC, fd, NULL, 0,
			       (uint64_t)begun);
		begun += error == 0;
	} while (error == 0 && begun < 1 << 20);
	CU_ASSERT_EQUAL(error, -EAGAIN);
	CU_ASSERT_TRUE(begun >= MOST);
	while (taken < begun) {
		n = wefti_os_disk_take(queue, done, 7);
		CU_ASSERT_FATAL(n >= 0 && n <= 7);
		for (int i = 0; i < n; i++) {
			CU_ASSERT_EQUAL(done[i].result, 0);
			seen += done[i].data;
		}
		taken += n;
	}
	/* Each of them once, in whatever order. */
	CU_ASSERT_EQUAL(taken, begun);
	CU_ASSERT_EQUAL(seen, (uint64_t)begun * (uint64_t)(begun - 1) / 2);
	end();
}

static const struct test_case cases[] = {
	TEST(each_kind_is_done),
	TEST(what_is_not_begun_is_not_given_back),
	TEST(a_full_queue_takes_no_more),
};

TEST_MAIN("os/disk", cases)
