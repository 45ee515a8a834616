/* SPDX-License-Identifier: MIT */
/*
 * test_dump.c - observe/dump: what dumps say, and when SIGQUIT is the program's
 */
#include <pthread.h>
#include <sys/ioctl.h>

#include "child.h"
#include "observe/view.h"
#include "support.h"

#define END	"weft: end of dump"

static struct weft_mutex mutex = WEFT_MUTEX_INIT;

NOINLINE static void call_sleep(void)
{
	(void)weft_sleep_until(WEFT_FOREVER);
	compiler_barrier();	/* no tail call */
}

NOINLINE static void call_lock(void)
{
	weft_mutex_lock(&mutex);
	compiler_barrier();
}

NOINLINE static void call_join(uint64_t id)
{
	(void)!weft_join(id, NULL);
	compiler_barrier();
}

static void *sleeper(void *unused)
{
	call_sleep();
	return unused;
}

static void *locker(void *unused)
{
	call_lock();
	return unused;
}

static void *joiner(void *id)
{
	call_join((uint64_t)id);
	return NULL;
}

static void await_parked(uint64_t id)
{
	struct wefti_view view;

	do {
		(void)weft_sleep(100000);
		wefti_view_slot((uint32_t)id, &view);
	} while (view.state != WEFTI_VIEW_PARKED);
}

static void start_three(void)
{
	uint64_t id;

	must(weft_start(NULL) == 0);
	must(weft_set_name(weft_self(), "first") == 0);
	weft_mutex_lock(&mutex);
	id = spawn_named("sleeper", 0, sleeper, NULL);
	await_parked(spawn_named("locker", WEFT_LIGHT, locker, NULL));
	await_parked(spawn_named("joiner", 0, joiner, (void *)id));
	await_parked(id);
}

static void dumps_twice(void)
{
	start_three();
	must(weft_dump(STDERR_FILENO) == 0);
	fprintf(stderr, "once more\n");
	must(weft_dump(STDERR_FILENO) == 0);
}

/* Does a line have both? */
static int line_has(const char *one, const char *other)
{
	const char *at = strstr(child.text, one);
	const char *found = at ? strstr(at, other) : NULL;

	return found && found < strchr(at, '\n');
}

static void a_dump_names_threads_waits_owners_and_functions(void)
{
	child_begin(dumps_twice);
	CU_ASSERT_FATAL(child_expect("once more"));
	for (int i = 0; i < 2; i++) {
		CU_ASSERT(child_expect(END));
		CU_ASSERT(child_said("\"sleeper\" (id "));
		CU_ASSERT(child_said("light thread \"locker\" (id "));
		CU_ASSERT(child_said(", sleeps"));
		CU_ASSERT(line_has("thread \"sleeper\" (id ",
				   " s, sleeps"));
		CU_ASSERT(child_said("joins \"sleeper\""));
		CU_ASSERT(child_said("owned by \"first\""));
		CU_ASSERT(child_said("call_sleep+"));
		CU_ASSERT(child_said("call_lock+"));
		CU_ASSERT(child_said("call_join+"));
		CU_ASSERT(child_said("dumps_twice+"));
		if (i == 0)
			child_end();	/* the rest: the second dump */
		memmove(child.text, strstr(child.text, "once more"),
			strlen(strstr(child.text, "once more")) + 1);
	}
	CU_ASSERT_EQUAL(child.status, 0);
}

static void many(void)
{
	uint64_t id[1000];

	must(weft_start(NULL) == 0);
	for (int i = 0; i < 1000; i++)
		id[i] = spawn_with(WEFT_LIGHT | WEFT_DETACHED, sleeper, NULL);
	for (int i = 0; i < 1000; i++)
		await_parked(id[i]);
	must(weft_dump(STDERR_FILENO) == 0);
}

static void many_in_one_place_are_told_of_once(void)
{
	child_begin(many);
	child_end();
	CU_ASSERT(child_said("and 999 more in the same place"));
	CU_ASSERT_EQUAL(child.status, 0);
}

static void own_handler(int signal)
{
	(void)signal;
	fprintf(stderr, "own handler\n");
}

static void has_a_handler(void)
{
	signal(SIGQUIT, own_handler);
	must(weft_start(NULL) == 0);
	raise(SIGQUIT);
	must(weft_stop() == 0);
	raise(SIGQUIT);
}

static void a_programs_own_sigquit_handler_stays(void)
{
	child_begin(has_a_handler);
	child_end();
	CU_ASSERT(child_said("own handler\nown handler\n"));
	CU_ASSERT_FALSE(child_said(END));
	CU_ASSERT_EQUAL(child.status, 0);
}

static void stops(void)
{
	must(weft_start(NULL) == 0);
	must(weft_stop() == 0);
	fprintf(stderr, "stopped\n");
	raise(SIGQUIT);
}

static void stop_gives_sigquit_back(void)
{
	child_begin(stops);
	child_end();
	CU_ASSERT(child_said("stopped"));
	CU_ASSERT(WIFSIGNALED(child.status));
	CU_ASSERT_EQUAL(WTERMSIG(child.status), SIGQUIT);
}

static void *dump_to(void *fd)
{
	must(weft_dump(*(int *)fd) == -EIO);
	return NULL;
}

/* The pipe is full after one write, and the end of the dump is another. */
static void stop_ends_a_dump_that_nobody_reads(void)
{
	pthread_t dumper;
	uint64_t id;
	int fd[2], bytes = 0;

	CU_ASSERT_FATAL(pipe(fd) == 0 && fcntl(fd[1], F_SETPIPE_SZ, 1) > 0);
	CU_ASSERT_EQUAL_FATAL(weft_start(NULL), 0);
	id = spawn(sleeper, NULL);
	must(pthread_create(&dumper, NULL, dump_to, &fd[1]) == 0);
	while (bytes == 0) {
		(void)weft_sleep(1000000);
		must(ioctl(fd[0], FIONREAD, &bytes) == 0);
	}
	CU_ASSERT_EQUAL(weft_cancel(id), 0);
	join(id);
	CU_ASSERT_EQUAL(weft_stop(), 0);
	pthread_join(dumper, NULL);
	close(fd[0]);
	close(fd[1]);
}

static struct weft_rwlock written = WEFT_RWLOCK_INIT;
static struct weft_rwlock shared = WEFT_RWLOCK_INIT;
static struct weft_once once = WEFT_ONCE_INIT;

static void *reader(void *unused)
{
	(void)weft_rwlock_read(&written);
	return unused;
}

static void *writer(void *unused)
{
	(void)weft_rwlock_write(&shared);
	return unused;
}

static int sleep_for_ever(void *unused)
{
	(void)unused;
	call_sleep();
	return 0;
}

static void *runner(void *unused)
{
	(void)weft_once(&once, sleep_for_ever, NULL);
	return unused;
}

static void parked(const char *name, void *(*fn)(void *))
{
	await_parked(spawn_named(name, 0, fn, NULL));
}

static void dumps_owners(void)
{
	must(weft_start(NULL) == 0);
	must(weft_set_name(weft_self(), "first") == 0);
	must(weft_rwlock_write(&written) == 0);
	must(weft_rwlock_read(&shared) == 0);
	parked("reads", reader);
	parked("writes", writer);
	parked("runs", runner);
	parked("waits", runner);
	must(weft_dump(STDERR_FILENO) == 0);
}

static void a_dump_tells_who_writes_and_who_runs_a_once(void)
{
	child_begin(dumps_owners);
	CU_ASSERT_FATAL(child_expect(END));
	CU_ASSERT(line_has("waits to read, for lock", "owned by \"first\""));
	CU_ASSERT(child_said("waits to write, for lock"));
	CU_ASSERT_FALSE(line_has("waits to write, for lock", "owned by"));
	CU_ASSERT(line_has("waits for once", "run by \"runs\" (id "));
	child_end();
	CU_ASSERT_EQUAL(child.status, 0);
}

static const struct test_case cases[] = {
	TEST(a_dump_names_threads_waits_owners_and_functions),
	TEST(a_dump_tells_who_writes_and_who_runs_a_once),
	TEST(many_in_one_place_are_told_of_once),
	TEST(a_programs_own_sigquit_handler_stays),
	TEST(stop_gives_sigquit_back),
	TEST(stop_ends_a_dump_that_nobody_reads),
};

TEST_MAIN("observe/dump", cases)
