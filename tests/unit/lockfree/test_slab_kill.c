/* SPDX-License-Identifier: MIT */
/*
 * test_slab_kill.c - lockfree/slab: processes are killed, at any instruction
 *
 * A writer keeps a table of references in the set's file. What it has done is
 * a count in shared memory, so after its death it is known which call it may
 * have been in. Then: recovery, and
 *   - an object is live exactly if the table has it, but for the call that the
 *     writer was in;
 *   - every other object can still be had: nothing is lost, nothing is twice.
 */
#include "weft/slab.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#define ENTRIES	160

/* Shared by the test and its writers; plain, as only one writes. */
struct table {
	uint64_t ref[ENTRIES];		/* 0: none */
	uint64_t calls;			/* that have returned */
};

static struct table *table;
static struct weft_slab *set;
static char path[] = "/tmp/weft-slab-kill-XXXXXX";

static void begin(void)
{
	static const struct weft_slab_attr attr = { 1000, 64, 8 };
	int fd;

	strcpy(path + sizeof(path) - 7, "XXXXXX");
	fd = mkstemp(path);
	CU_ASSERT_TRUE_FATAL(fd >= 0);
	close(fd);
	table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_PTR_NOT_EQUAL_FATAL((void *)table, MAP_FAILED);
	CU_ASSERT_EQUAL_FATAL(weft_slab_create_file(&set, &attr, path, 0600),
			      0);
}

static void end(void)
{
	weft_slab_close(set);
	munmap(table, sizeof(*table));
	unlink(path);
}

/*
 * What a writer does, call by call, the same in each life: it fills entries,
 * the last by reservation, and frees those of lives before, which lie in other
 * groups, and some of its own.
 */
static void write_one(uint64_t number)
{
	uint64_t at = number * 37 % ENTRIES;
	uint64_t *object;

	if (table->ref[at]) {
		object = weft_slab_object(set, table->ref[at]);
		table->ref[at] = 0;
		if (weft_slab_free(set, object) != 0)
			_exit(3);
	} else if (number & 1) {
		object = weft_slab_alloc(set, NULL);
		if (!object)
			_exit(4);
		*object = number;
		table->ref[at] = weft_slab_ref(set, object);
	} else {
		object = weft_slab_reserve(set, NULL);
		if (!object)
			_exit(5);
		*object = number;
		table->ref[at] = weft_slab_ref(set, object);
		if (weft_slab_publish(set, object) != 0)
			_exit(6);
	}
	table->calls++;
}

static int note_live(void *object, void *arg)
{
	unsigned char *seen = arg;
	uint64_t ref = weft_slab_ref(set, object);

	for (int i = 0; i < ENTRIES; i++) {
		if (table->ref[i] == ref) {
			seen[i] = 1;
			return 0;
		}
	}
	seen[ENTRIES]++;
	/* The call's object: the next life must not find it. */
	CU_ASSERT_EQUAL(weft_slab_free(set, object), 0);
	return 0;
}

/* Takes and gives back everything that is free. */
static size_t count_free(void)
{
	static void *object[8 * 3072];
	size_t count = 0;

	while ((object[count] = weft_slab_alloc(set, NULL)) != NULL)
		count++;
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_EQUAL_FATAL(weft_slab_free(set, object[i]), 0);
	weft_slab_leave(set);
	return count;
}

static void check_what_is_left(void)
{
	unsigned char seen[ENTRIES + 1] = { 0 };
	int missing = 0, live = 0;

	CU_ASSERT_TRUE(weft_slab_recover(set) >= 0);
	CU_ASSERT_EQUAL(weft_slab_each(set, note_live, seen), 0);
	for (int i = 0; i < ENTRIES; i++) {
		live += seen[i];
		if (table->ref[i] && !seen[i]) {
			table->ref[i] = 0;	/* reserved, not published */
			missing++;
		}
	}
	CU_ASSERT_TRUE_FATAL(missing + seen[ENTRIES] <= 1);
	CU_ASSERT_EQUAL_FATAL((count_free() + (size_t)live) % 3072, 0);
}

/* --- at random moments */

static void writers_killed_at_random_lose_nothing(void)
{
	size_t lives = test_scaled(1000);

	begin();
	for (size_t i = 0; i < lives; i++) {
		uint64_t before = table->calls;
		int status;
		pid_t pid;

		fflush(NULL);
		pid = fork();
		if (pid == 0) {
			for (uint64_t number = before;; number++)
				write_one(number);
		}
		while (__atomic_load_n(&table->calls, __ATOMIC_RELAXED) ==
		       before && waitpid(pid, &status, WNOHANG) == 0)
			usleep(20);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		CU_ASSERT_TRUE_FATAL(WIFSIGNALED(status));
		check_what_is_left();
	}
	end();
}

/* --- after each instruction */

/*
 * A process that is stopped by its tracer has done what a dead one has. Its
 * file is copied, where nobody holds the locks, and the copy is looked at.
 */
static char copy_path[sizeof(path) + 5];

static void copy_set(void)
{
	struct table *kept = table, copy = *table;
	struct weft_slab *original = set;
	int from = open(path, O_RDONLY), to;
	struct stat st;

	snprintf(copy_path, sizeof(copy_path), "%s.copy", path);
	to = open(copy_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	CU_ASSERT_EQUAL_FATAL(fstat(from, &st), 0);
	CU_ASSERT_EQUAL_FATAL(ftruncate(to, st.st_size), 0);
	CU_ASSERT_EQUAL_FATAL(sendfile(to, from, NULL, (size_t)st.st_size),
			      st.st_size);
	close(from);
	close(to);

	set = NULL;
	CU_ASSERT_EQUAL_FATAL(weft_slab_open_file(&set, copy_path, 64), 0);
	table = &copy;
	check_what_is_left();
	weft_slab_close(set);
	set = original;
	table = kept;
}

/* One instruction. 0: the child has ended. */
static int step(pid_t pid)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0 ||
	    waitpid(pid, &status, 0) != pid)
		return 0;
	if (WIFSTOPPED(status))
		return 1;
	CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return 0;
}

/*
 * The numbers of calls: 0 to 47 fill the first group. What is followed leaves
 * it and takes another, frees into both and takes what was freed.
 */
static const uint64_t watched[] = {
	46, 47, 48, 49, 160, 161, 48 + 160, 49 + 160, 320, 321
};

static _Noreturn void be_watched(size_t first)
{
	if (weft_slab_open_file(&set, path, 64) != 0)
		_exit(2);
	for (uint64_t i = 0; first == 0 && i < watched[0]; i++)
		write_one(i);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(77);
	raise(SIGSTOP);
	if (first == 0) {
		for (size_t i = 0; i < sizeof(watched) / sizeof(*watched); i++)
			write_one(watched[i]);
	} else {	/* a thread's first call, and its last */
		write_one(0);
		weft_slab_leave(set);
	}
	_exit(0);
}

static void watch(size_t first)
{
	/* Sanitizers have ten instructions for each of ours: not all. */
	size_t part = test_scaled(60), stride = (60 + part - 1) / part;
	size_t seen = 0;
	int status;
	pid_t pid;

	begin();
	weft_slab_close(set);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		be_watched(first);
	waitpid(pid, &status, 0);
	if (!WIFSTOPPED(status)) {
		CU_ASSERT_EQUAL(WEXITSTATUS(status), 77);
		puts("    not tried: no process can be traced here");
	}
	while (WIFSTOPPED(status) && step(pid)) {
		if (seen++ % stride == 0)
			copy_set();
	}
	printf("    %zu instructions\n", seen);
	unlink(copy_path);
	CU_ASSERT_EQUAL_FATAL(weft_slab_open_file(&set, path, 64), 0);
	end();
}

static void a_death_after_each_instruction_loses_nothing(void)
{
	watch(0);
	watch(1);
}

/* A recoverer is killed as well; the next one completes the recovery. */
static void recoverers_killed_at_random_lose_nothing(void)
{
	size_t lives = test_scaled(200);

	begin();
	for (size_t i = 0; i < lives; i++) {
		uint64_t before = table->calls;
		int status;
		pid_t pid;

		fflush(NULL);
		pid = fork();
		if (pid == 0) {
			for (uint64_t k = 0; k < 100; k++)
				write_one(before + k);
			raise(SIGKILL);
		}
		waitpid(pid, &status, 0);
		pid = fork();
		if (pid == 0) {
			(void)!weft_slab_recover(set);
			_exit(0);
		}
		usleep((unsigned)(i % 20) * 30);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		check_what_is_left();
	}
	end();
}

static const struct test_case cases[] = {
	TEST(writers_killed_at_random_lose_nothing),
	TEST(recoverers_killed_at_random_lose_nothing),
	TEST(a_death_after_each_instruction_loses_nothing),
};

TEST_MAIN("lockfree/slab_kill", cases)
