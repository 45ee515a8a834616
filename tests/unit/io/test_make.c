/* SPDX-License-Identifier: MIT */
/*
 * test_make.c - io/make: the flags of what is made, what the table knows of it,
 * and that a call that fails leaves nothing open
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "io/table.h"
#include "loop.h"
#include "os/call/descriptor.h"

/* The linker puts this in the place of wefti_fd_made(). */
static int refuses;		/* from the how manieth call on; 0: none */

int __real_wefti_fd_made(int fd, unsigned kind, uint64_t flags);
int __wrap_wefti_fd_made(int fd, unsigned kind, uint64_t flags);

int __wrap_wefti_fd_made(int fd, unsigned kind, uint64_t flags)
{
	if (refuses && --refuses == 0)
		return -ENOMEM;
	return __real_wefti_fd_made(fd, kind, flags);
}

static uint64_t flags_of(int fd)
{
	struct wefti_fd *e = wefti_fd_find((uint32_t)fd);

	return e ? load_seq_cst(&e->word) & WEFTI_FD_FLAGS : 0;
}

/* Closes it, too. */
static void expect(int fd, unsigned kind, int nonblocking)
{
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(flags_of(fd), WEFTI_FD_MADE |
			kind << WEFTI_FD_KIND_SHIFT |
			(nonblocking ? WEFTI_FD_NONBLOCK : 0));
	CU_ASSERT_EQUAL((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0, nonblocking);
	CU_ASSERT_EQUAL(fcntl(fd, F_GETFD), FD_CLOEXEC);
	CU_ASSERT_EQUAL(weft_close(fd), 0);
	CU_ASSERT_EQUAL(flags_of(fd), 0);
	CU_ASSERT_EQUAL(fcntl(fd, F_GETFD), -1);
}

static void what_is_made_does_not_block_but_for_files(void)
{
	int fd[2];

	expect(weft_open("/proc/self/exe", O_RDONLY, 0), WEFTI_OS_FILE, 0);
	expect(weft_open("/proc/self", O_RDONLY | O_DIRECTORY, 0),
	       WEFTI_OS_FILE, 0);
	expect(weft_open("/dev/null", O_RDWR, 0), WEFTI_OS_OTHER, 1);
	CU_ASSERT_EQUAL_FATAL(weft_pipe(fd, 0), 0);
	expect(fd[0], WEFTI_OS_OTHER, 1);
	expect(fd[1], WEFTI_OS_OTHER, 1);
	expect(weft_socket(AF_UNIX, SOCK_DGRAM, 0), WEFTI_OS_SOCKET, 1);
	expect(weft_socket(AF_INET, SOCK_STREAM, 0), WEFTI_OS_SOCKET, 1);
	CU_ASSERT_EQUAL_FATAL(weft_socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd),
			      0);
	expect(fd[0], WEFTI_OS_SOCKET, 1);
	expect(fd[1], WEFTI_OS_SOCKET, 1);
}

/* A file that is made has its mode, and a pipe has whole records. */
static void what_was_asked_for_is_there(void)
{
	char path[64], buf[16];
	struct stat st;
	mode_t mask = umask(0);
	int fd[2];

	snprintf(path, sizeof(path), "/tmp/weft-make-%d", (int)getpid());
	fd[0] = weft_open(path, O_RDWR | O_CREAT | O_EXCL, 0640);
	umask(mask);
	CU_ASSERT_FATAL(fd[0] >= 0);
	CU_ASSERT_EQUAL_FATAL(fstat(fd[0], &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 0777, 0640);
	CU_ASSERT_EQUAL(fcntl(fd[0], F_GETFL) & O_ACCMODE, O_RDWR);
	CU_ASSERT_EQUAL(weft_open(path, O_RDWR | O_CREAT | O_EXCL, 0640),
			-EEXIST);
	CU_ASSERT_EQUAL(weft_close(fd[0]), 0);
	CU_ASSERT_EQUAL(unlink(path), 0);

	CU_ASSERT_EQUAL_FATAL(weft_pipe(fd, O_DIRECT), 0);
	CU_ASSERT_EQUAL(weft_write(fd[1], "abc", 3), 3);
	CU_ASSERT_EQUAL(weft_write(fd[1], "de", 2), 2);
	CU_ASSERT_EQUAL(weft_read(fd[0], buf, sizeof(buf)), 3);
	CU_ASSERT_EQUAL(weft_read(fd[0], buf, sizeof(buf)), 2);
	CU_ASSERT_EQUAL(weft_close(fd[0]), 0);
	CU_ASSERT_EQUAL(weft_close(fd[1]), 0);
}

static void what_the_kernel_refuses_is_an_error(void)
{
	size_t before = open_descriptors();
	int fd[2] = { -7, -7 };

	CU_ASSERT_EQUAL(weft_open("/nowhere/at/all", O_RDONLY, 0), -ENOENT);
	CU_ASSERT_EQUAL(weft_open("/proc/self/exe/x", O_RDONLY, 0), -ENOTDIR);
	CU_ASSERT_EQUAL(weft_open("/proc", O_WRONLY, 0), -EISDIR);
	CU_ASSERT_EQUAL(weft_open(NULL, O_RDONLY, 0), -EFAULT);
	CU_ASSERT_EQUAL(weft_pipe(fd, O_APPEND), -EINVAL);
	CU_ASSERT_EQUAL(weft_socket(-1, SOCK_STREAM, 0), -EAFNOSUPPORT);
	CU_ASSERT_EQUAL(weft_socket(AF_UNIX, 15, 0), -EINVAL);
	CU_ASSERT_EQUAL(weft_socketpair(AF_INET, SOCK_STREAM, 0, fd),
			-EOPNOTSUPP);
	CU_ASSERT_EQUAL(weft_socketpair(AF_UNIX, SOCK_STREAM, 99, fd),
			-EPROTONOSUPPORT);
	CU_ASSERT_TRUE(fd[0] == -7 && fd[1] == -7);
	CU_ASSERT_EQUAL(open_descriptors(), before);
}

/* Also of two, if there is room for one. */
static void without_a_number_nothing_is_made(void)
{
	struct rlimit limit, few;
	int fd[2] = { -7, -7 }, last = dup(0), errors[5];

	CU_ASSERT_FATAL(last >= 0);
	CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
	for (rlim_t more = 0; more < 2; more++) {
		few = limit;
		few.rlim_cur = (rlim_t)last + 1 + more;
		CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &few), 0);
		errors[0] = weft_pipe(fd, 0);
		errors[1] = weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd);
		errors[2] = errors[3] = -EMFILE;
		if (!more) {
			errors[2] = weft_open("/dev/null", O_RDWR, 0);
			errors[3] = weft_socket(AF_UNIX, SOCK_STREAM, 0);
		}
		errors[4] = fcntl(last + 1, F_GETFD) < 0 ? -EMFILE : 0;
		CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
		for (int i = 0; i < 5; i++)
			CU_ASSERT_EQUAL(errors[i], -EMFILE);
		CU_ASSERT_TRUE(fd[0] == -7 && fd[1] == -7);
	}
	CU_ASSERT_EQUAL(close(last), 0);
}

/* The table has no memory for it: then it is closed again, both of two. */
static void what_the_table_has_no_place_for_is_closed(void)
{
	size_t before = open_descriptors();
	int fd[2] = { -7, -7 };

	refuses = 1;
	CU_ASSERT_EQUAL(weft_open("/dev/null", O_RDWR, 0), -ENOMEM);
	refuses = 1;
	CU_ASSERT_EQUAL(weft_open("/proc/self/exe", O_RDONLY, 0), -ENOMEM);
	refuses = 1;
	CU_ASSERT_EQUAL(weft_socket(AF_UNIX, SOCK_STREAM, 0), -ENOMEM);
	for (int which = 1; which <= 2; which++) {
		refuses = which;
		CU_ASSERT_EQUAL(weft_pipe(fd, 0), -ENOMEM);
		refuses = which;
		CU_ASSERT_EQUAL(weft_socketpair(AF_UNIX, SOCK_STREAM, 0, fd),
				-ENOMEM);
	}
	CU_ASSERT_EQUAL(refuses, 0);
	CU_ASSERT_TRUE(fd[0] == -7 && fd[1] == -7);
	CU_ASSERT_EQUAL(open_descriptors(), before);
}

static void what_is_adopted_is_known_as_it_is(void)
{
	int fd[2], file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t generation;

	CU_ASSERT_EQUAL(weft_adopt(-1), -EBADF);
	CU_ASSERT_EQUAL(weft_adopt(19999), -EBADF);
	CU_ASSERT_FATAL(file >= 0);
	CU_ASSERT_EQUAL(weft_adopt(file), 0);
	expect(file, WEFTI_OS_FILE, 0);

	CU_ASSERT_EQUAL_FATAL(pipe2(fd, O_CLOEXEC), 0);
	refuses = 1;
	CU_ASSERT_EQUAL(weft_adopt(fd[0]), -ENOMEM);
	CU_ASSERT_EQUAL(flags_of(fd[0]), 0);
	CU_ASSERT_EQUAL(weft_adopt(fd[0]), 0);
	CU_ASSERT_EQUAL(flags_of(fd[0]), WEFTI_FD_MADE);
	generation = load_seq_cst(&wefti_fd_find((uint32_t)fd[0])->word) >>
		     WEFTI_FD_GEN_SHIFT;
	/* Again, after its flag was changed. */
	CU_ASSERT_EQUAL_FATAL(fcntl(fd[0], F_SETFL, O_NONBLOCK), 0);
	CU_ASSERT_EQUAL(weft_adopt(fd[0]), 0);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_fd_find((uint32_t)fd[0])->word) >>
			WEFTI_FD_GEN_SHIFT, generation + 1);
	expect(fd[0], WEFTI_OS_OTHER, 1);
	CU_ASSERT_EQUAL(close(fd[1]), 0);
}

static const struct test_case cases[] = {
	TEST(what_is_made_does_not_block_but_for_files),
	TEST(what_was_asked_for_is_there),
	TEST(what_the_kernel_refuses_is_an_error),
	TEST(without_a_number_nothing_is_made),
	TEST(what_the_table_has_no_place_for_is_closed),
	TEST(what_is_adopted_is_known_as_it_is),
};

TEST_MAIN("io/make", cases)
