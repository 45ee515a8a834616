/* SPDX-License-Identifier: MIT */
/*
 * test_last.c - observe/last: a dump and the recorder's file, before a crash and at a deadlock
 *
 * Each scenario is a process, in a folder of its own.
 */
#include "observe/last.h"

#include <sys/stat.h>

#include "child.h"
#include "observe/observer.h"

static struct weft_mutex mutex;
static char folder[32];

static void set(const char *crash, const char *trace)
{
	must(chdir(folder) == 0);
	setenv("WEFT_CRASH", crash, 1);
	setenv("WEFT_TRACE", trace, 1);
	must(weft_start(NULL) == 0);
}

NOINLINE static void touch_nowhere(void)
{
	volatile int *volatile nowhere = (volatile int *)64;

	*nowhere = 1;
}

static void *waits(void *unused)
{
	must(weft_mutex_lock(&mutex) == 0);
	return unused;
}

static void *crashes(void *unused)
{
	must(weft_mutex_lock(&mutex) == 0);
	spawn_named("waits", 0, waits, NULL);
	(void)weft_sleep(1000000);
	weft_trace_mark("before the crash");
	touch_nowhere();
	return unused;
}

static void crash(void)
{
	(void)!weft_join(spawn_named("crashes", 0, crashes, NULL), NULL);
}

static void asks_for_a_dump(void)
{
	set("dump", "off");
	fprintf(stderr, "begin\n");
	crash();
}

static void aborts_in_main(void)
{
	set("dump", "off");
	abort();
}

static void asks_for_nothing(void)
{
	set("tell", "off");
	crash();
}

static void records(void)
{
	set("tell", "flight");
	crash();
}

static void handles_it(void)
{
	set("dump", "flight");
	signal(SIGSEGV, _exit);
	crash();
}

static void is_sent_one(void)
{
	set("dump", "flight");
	kill(getpid(), SIGABRT);
	for (;;)
		(void)weft_sleep(INT64_C(1000000000));
}

static void has_no_observer(void)
{
	setenv("WEFT_DUMP", "off", 1);
	setenv("WEFT_DEADLOCK", "off", 1);
	set("dump", "flight");
	crash();
}

/* As _Fork() does it: weft learns nothing of the child. */
static int status_of_a_bare_child(int crashes_too)
{
	int status = -1;
	long pid = clone_alone();

	if (pid == 0) {
		must(!wefti_observer_may_answer());
		if (crashes_too)
			touch_nowhere();
		exit_alone(0);
	}
	must(waitpid((pid_t)pid, &status, 0) == pid);
	return status;
}

static void has_children(void)
{
	set("dump", "flight");
	must(wefti_observer_may_answer());
	must(status_of_a_bare_child(0) == 0);
	must(WTERMSIG(status_of_a_bare_child(1)) == SIGSEGV);
	_exit(0);
}

static void is_dead(void)
{
	set("tell", "flight");
	must(weft_mutex_lock(&mutex) == 0);
	(void)!weft_join(spawn_named("waits", 0, waits, NULL), NULL);
}

static void folder_begin(void)
{
	strcpy(folder, "/tmp/weft-last-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

/* It is empty again. */
static void folder_end(void)
{
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static void run(void (*scenario)(void))
{
	child_begin(scenario);
	child_end();
}

static int is_killed_by(int signal)
{
	return WIFSIGNALED(child.status) && WTERMSIG(child.status) == signal;
}

/* Returns how many bytes of the recorder's file there are, and removes it; -1: none. */
static long record_bytes(int *mode)
{
	char name[64];
	struct stat s;

	snprintf(name, sizeof(name), "%s/weft.%d.weft", folder, (int)child.pid);
	if (stat(name, &s) != 0)
		return -1;
	*mode = (int)(s.st_mode & 0777);
	unlink(name);
	return (long)s.st_size;
}

static void a_crash_dumps_if_asked_for_and_ends_as_it_would(void)
{
	const char *thread;
	int mode;

	folder_begin();
	run(asks_for_a_dump);
	CU_ASSERT_TRUE(is_killed_by(SIGSEGV));
	CU_ASSERT(child_said("weft: SIGSEGV at address 0x40 in thread \"crashes\""));
	CU_ASSERT(child_said("\nweft: it owns mutex "));
	CU_ASSERT(child_said("\nweft: crash\n"));
	CU_ASSERT(child_said("\nweft: end of dump\n"));
	CU_ASSERT(child_said("thread \"waits\" (id"));
	/* Where the fault was, and not the handler. */
	thread = strstr(child.text, "\nweft: crash\n");
	CU_ASSERT_PTR_NOT_NULL_FATAL(thread);
	thread = strstr(thread, "thread \"crashes\" (id");
	CU_ASSERT_PTR_NOT_NULL_FATAL(thread);
	thread = strstr(thread, "\n    #0 ");
	CU_ASSERT_PTR_NOT_NULL_FATAL(thread);
	CU_ASSERT_PTR_NOT_NULL_FATAL(strstr(thread, " touch_nowhere+"));
	CU_ASSERT_TRUE(strstr(thread, " touch_nowhere+") < strstr(thread + 1, "\n"));
	CU_ASSERT_EQUAL(record_bytes(&mode), -1);

	run(aborts_in_main);
	CU_ASSERT_TRUE(is_killed_by(SIGABRT));
	CU_ASSERT(child_said("\nweft: end of dump\n"));

	run(asks_for_nothing);
	CU_ASSERT_TRUE(is_killed_by(SIGSEGV));
	CU_ASSERT_FALSE(child_said("weft: crash\n"));
	CU_ASSERT_EQUAL(record_bytes(&mode), -1);
	folder_end();
}

static void the_last_events_are_written_at_a_crash_and_at_a_deadlock(void)
{
	char line[64];
	int mode = 0;

	folder_begin();
	run(records);
	CU_ASSERT_TRUE(is_killed_by(SIGSEGV));
	snprintf(line, sizeof(line), "\nweft: the last events are in weft.%d.weft, ",
		 (int)child.pid);
	CU_ASSERT(child_said(line));
	CU_ASSERT_TRUE(record_bytes(&mode) > 65536);
	CU_ASSERT_EQUAL(mode, 0600);
	CU_ASSERT_FALSE(child_said("weft: crash\n"));

	run(is_dead);
	CU_ASSERT_TRUE(WIFEXITED(child.status) && WEXITSTATUS(child.status) == 2);
	CU_ASSERT_TRUE(record_bytes(&mode) > 65536);
	CU_ASSERT(child_said("weft: the last events are in weft."));
	folder_end();
}

static void nothing_is_written_for_a_signal_that_ends_nothing_or_is_sent(void)
{
	int mode;

	folder_begin();
	run(handles_it);
	CU_ASSERT_TRUE(WIFEXITED(child.status) && WEXITSTATUS(child.status) == SIGSEGV);
	CU_ASSERT_EQUAL(child.used, 0);
	CU_ASSERT_EQUAL(record_bytes(&mode), -1);
	run(is_sent_one);
	CU_ASSERT_TRUE(is_killed_by(SIGABRT));
	CU_ASSERT_EQUAL(child.used, 0);
	CU_ASSERT_EQUAL(record_bytes(&mode), -1);
	folder_end();
}

static void without_an_observer_a_crash_does_not_wait(void)
{
	int mode;

	folder_begin();
	run(has_no_observer);
	CU_ASSERT_TRUE(is_killed_by(SIGSEGV));
	CU_ASSERT(child_said("weft: SIGSEGV at address 0x40 in thread \"crashes\""));
	CU_ASSERT_FALSE(child_said("weft: crash\n"));
	CU_ASSERT_EQUAL(record_bytes(&mode), -1);
	folder_end();
}

static void nor_does_one_in_a_child_that_weft_does_not_know(void)
{
	folder_begin();
	run(has_children);
	CU_ASSERT_EQUAL(child.status, 0);
	CU_ASSERT(child_said("weft: SIGSEGV at address 0x40 in the first thread"));
	CU_ASSERT_FALSE(child_said("weft: crash\n"));
	folder_end();
}

static void a_file_that_is_there_is_left_as_it_is(void)
{
	char name[64];
	struct stat s;

	folder_begin();
	child_begin(is_dead);
	snprintf(name, sizeof(name), "%s/weft.%d.weft", folder, (int)child.pid);
	close(open(name, O_WRONLY | O_CREAT, 0644));	/* before the check's first look */
	child_end();
	CU_ASSERT_EQUAL(stat(name, &s), 0);
	if (!child_said("weft: the last events are in"))	/* on a slow machine it was late */
		CU_ASSERT_EQUAL(s.st_size, 0);
	unlink(name);
	folder_end();
}

static const struct test_case cases[] = {
	TEST(a_crash_dumps_if_asked_for_and_ends_as_it_would),
	TEST(the_last_events_are_written_at_a_crash_and_at_a_deadlock),
	TEST(nothing_is_written_for_a_signal_that_ends_nothing_or_is_sent),
	TEST(without_an_observer_a_crash_does_not_wait),
	TEST(nor_does_one_in_a_child_that_weft_does_not_know),
	TEST(a_file_that_is_there_is_left_as_it_is),
};

TEST_MAIN("observe/last", cases)
