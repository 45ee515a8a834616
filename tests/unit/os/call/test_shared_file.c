/* SPDX-License-Identifier: MIT */
/* test_shared_file.c - os/shared_file: files as memory, locks of the living */
#include "os/call/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdings.h"
#include "lockfree/atomic.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"

static char folder[64], path[128];
static int fd, closed;

static void begin(void)
{
	strcpy(folder, "/tmp/weft-file-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	fd = wefti_os_file_open(path, 0600);
	CU_ASSERT_FATAL(fd >= 0);
	closed = fcntl(fd, F_DUPFD, 200);
	close(closed);
}

static void end(void)
{
	wefti_os_file_close(fd);
	unlink(path);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static void a_file_is_made_only_where_that_is_wanted(void)
{
	char other[160];
	struct stat st;
	mode_t mask = umask(027);
	int again;

	begin();
	snprintf(other, sizeof(other), "%s/other", folder);
	CU_ASSERT_EQUAL(wefti_os_file_open(other, -1), -ENOENT);
	again = wefti_os_file_open(other, 0666);
	CU_ASSERT_TRUE(again >= 0);
	CU_ASSERT_EQUAL(fcntl(again, F_GETFD), FD_CLOEXEC);
	CU_ASSERT_EQUAL(fstat(again, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 07777, 0640);
	wefti_os_file_close(again);
	CU_ASSERT_EQUAL(fcntl(again, F_GETFD), -1);
	again = wefti_os_file_open(other, -1);
	CU_ASSERT_TRUE(again >= 0);
	CU_ASSERT_EQUAL(write(again, "x", 1), 1);
	wefti_os_file_close(again);
	unlink(other);
	end();
	umask(mask);
}

static void what_is_no_regular_file_is_refused_and_closed(void)
{
	char fifo[160], longer[PATH_MAX + 2];
	size_t open_before;

	begin();
	open_before = holdings_entries("/proc/self/fd");
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	CU_ASSERT_EQUAL_FATAL(mkfifo(fifo, 0600), 0);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	CU_ASSERT_EQUAL(wefti_os_file_open(fifo, -1), -EINVAL);
	CU_ASSERT_EQUAL(wefti_os_file_open(fifo, 0600), -EINVAL);
	CU_ASSERT_EQUAL(wefti_os_file_open("/dev/null", -1), -EINVAL);
	CU_ASSERT_EQUAL(wefti_os_file_open(folder, -1), -EISDIR);
	CU_ASSERT_EQUAL(wefti_os_file_open(longer, 0600), -ENAMETOOLONG);
	CU_ASSERT_EQUAL(wefti_os_file_open("", 0600), -ENOENT);
	CU_ASSERT_EQUAL(holdings_entries("/proc/self/fd"), open_before);
	unlink(fifo);
	end();
}

static void sizes_are_set_and_told(void)
{
	uint64_t size = 77;
	char last;

	begin();
	CU_ASSERT_EQUAL(wefti_os_file_size(fd, &size), 0);
	CU_ASSERT_EQUAL(size, 0);
	CU_ASSERT_EQUAL(wefti_os_file_set_size(fd, 10001), 0);
	CU_ASSERT_EQUAL(wefti_os_file_size(fd, &size), 0);
	CU_ASSERT_EQUAL(size, 10001);
	CU_ASSERT_EQUAL(pread(fd, &last, 1, 10000), 1);
	CU_ASSERT_EQUAL(last, 0);
	CU_ASSERT_EQUAL(wefti_os_file_set_size(fd, (uint64_t)1 << 63), -EINVAL);
	CU_ASSERT_EQUAL(wefti_os_file_set_size(closed, 1), -EBADF);
	size = 77;
	CU_ASSERT_EQUAL(wefti_os_file_size(closed, &size), -EBADF);
	CU_ASSERT_EQUAL(size, 77);
	CU_ASSERT_EQUAL(wefti_os_file_size(fd, &size), 0);
	CU_ASSERT_EQUAL(size, 10001);
	end();
}

static void space_is_there_or_it_is_said_why_not(void)
{
	int error, ends[2], only_read;
	struct stat st;

	begin();
	CU_ASSERT_EQUAL(wefti_os_file_set_size(fd, 1 << 20), 0);
	error = wefti_os_file_reserve(fd, 4096, 100000);
	if (error == -EOPNOTSUPP) {
		printf("    not on this file system\n");
	} else {
		CU_ASSERT_EQUAL(error, 0);
		CU_ASSERT_EQUAL(fstat(fd, &st), 0);
		CU_ASSERT_TRUE(st.st_blocks * 512 >= 100000);
		CU_ASSERT_EQUAL(st.st_size, 1 << 20);
		/* Larger than any file may be, and than any disk is. */
		CU_ASSERT_EQUAL(wefti_os_file_reserve(fd, INT64_MAX - 4096,
						      4096), -ENOSPC);
	}
	/* A caller's fault, whatever errno value it has. */
	CU_ASSERT_EQUAL(wefti_os_file_reserve(closed, 0, 1), -EIO);
	CU_ASSERT_EQUAL(wefti_os_file_reserve(fd, 0, 0), -EIO);
	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	CU_ASSERT_EQUAL(wefti_os_file_reserve(ends[1], 0, 1), -EIO);
	only_read = open(path, O_RDONLY);
	CU_ASSERT_EQUAL(wefti_os_file_reserve(only_read, 0, 1), -EIO);
	close(only_read);
	close(ends[0]);
	close(ends[1]);
	end();
}

static void what_one_maps_all_see(void)
{
	char *a, *b, byte;

	begin();
	CU_ASSERT_EQUAL(wefti_os_file_set_size(fd, 8192), 0);
	a = wefti_os_file_map(fd, 8192);
	b = wefti_os_file_map(fd, 4096);
	CU_ASSERT_FATAL(a && b && a != b);
	a[4095] = 'x';
	CU_ASSERT_EQUAL(b[4095], 'x');
	CU_ASSERT_EQUAL(pread(fd, &byte, 1, 4095), 1);
	CU_ASSERT_EQUAL(byte, 'x');
	CU_ASSERT_PTR_NULL(wefti_os_file_map(fd, 0));
	CU_ASSERT_PTR_NULL(wefti_os_file_map(fd, (uint64_t)1 << 60));
	CU_ASSERT_PTR_NULL(wefti_os_file_map(closed, 4096));
	munmap(a, 8192);
	munmap(b, 4096);
	end();
}

static void a_lock_is_of_a_description_and_a_byte(void)
{
	int other, twin;
	uint64_t size;

	begin();
	other = wefti_os_file_open_again(fd);
	twin = dup(fd);
	CU_ASSERT_FATAL(other >= 0);
	CU_ASSERT_EQUAL(fcntl(other, F_GETFD), FD_CLOEXEC);
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(fd, 0), 0);
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(fd, 0), 0);	/* has it */
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(twin, 0), 0);	/* the same */
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(other, 0), -EAGAIN);
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(other, 1), 0);
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(fd, 1), -EAGAIN);
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(other, UINT32_MAX), 0);
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(fd, UINT32_MAX), -EAGAIN);
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(fd, UINT32_MAX - 1), 0);
	wefti_os_file_unlock(other, 0);				/* not its */
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(other, 0), -EAGAIN);
	wefti_os_file_unlock(fd, 0);
	CU_ASSERT_EQUAL(wefti_os_file_lock(other, 0), 0);
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(fd, 0), -EAGAIN);
	/* Closed: all that it had is free; of a twin nothing. */
	wefti_os_file_close(other);
	wefti_os_file_close(twin);
	CU_ASSERT_EQUAL(wefti_os_file_lock(fd, 0), 0);
	other = wefti_os_file_open(path, -1);
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(other, UINT32_MAX), 0);
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(other, UINT32_MAX - 1),
			-EAGAIN);
	CU_ASSERT_EQUAL(wefti_os_file_size(fd, &size), 0);
	CU_ASSERT_EQUAL(size, 0);
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(closed, 0), -EBADF);
	CU_ASSERT_EQUAL(wefti_os_file_lock(closed, 0), -EBADF);
	wefti_os_file_unlock(closed, 0);
	CU_ASSERT_EQUAL(wefti_os_file_open_again(closed), -ENOENT);
	wefti_os_file_close(other);
	end();
}

static void a_file_without_a_name_is_opened_again(void)
{
	int other;

	begin();
	unlink(path);
	other = wefti_os_file_open_again(fd);
	CU_ASSERT_TRUE(other >= 0);
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(fd, 3), 0);
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(other, 3), -EAGAIN);
	wefti_os_file_close(other);
	end();
}

/* --- the owner dies */

static int ready[2], stop[2];

static void hold(int how)
{
	int mine = wefti_os_file_open(path, -1);
	char byte;

	if (wefti_os_file_try_lock(mine, 9) != 0 ||
	    write(ready[1], "", 1) != 1 || read(stop[0], &byte, 1) != 1)
		_exit(1);
	if (how)
		raise(SIGKILL);
	_exit(0);
}

static void an_owner_that_ends_lets_go_however_it_ends(void)
{
	char byte;

	begin();
	for (int how = 0; how < 2; how++) {
		pid_t holder;

		CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
		CU_ASSERT_EQUAL_FATAL(pipe(stop), 0);
		holder = fork();
		if (holder == 0)
			hold(how);
		CU_ASSERT_EQUAL_FATAL(read(ready[0], &byte, 1), 1);
		CU_ASSERT_EQUAL(wefti_os_file_try_lock(fd, 9), -EAGAIN);
		CU_ASSERT_EQUAL(write(stop[1], "", 1), 1);
		CU_ASSERT_EQUAL(wefti_os_file_lock(fd, 9), 0);
		wefti_os_file_unlock(fd, 9);
		CU_ASSERT_EQUAL(waitpid(holder, NULL, 0), holder);
		for (int i = 0; i < 2; i++) {
			close(ready[i]);
			close(stop[i]);
		}
	}
	end();
}

/* --- one that waits, with signals */

static _Atomic int handled, waiter_tid, has_it;

static void on_signal(int number)
{
	(void)number;
	fetch_add_seq_cst(&handled, 1);
}

static void *wait_for_it(void *other)
{
	int error;

	store_seq_cst(&waiter_tid, wefti_os_gettid());
	error = wefti_os_file_lock(*(int *)other, 5);
	store_seq_cst(&has_it, 1);
	return (void *)(intptr_t)error;
}

static void a_signal_does_not_end_the_wait(void)
{
	struct sigaction act = { .sa_handler = on_signal }, old;
	pthread_t waiter;
	void *error;
	int other;

	begin();
	other = wefti_os_file_open_again(fd);
	sigaction(SIGUSR1, &act, &old);
	CU_ASSERT_EQUAL(wefti_os_file_lock(fd, 5), 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&waiter, NULL, wait_for_it,
					     &other), 0);
	while (!load_seq_cst(&waiter_tid))
		wefti_os_yield();
	for (int i = 0; i < 20; i++) {
		int before = load_seq_cst(&handled);

		/* An emulator may not deliver it while it waits. */
		pthread_kill(waiter, SIGUSR1);
		for (int j = 0; j < 100 && load_seq_cst(&handled) == before;
		     j++)
			wefti_os_yield();
		CU_ASSERT_EQUAL(load_seq_cst(&has_it), 0);
	}
	wefti_os_file_unlock(fd, 5);
	pthread_join(waiter, &error);
	CU_ASSERT_PTR_NULL(error);
	CU_ASSERT_EQUAL(wefti_os_file_try_lock(fd, 5), -EAGAIN);
	sigaction(SIGUSR1, &old, NULL);
	wefti_os_file_close(other);
	end();
}

static const struct test_case cases[] = {
	TEST(a_file_is_made_only_where_that_is_wanted),
	TEST(what_is_no_regular_file_is_refused_and_closed),
	TEST(sizes_are_set_and_told),
	TEST(space_is_there_or_it_is_said_why_not),
	TEST(what_one_maps_all_see),
	TEST(a_lock_is_of_a_description_and_a_byte),
	TEST(a_file_without_a_name_is_opened_again),
	TEST(an_owner_that_ends_lets_go_however_it_ends),
	TEST(a_signal_does_not_end_the_wait),
};

TEST_MAIN("os/shared_file", cases)
