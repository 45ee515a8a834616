/* SPDX-License-Identifier: MIT */
/* test_slab_file.c - lockfree/slab: a set in a file, and files that are none */
#include "weft/slab.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static char folder[] = "/tmp/weft-slab-XXXXXX";
static char path[64];

static const struct weft_slab_attr attr = { 5000, 48, 8 };

static int number;		/* of paths, all in the folder */

/* At the program's end; its children end by _exit(). */
static void remove_files(void)
{
	while (number > 0) {
		snprintf(path, sizeof(path), "%s/%d", folder, --number);
		unlink(path);
	}
	if (rmdir(folder) != 0)
		perror(folder);
}

/* Each case has a path of its own where nothing is. */
static void new_path(void)
{
	if (!number && (!mkdtemp(folder) || atexit(remove_files) != 0))
		abort();
	snprintf(path, sizeof(path), "%s/%d", folder, number++);
}

static struct weft_slab *make(void)
{
	struct weft_slab *s = NULL;

	CU_ASSERT_EQUAL_FATAL(weft_slab_create_file(&s, &attr, path, 0600), 0);
	return s;
}

static struct weft_slab *again(void)
{
	struct weft_slab *s = NULL;

	CU_ASSERT_EQUAL_FATAL(weft_slab_open_file(&s, path, 48), 0);
	return s;
}

static int add_up(void *object, void *arg)
{
	*(uint64_t *)arg += *(uint64_t *)object;
	return 0;
}

static void a_set_that_is_opened_again_has_its_objects(void)
{
	struct weft_slab *s;
	uint64_t sum = 0, want = 0, ref;

	new_path();
	s = make();
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t *object = weft_slab_alloc(s, NULL);

		CU_ASSERT_PTR_NOT_NULL_FATAL(object);
		*object = i;
		if (i % 3 == 0) {
			CU_ASSERT_EQUAL(weft_slab_free(s, object), 0);
			continue;
		}
		want += i;
		*weft_slab_root(s, 3) = weft_slab_ref(s, object);
	}
	weft_slab_close(s);

	s = again();
	ref = *weft_slab_root(s, 3);
	CU_ASSERT_EQUAL(weft_slab_each(s, add_up, &sum), 0);
	CU_ASSERT_EQUAL(sum, want);
	CU_ASSERT_EQUAL(*(uint64_t *)weft_slab_object(s, ref), 998);
	CU_ASSERT_EQUAL(weft_slab_free(s, weft_slab_object(s, ref)), 0);
	weft_slab_close(s);

	s = again();
	sum = 0;
	weft_slab_each(s, add_up, &sum);
	CU_ASSERT_EQUAL(sum, want - 998);
	CU_ASSERT_EQUAL(weft_slab_recover(s), 0);	/* nothing was lost */
	weft_slab_close(s);
}

/* Two mappings of one file lie at different addresses, in one process too. */
static void references_mean_the_same_at_another_address(void)
{
	struct weft_slab *a, *b;
	uint64_t *object;

	new_path();
	a = make();
	b = again();
	object = weft_slab_alloc(a, NULL);
	*object = 77;
	CU_ASSERT_EQUAL(weft_slab_ref(b, object), 0);
	CU_ASSERT_EQUAL(*(uint64_t *)weft_slab_object(b,
				weft_slab_ref(a, object)), 77);
	CU_ASSERT_EQUAL(weft_slab_free(b, weft_slab_object(b,
				weft_slab_ref(a, object))), 0);
	CU_ASSERT_EQUAL(weft_slab_free(a, object), -EALREADY);
	CU_ASSERT_EQUAL(weft_slab_recover(a), 0);	/* b lives */
	weft_slab_close(b);
	weft_slab_close(a);
}

static int open_code(size_t object_bytes)
{
	struct weft_slab *s = NULL;
	int rc = weft_slab_open_file(&s, path, object_bytes);

	CU_ASSERT_PTR_NULL(s);
	return rc;
}

static void overwrite(off_t at, uint32_t value)
{
	int fd = open(path, O_RDWR);

	CU_ASSERT_EQUAL(pwrite(fd, &value, sizeof(value), at),
			(ssize_t)sizeof(value));
	close(fd);
}

static uint32_t word_at(off_t at)
{
	uint32_t value = 0;
	int fd = open(path, O_RDONLY);

	CU_ASSERT_EQUAL(pread(fd, &value, sizeof(value), at),
			(ssize_t)sizeof(value));
	close(fd);
	return value;
}

/* The format: magic at 0, the mark of the byte order at 8, the version at 12. */
static void files_that_are_no_set_are_refused(void)
{
	struct weft_slab *s = NULL;
	uint32_t kept;

	new_path();
	CU_ASSERT_EQUAL(open_code(0), -ENOENT);
	CU_ASSERT_EQUAL(weft_slab_open_file(&s, folder, 0), -EISDIR);
	close(open(path, O_CREAT | O_RDWR, 0600));
	CU_ASSERT_EQUAL(open_code(0), -ENODATA);
	s = make();
	weft_slab_close(s);
	s = NULL;
	CU_ASSERT_EQUAL(weft_slab_create_file(&s, &attr, path, 0600), -EEXIST);
	CU_ASSERT_EQUAL(open_code(40), -EMSGSIZE);

	kept = word_at(12);
	overwrite(12, kept + 1);
	CU_ASSERT_EQUAL(open_code(0), -ENOTSUP);
	overwrite(12, kept - 1);	/* weft 0.1's: only the sum is wrong */
	CU_ASSERT_EQUAL(open_code(0), -EINVAL);
	overwrite(12, kept);
	kept = word_at(8);
	overwrite(8, __builtin_bswap32(kept));
	CU_ASSERT_EQUAL(open_code(0), -ENOTSUP);
	overwrite(8, kept);
	kept = word_at(16);
	overwrite(16, kept + 8);	/* the object size: the sum is wrong */
	CU_ASSERT_EQUAL(open_code(0), -EINVAL);
	overwrite(16, kept);
	kept = word_at(0);
	overwrite(0, kept ^ 1);
	CU_ASSERT_EQUAL(open_code(0), -EINVAL);
	overwrite(0, kept);
	s = again();
	weft_slab_close(s);
	CU_ASSERT_EQUAL(truncate(path, 300000), 0);
	CU_ASSERT_EQUAL(open_code(0), -ENODATA);
	CU_ASSERT_EQUAL(truncate(path, 100), 0);
	CU_ASSERT_EQUAL(open_code(0), -ENODATA);
}

/* The maker's death is shown as what it leaves: everything but the magic. */
static void a_creation_that_was_killed_is_begun_anew(void)
{
	struct weft_slab *s;

	new_path();
	s = make();
	CU_ASSERT_PTR_NOT_NULL(weft_slab_alloc(s, NULL));
	weft_slab_close(s);
	overwrite(0, 0);
	overwrite(4, 0);
	CU_ASSERT_EQUAL(open_code(0), -EINVAL);
	s = make();
	CU_ASSERT_PTR_NOT_NULL(weft_slab_alloc(s, NULL));
	weft_slab_close(s);
}

/* In a mount namespace of its own. Exits with 0, 1 or 77: cannot be tried. */
static _Noreturn void fill_a_small_disk(void)
{
	static const struct weft_slab_attr large = { 1000000, 4096, 8 };
	struct weft_slab *s = NULL;
	size_t count = 0;
	int error = 0;
	char *object;

	if (unshare(CLONE_NEWNS) != 0 &&
	    unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		_exit(77);
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", folder, "tmpfs", 0, "size=40M") != 0)
		_exit(77);
	if (weft_slab_create_file(&s, &large, path, 0600) != 0)
		_exit(1);
	while ((object = weft_slab_alloc(s, &error)) != NULL) {
		memset(object, 1, 4096);	/* SIGBUS if there is no space */
		count++;
	}
	/* Slabs of 3,072 pages: three fit. */
	_exit(error == -ENOSPC && count == 3 * 3072 ? 0 : 1);
}

static void a_full_disk_is_an_error_and_no_signal(void)
{
	int status;
	pid_t pid;

	new_path();
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		fill_a_small_disk();
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		puts("    not tried: no file system can be mounted here");
		return;
	}
	CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void children_of_fork_are_processes_of_their_own(void)
{
	struct weft_slab *s;
	struct weft_slab_info info;
	int status;
	pid_t pid;

	new_path();
	s = make();
	CU_ASSERT_PTR_NOT_NULL(weft_slab_alloc(s, NULL));
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		uint64_t *object = weft_slab_alloc(s, NULL);

		weft_slab_info(s, &info);
		if (!object || info.processes != 2 || info.threads != 2 ||
		    info.live != 2)
			_exit(1);
		*object = 5;
		_exit(0);	/* without a close */
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	weft_slab_info(s, &info);
	CU_ASSERT_EQUAL(info.live, 2);
	CU_ASSERT_EQUAL(info.processes, 2);
	CU_ASSERT_EQUAL(weft_slab_recover(s), 47);	/* its magazine */
	weft_slab_info(s, &info);
	CU_ASSERT_EQUAL(info.live, 2);
	CU_ASSERT_EQUAL(info.processes, 1);
	weft_slab_close(s);
}

static void shared_memory_without_a_name_will_do(void)
{
	struct weft_slab *s = NULL;
	int fd = memfd_create("weft-slab", MFD_CLOEXEC);

	new_path();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	s = make();
	CU_ASSERT_PTR_NOT_NULL(weft_slab_alloc(s, NULL));
	weft_slab_close(s);
	s = again();
	weft_slab_close(s);
	close(fd);
}

static const struct test_case cases[] = {
	TEST(a_set_that_is_opened_again_has_its_objects),
	TEST(references_mean_the_same_at_another_address),
	TEST(files_that_are_no_set_are_refused),
	TEST(a_creation_that_was_killed_is_begun_anew),
	TEST(a_full_disk_is_an_error_and_no_signal),
	TEST(children_of_fork_are_processes_of_their_own),
	TEST(shared_memory_without_a_name_will_do),
};

TEST_MAIN("lockfree/slab_file", cases)
