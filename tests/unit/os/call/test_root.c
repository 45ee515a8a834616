/* SPDX-License-Identifier: MIT */
/* test_root.c - os/root: what names mean in another root */
#include "os/call/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static char folder[] = "/tmp/weft-root-XXXXXX";

static void at_first_it_is_the_same(void)
{
	CU_ASSERT_EQUAL(wefti_os_root_is_same(), 1);
	CU_ASSERT_EQUAL(chdir("/tmp"), 0);
	CU_ASSERT_EQUAL(wefti_os_root_is_same(), 1);
}

static void files_of_proc_are_opened(void)
{
	char text[8] = "";
	long fd = wefti_os_proc_open("/proc/self/maps", O_RDONLY);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(read((int)fd, text, 4), 4);
	CU_ASSERT(fcntl((int)fd, F_GETFD) & FD_CLOEXEC);
	close((int)fd);
	CU_ASSERT_EQUAL(wefti_os_proc_open("/proc/self/none", O_RDONLY), -ENOENT);
	CU_ASSERT_EQUAL(wefti_os_proc_open("/dev/null", O_RDONLY), -ENOENT);
}

static void a_descriptor_is_opened_once_more(void)
{
	struct stat a, b;
	int fd = open("/dev/null", O_RDONLY);
	long again = wefti_os_proc_open_again(0, fd, O_RDWR);
	long of_pid = wefti_os_proc_open_again(getpid(), fd, O_RDONLY);

	CU_ASSERT(again >= 0 && again != fd && of_pid >= 0);
	CU_ASSERT(fstat(fd, &a) == 0 && fstat((int)again, &b) == 0 &&
		  a.st_ino == b.st_ino);
	CU_ASSERT_EQUAL(write((int)again, "", 1), 1);
	close((int)again);
	close((int)of_pid);
	close(fd);
}

/* A file, a FIFO on which an open would wait, and a link to be written through. */
static int make_proc(void)
{
	int fd;

	if (mkdir("/proc", 0700) != 0 || mkdir("/proc/self", 0700) != 0 ||
	    mkdir("/proc/self/fd", 0700) != 0)
		return 0;
	fd = open("/proc/self/maps", O_CREAT | O_WRONLY, 0600);
	return fd >= 0 && close(fd) == 0 &&
	       mkfifo("/proc/self/mem", 0600) == 0 &&
	       symlink("/proc/self/maps", "/proc/self/comm") == 0 &&
	       link("/proc/self/maps", "/proc/self/fd/0") == 0;
}

/* In a process of its own. Returns how far it came; 100: all is well. */
static int in_another_root(void)
{
	int next = dup(0);

	close(next);
	if (chroot(folder) != 0 || chdir("/") != 0)
		return 1;
	if (wefti_os_root_is_same() || !make_proc())
		return 2;
	if (wefti_os_proc_open("/proc/self/maps", O_RDONLY) != -ENOENT ||
	    wefti_os_proc_open("/proc/self/mem", O_RDONLY) != -ENOENT ||
	    wefti_os_proc_open("/proc/self/comm", O_WRONLY) != -ENOENT ||
	    wefti_os_proc_open_again(0, 0, O_RDWR) != -ENOENT)
		return 3;
	return dup(0) == next ? 100 : 4;	/* none was left open */
}

static void files_that_stand_in_for_those_of_proc_are_not(void)
{
	char command[64];
	int status = 0;
	pid_t child;

	if (geteuid() != 0) {
		printf("    not tested: needs root\n");
		return;
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	child = fork();
	if (child == 0)
		_exit(in_another_root());
	waitpid(child, &status, 0);
	CU_ASSERT_EQUAL(status, 100 << 8);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	CU_ASSERT_EQUAL(system(command), 0);
}

/* Run again with each list: what the dynamic loader has is that of the start. */
static void a_relative_folder_of_the_loaders_is_none(void)
{
	static const struct {
		const char *list;
		int same;
	} of[] = {
		{ "", 1 }, { "/lib", 1 }, { "/lib:/usr/lib", 1 }, { ".", 0 },
		{ "lib", 0 }, { "/lib:", 0 }, { ":/lib", 0 }, { "/a::/b", 0 },
		{ "/a:b", 0 },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		int status = 0;
		pid_t child = fork();

		if (child == 0) {
			setenv("LD_LIBRARY_PATH", of[i].list, 1);
			setenv("WEFT_TEST_ROOT", "1", 1);
			execl("/proc/self/exe", "test_root", NULL);
			_exit(9);
		}
		waitpid(child, &status, 0);
		if (status != of[i].same << 8)
			printf("    %s: status %x\n", of[i].list, status);
		CU_ASSERT_EQUAL(status, of[i].same << 8);
	}
}

static const struct test_case cases[] = {
	TEST(at_first_it_is_the_same),
	TEST(files_of_proc_are_opened),
	TEST(a_descriptor_is_opened_once_more),
	TEST(files_that_stand_in_for_those_of_proc_are_not),
	TEST(a_relative_folder_of_the_loaders_is_none),
};

int main(void)
{
	if (getenv("WEFT_TEST_ROOT"))		/* the last case's */
		return wefti_os_root_is_same();
	return test_main("os/root", cases, sizeof(cases) / sizeof(cases[0]));
}
