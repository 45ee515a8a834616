/* SPDX-License-Identifier: MIT */
/* test_file.c - io/file, io/read: files are read and written whole */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "loop.h"

#define BYTES	(3 << 20)

static int scratch(char path[64])
{
	strcpy(path, "/tmp/weft-test-file-XXXXXX");
	return mkstemp(path);
}

static char *pattern(size_t bytes)
{
	char *p = malloc(bytes);

	must(p != NULL);
	for (size_t i = 0; i < bytes; i++)
		p[i] = (char)(i * 31 % 253);
	return p;
}

static void a_file_is_written_and_read_in_one_call(void)
{
	char path[64], *out = pattern(BYTES), *in = malloc(BYTES);
	int plain, fd;

	CU_ASSERT_PTR_NOT_NULL_FATAL(in);
	plain = scratch(path);
	CU_ASSERT_FATAL(plain >= 0);
	runtime_begin();
	CU_ASSERT_EQUAL(weft_write(plain, out, BYTES), BYTES);
	CU_ASSERT_EQUAL(weft_fsync(plain), 0);
	/* Out of memory, as far as the kernel takes the hint. */
	(void)posix_fadvise(plain, 0, 0, POSIX_FADV_DONTNEED);
	fd = weft_open(path, O_RDWR, 0);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(weft_read(fd, in, BYTES), BYTES);
	CU_ASSERT_EQUAL(memcmp(in, out, BYTES), 0);
	CU_ASSERT_EQUAL(weft_read(fd, in, BYTES), 0);
	memset(in, 0, BYTES);
	CU_ASSERT_EQUAL(weft_pread(fd, in, BYTES, 1000), BYTES - 1000);
	CU_ASSERT_EQUAL(memcmp(in, out + 1000, BYTES - 1000), 0);
	CU_ASSERT_EQUAL(weft_pread(fd, in, 10, -1), -EINVAL);
	CU_ASSERT_EQUAL(weft_pwrite(fd, out, 100, BYTES), 100);
	CU_ASSERT_EQUAL(weft_pread(fd, in, 200, BYTES), 100);
	CU_ASSERT_EQUAL(weft_read(plain, in, BYTES), 100);
	CU_ASSERT_EQUAL(weft_open("/nonexistent/file", O_RDONLY, 0), -ENOENT);
	CU_ASSERT_EQUAL(weft_close(fd), 0);
	runtime_end();
	close(plain);
	unlink(path);
	free(in);
	free(out);
}

struct receiver {
	int fd;
	char *buf;
	size_t bytes;
};

static void *receive(void *arg)
{
	struct receiver *r = arg;
	ssize_t n = weft_recv(r->fd, r->buf, r->bytes, MSG_WAITALL);

	return (void *)n;
}

static void sendfile_sends_it_all_to_a_slow_receiver(void)
{
	char path[64], *out = pattern(BYTES), *in = malloc(BYTES);
	int file = scratch(path), fd[2];
	off_t at = 5;
	uint64_t id;

	CU_ASSERT_FATAL(in && file >= 0);
	runtime_begin();
	must(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	CU_ASSERT_EQUAL(weft_write(file, out, BYTES), BYTES);

	struct receiver r = { fd[1], in, BYTES - 5 };

	id = spawn(receive, &r);
	CU_ASSERT_EQUAL(weft_sendfile(fd[0], file, &at, BYTES), BYTES - 5);
	CU_ASSERT_EQUAL(at, BYTES);
	CU_ASSERT_EQUAL((ssize_t)join(id), BYTES - 5);
	CU_ASSERT_EQUAL(memcmp(in, out + 5, BYTES - 5), 0);
	at = 0;
	CU_ASSERT_TRUE(weft_sendfile_until(fd[0], file, &at, BYTES,
					   weft_clock() + 2000000) > 0);
	CU_ASSERT_TRUE(at > 0 && at < BYTES);
	must(weft_close(fd[0]) == 0);
	must(weft_close(fd[1]) == 0);
	runtime_end();
	close(file);
	unlink(path);
	free(in);
	free(out);
}

static void *open_to_read(void *arg)
{
	char byte;
	int fd = weft_open(arg, O_RDONLY, 0);
	ssize_t n;

	must(fd >= 0);
	n = weft_read(fd, &byte, 1);
	must(weft_close(fd) == 0);
	return (void *)n;
}

static void *count_up(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		fetch_add_relaxed((_Atomic size_t *)arg, 1);
		weft_yield();
	}
	return NULL;
}

/* A call that blocks in the kernel takes its kernel thread, not the VCPU. */
static void others_run_while_a_fifo_is_opened(void)
{
	char path[64];
	_Atomic size_t count = 0;
	uint64_t reader, other;
	int fd = scratch(path);

	must(fd >= 0 && close(fd) == 0 && unlink(path) == 0);
	must(mkfifo(path, 0600) == 0);
	runtime_begin();
	reader = spawn(open_to_read, path);
	other = spawn(count_up, &count);
	join(other);
	CU_ASSERT_EQUAL(load_relaxed(&count), 1000);
	fd = weft_open(path, O_WRONLY, 0);
	must(fd >= 0);
	CU_ASSERT_EQUAL(weft_write(fd, "x", 1), 1);
	CU_ASSERT_EQUAL((ssize_t)join(reader), 1);
	CU_ASSERT_EQUAL(weft_close(fd), 0);
	runtime_end();
	unlink(path);
}

static const struct test_case cases[] = {
	TEST(a_file_is_written_and_read_in_one_call),
	TEST(sendfile_sends_it_all_to_a_slow_receiver),
	TEST(others_run_while_a_fifo_is_opened),
};

TEST_MAIN("io/file", cases)
