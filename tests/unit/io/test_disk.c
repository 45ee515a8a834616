/* SPDX-License-Identifier: MIT */
/*
 * test_disk.c - io/disk: many threads wait for a disk at once
 *
 * Where the kernel has no io_setup() (emulators) each call has to say so, and what
 * is above it works all the same.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/disk.h"
#include "lockfree/atomic.h"
#include "os/call/descriptor.h"
#include "threads.h"

#define THREADS		24
#define PAGE		4096
#define COLD_BYTES	(THREADS * 64 * PAGE)

static int has_queue;
static int fd;

/* O_DIRECT where the file system knows it; else the kernel does it at once. */
static void begin(void)
{
	char path[] = "/tmp/weft-test-disk-XXXXXX";
	uint64_t queue;

	fd = mkostemp(path, O_DIRECT);
	if (fd < 0) {
		memset(strchr(path, '\0') - 6, 'X', 6);
		fd = mkstemp(path);
	}
	must(fd >= 0);
	must(unlink(path) == 0);
	has_queue = wefti_os_disk_open(1, &queue) == 0;
	if (has_queue)
		wefti_os_disk_close(queue);
	else
		printf("(no io_setup() here) ");
	runtime_begin();
}

static void end(void)
{
	CU_ASSERT_FALSE(wefti_disk_any_waits());
	runtime_end();
	must(close(fd) == 0);
}

static ssize_t disk(enum wefti_os_disk_kind kind, void *page, off_t at)
{
	const struct iovec iov = { page, PAGE };
	const struct wefti_os_disk_call call = { kind, fd, &iov, 1, at };

	return wefti_disk_do(&call);
}

/* Returns what is to be said of a call that the kernel was given. */
static ssize_t given(ssize_t result)
{
	return has_queue ? result : -ENOTSUP;
}

static void fill(unsigned char *page, size_t n)
{
	for (size_t i = 0; i < PAGE; i++)
		page[i] = (unsigned char)(n * 7 + i % 251);
}

static int is_filled(const unsigned char *page, size_t n)
{
	for (size_t i = 0; i < PAGE; i++)
		if (page[i] != (unsigned char)(n * 7 + i % 251))
			return 0;
	return 1;
}

/* Its own pages of the file, through the kernel's queue. */
static void *move_pages(void *arg)
{
	size_t first = *(size_t *)arg * 1000, rounds = test_scaled(40);
	unsigned char *page = aligned_alloc(PAGE, PAGE);

	must(page != NULL);
	for (size_t n = first; n < first + rounds; n++) {
		off_t at = (off_t)n * PAGE;

		fill(page, n);
		must(disk(WEFTI_OS_DISK_WRITE, page, at) == given(PAGE));
		must(disk(n % 2 ? WEFTI_OS_DISK_SYNC : WEFTI_OS_DISK_SYNC_DATA,
			  NULL, 0) == given(0));
		memset(page, 0, PAGE);
		must(disk(WEFTI_OS_DISK_READ, page, at) == given(PAGE));
		must(!has_queue || is_filled(page, n));
	}
	free(page);
	return NULL;
}

static void run_many(unsigned flags, void *(*fn)(void *arg))
{
	size_t number[THREADS];
	uint64_t id[THREADS];

	for (size_t i = 0; i < THREADS; i++) {
		number[i] = i;
		id[i] = spawn_with(flags, fn, &number[i]);
	}
	for (size_t i = 0; i < THREADS; i++)
		join(id[i]);
}

static void each_gets_the_end_of_its_own_call(void)
{
	begin();
	run_many(0, move_pages);
	run_many(WEFT_LIGHT, move_pages);
	end();
}

static _Atomic int goes_on;

static void *yield_on(void *unused)
{
	while (load_relaxed(&goes_on))
		weft_yield();
	return unused;
}

static void *compute_on(void *unused)
{
	while (load_relaxed(&goes_on))
		;
	return unused;
}

/* No VCPU sleeps in the poller then. */
static void an_end_comes_while_others(void *(*go_on)(void *))
{
	uint64_t id[8];

	begin();
	store_relaxed(&goes_on, 1);
	for (int i = 0; i < 8; i++)
		id[i] = spawn(go_on, NULL);
	for (size_t i = 0; i < test_scaled(30); i++)
		CU_ASSERT_EQUAL(disk(WEFTI_OS_DISK_SYNC, NULL, 0), given(0));
	store_relaxed(&goes_on, 0);
	for (int i = 0; i < 8; i++)
		join(id[i]);
	end();
}

static void an_end_comes_while_others_yield(void)
{
	an_end_comes_while_others(yield_on);
}

static void an_end_comes_while_others_compute(void)
{
	an_end_comes_while_others(compute_on);
}

static void *call_outside(void *unused)
{
	must(disk(WEFTI_OS_DISK_SYNC, NULL, 0) == -ENOTSUP);
	return unused;
}

/* The caller does it, and gets the file's own error. */
static void what_cannot_be_given_is_left_to_the_caller(void)
{
	struct wefti_os_disk_call call = { .kind = WEFTI_OS_DISK_SYNC };
	pthread_t outside;
	int end_of[2];

	call_outside(NULL);	/* there is no runtime */
	begin();
	must(pipe(end_of) == 0);
	for (int i = 0; i < 100; i++) {
		call.fd = -1;
		CU_ASSERT_EQUAL(wefti_disk_do(&call), -ENOTSUP);
		call.fd = end_of[1];
		CU_ASSERT_EQUAL(wefti_disk_do(&call), -ENOTSUP);
	}
	CU_ASSERT_FALSE(wefti_disk_any_waits());
	must(close(end_of[0]) == 0 && close(end_of[1]) == 0);
	must(pthread_create(&outside, NULL, call_outside, NULL) == 0);
	pthread_join(outside, NULL);
	end();
}

static _Atomic int begun;

static void *sync_until_cancelled(void *unused)
{
	for (int i = 0; i < 10 || !weft_is_cancelled(); i++) {
		must(disk(WEFTI_OS_DISK_SYNC, NULL, 0) == given(0));
		store_relaxed(&begun, 1);
	}
	return unused;
}

static void a_cancellation_does_not_end_it(void)
{
	uint64_t id;

	begin();
	store_relaxed(&begun, 0);
	id = spawn(sync_until_cancelled, NULL);
	while (!load_relaxed(&begun))
		rest();
	CU_ASSERT_EQUAL(weft_cancel(id), 0);
	join(id);
	end();
}

static void the_runtime_stops_and_starts(void)
{
	for (int i = 0; i < 3; i++) {
		begin();
		CU_ASSERT_EQUAL(disk(WEFTI_OS_DISK_SYNC, NULL, 0), given(0));
		end();
	}
}

static void child_syncs(void)
{
	must(disk(WEFTI_OS_DISK_SYNC, NULL, 0) == -ENOTSUP);
	must(!wefti_disk_any_waits());
#ifndef TEST_THREADS_MOST	/* ThreadSanitizer knows its parent's, by their ids */
	must(weft_start(NULL) == 0);
	must(disk(WEFTI_OS_DISK_SYNC, NULL, 0) == given(0));
	must(weft_stop() == 0);
#endif
	must(weft_fsync(fd) == 0);
	_exit(7);
}

static void *sync_on(void *unused)
{
	while (load_relaxed(&goes_on))
		must(disk(WEFTI_OS_DISK_SYNC, NULL, 0) == given(0));
	return unused;
}

/* Calls of others are under way; the child has none of them. */
static void the_child_of_a_fork_has_a_queue_of_its_own(void)
{
	uint64_t id[4];

	begin();
	store_relaxed(&goes_on, 1);
	for (int i = 0; i < 4; i++)
		id[i] = spawn(sync_on, NULL);
	for (size_t i = 0; i < test_scaled(10); i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0)
			child_syncs();
		CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
		CU_ASSERT_EQUAL(status, 7 << 8);
	}
	store_relaxed(&goes_on, 0);
	for (int i = 0; i < 4; i++)
		join(id[i]);
	end();
}

static char pattern(size_t at)
{
	return (char)(at * 31 % 253);
}

static void *read_cold(void *arg)
{
	size_t part = COLD_BYTES / THREADS, from = *(size_t *)arg * part;
	char *in = malloc(COLD_BYTES);

	must(in != NULL);
	for (size_t i = 0; i < test_scaled(10); i++) {
		(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		must(weft_pread(fd, in, part, (off_t)from) == (ssize_t)part);
		for (size_t n = 0; n < part; n++)
			must(in[n] == pattern(from + n));
		must(weft_pread(fd, in, COLD_BYTES, COLD_BYTES - 5) == 5);
		must(weft_pread(fd, in, 1, COLD_BYTES) == 0);
	}
	free(in);
	return NULL;
}

static void what_is_not_in_memory_is_read(void)
{
	char path[] = "/tmp/weft-test-disk-XXXXXX", *out = malloc(COLD_BYTES);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	for (size_t i = 0; i < COLD_BYTES; i++)
		out[i] = pattern(i);
	begin();
	must(close(fd) == 0);
	fd = mkstemp(path);
	must(fd >= 0 && unlink(path) == 0);
	must(weft_write(fd, out, COLD_BYTES) == COLD_BYTES);
	must(weft_fsync(fd) == 0);
	run_many(0, read_cold);
	end();
	free(out);
}

/* A pipe with nothing in it is never in memory. */
static void a_reader_that_goes_on_has_limited_patience(void)
{
	char byte = 0;
	const struct iovec iov = { &byte, 1 };
	int end_of[2];

	begin();
	must(pipe(end_of) == 0);
	if (wefti_os_fd_readv_at_once(end_of[0], &iov, 1, -1) == -EAGAIN) {
		CU_ASSERT_EQUAL(wefti_disk_read_on(end_of[0], &iov, 1, -1),
				-EAGAIN);
		must(write(end_of[1], "x", 1) == 1);
		CU_ASSERT_EQUAL(wefti_disk_read_on(end_of[0], &iov, 1, -1), 1);
		CU_ASSERT_EQUAL(byte, 'x');
	} else {
		printf("(no RWF_NOWAIT here) ");
	}
	must(close(end_of[0]) == 0 && close(end_of[1]) == 0);
	end();
}

static void *sync_in_a_crowd(void *unused)
{
	for (size_t i = 0; i < test_scaled(20); i++)
		must(weft_fsync(fd) == 0);
	return unused;
}

/* Few in regions, the others by the queue. */
static void many_sync(void)
{
	begin();
	run_many(0, sync_in_a_crowd);
	CU_ASSERT_EQUAL(weft_fsync(-1), -EBADF);
	end();
}

static const struct test_case cases[] = {
	TEST(each_gets_the_end_of_its_own_call),
	TEST(an_end_comes_while_others_yield),
	TEST(an_end_comes_while_others_compute),
	TEST(what_cannot_be_given_is_left_to_the_caller),
	TEST(a_cancellation_does_not_end_it),
	TEST(the_runtime_stops_and_starts),
	TEST(the_child_of_a_fork_has_a_queue_of_its_own),
	TEST(what_is_not_in_memory_is_read),
	TEST(a_reader_that_goes_on_has_limited_patience),
	TEST(many_sync),
};

TEST_MAIN("io/disk", cases)
