/* SPDX-License-Identifier: MIT */
/* test_process.c - os/libc/process: a child's mask, descriptors and end */
#include "os/libc/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/call/missing.h"
#include "support.h"

extern char **environ;

#define MASK	UINT64_C(0x200)		/* SIGUSR1 */

static void a_child_has_what_was_asked_for(void)
{
	char *argv[] = { "grep", "SigBlk", "/proc/self/status", NULL };
	struct wefti_os_process p = {
		.file = "grep", .argv = argv, .env = environ, .fds = { -1, -1, -1 },
		.has_mask = 1, .mask = MASK,
	};
	char got[64] = "";
	int fd[2], status = -1;
	pid_t pid = 0;

	CU_ASSERT_EQUAL_FATAL(pipe2(fd, O_CLOEXEC), 0);
	p.fds[1] = fd[1];
	CU_ASSERT_EQUAL_FATAL(wefti_os_process_spawn(&pid, &p), 0);
	close(fd[1]);
	CU_ASSERT_TRUE(read(fd[0], got, sizeof(got) - 1) > 7);
	CU_ASSERT_EQUAL(strtoull(got + strlen("SigBlk:"), NULL, 16), MASK);
	CU_ASSERT_EQUAL(wefti_os_process_wait(pid, &status, 1, NULL), pid);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(wefti_os_process_wait(pid, &status, 1, NULL), -ECHILD);
	close(fd[0]);
}

static void its_end_is_seen(void)
{
	char *argv[] = { "cat", NULL };
	struct wefti_os_process p = {
		.file = "cat", .argv = argv, .env = environ, .fds = { -1, -1, -1 },
		.closes = 1, .leads_group = 1,
	};
	int fd[2], status = -1, end;
	pid_t pid = 0;

	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);	/* the child must not keep fd[1] */
	p.fds[0] = fd[0];
	CU_ASSERT_EQUAL_FATAL(wefti_os_process_spawn(&pid, &p), 0);
	CU_ASSERT_EQUAL(getpgid(pid), pid);
	CU_ASSERT_EQUAL(wefti_os_process_wait(pid, &status, 0, NULL), 0);
	end = wefti_os_process_open(pid);
	close(fd[0]);
	close(fd[1]);
	if (end >= 0) {
		struct pollfd ended = { .fd = end, .events = POLLIN };

		CU_ASSERT_EQUAL(poll(&ended, 1, -1), 1);
		CU_ASSERT_EQUAL(wefti_os_process_wait(pid, &status, 0, NULL), pid);
		close(end);
	} else {
		CU_ASSERT_TRUE(wefti_os_is_missing(end));
		CU_ASSERT_EQUAL(wefti_os_process_wait(pid, &status, 1, NULL), pid);
	}
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_TRUE(wefti_os_process_open(pid) < 0);
}

static const struct test_case cases[] = {
	TEST(a_child_has_what_was_asked_for),
	TEST(its_end_is_seen),
};

TEST_MAIN("os/process", cases)
