/* SPDX-License-Identifier: MIT */
/*
 * test_crash.c - observe/crash: a crash names its thread, and goes on as it would have
 *
 * Each scenario is a process. Overflows: test_overflow.c, test_deadlock.c.
 */
#include "observe/crash.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "child.h"

/* The kernel's mark on the faults that a test can only send itself. */
static void meet(int number, int code)
{
	siginfo_t info = { .si_signo = number, .si_code = code };

	/* A handler that returns has restored the default. */
	for (int i = 0; i < 2; i++)
		must(syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid),
			     number, &info) == 0);
}

NOINLINE static void touch_nowhere(void)
{
	/* Not NULL, which a sanitizer sees before it happens. */
	volatile int *volatile nowhere = (volatile int *)64;

	*nowhere = 1;
}

static void crash(int signal)
{
	const int fd = signal == SIGBUS ? memfd_create("empty", 0) : -1;
	volatile char *p;

	switch (signal) {
	case SIGSEGV:
		touch_nowhere();
		break;
	case SIGBUS:
		p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		must((void *)p != MAP_FAILED);
		(void)*p;
		break;
	case SIGABRT:
		abort();
	default:
		meet(signal, signal == SIGFPE ? FPE_INTDIV : ILL_ILLOPC);
	}
}

static int number;		/* the signal of the scenario */
static unsigned flags;

static void *crashes(void *unused)
{
	crash(number);
	return unused;
}

static void in_a_thread(void)
{
	const struct weft_attr attr = { .name = "deep", .flags = flags };
	uint64_t id = 0;

	must(weft_start(NULL) == 0);
	must(weft_spawn(&id, &attr, crashes, NULL) == 0);
	(void)!weft_join(id, NULL);
}

static void in_the_first_thread(void)
{
	must(weft_start(NULL) == 0);
	crash(number);
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

static int is_one_line(void)
{
	return child.used > 0 && strchr(child.text, '\n') == child.text + child.used - 1;
}

static const struct {
	int number;
	const char *begin;	/* of the line */
} signals[] = {
	{ SIGSEGV, "weft: SIGSEGV at address 0x40 in " },
	{ SIGBUS, "weft: SIGBUS at address 0x" },
	{ SIGFPE, "weft: SIGFPE in " },
	{ SIGILL, "weft: SIGILL in " },
	{ SIGABRT, "weft: SIGABRT in " },
};

#define SIGNALS	(sizeof(signals) / sizeof(*signals))

static void expect_line(void (*scenario)(void), size_t i, const char *who)
{
	number = signals[i].number;
	run(scenario);
	CU_ASSERT_TRUE(is_killed_by(number));
	CU_ASSERT_PTR_EQUAL(strstr(child.text, signals[i].begin), child.text);
	CU_ASSERT_TRUE(child_said(who));
	CU_ASSERT_TRUE(is_one_line());
	if (number == SIGSEGV)
		CU_ASSERT_TRUE(child_said("), in touch_nowhere+0x"));
}

static void a_crash_names_its_thread_and_then_kills(void)
{
	for (size_t i = 0; i < SIGNALS; i++) {
		flags = i & 1 ? WEFT_LIGHT : 0;
		expect_line(in_a_thread, i, " in thread \"deep\" (id ");
		expect_line(in_the_first_thread, i, " in the first thread (id ");
	}
}

static void *named_late(void *unused)
{
	must(weft_set_name(weft_self(), "a \"later\" name") == 0);
	return crashes(unused);
}

static void is_named_late(void)
{
	uint64_t id = 0;

	must(weft_start(NULL) == 0);
	must(weft_spawn(&id, NULL, named_late, NULL) == 0);
	(void)!weft_join(id, NULL);
}

static void a_name_that_came_later_is_the_one(void)
{
	expect_line(is_named_late, 0, "in thread \"a \"later\" name\" (id ");
}

static void on_signal(int signal)
{
	_exit(signal == number ? 7 : 8);
}

static void has_a_handler(void)
{
	signal(number, on_signal);
	in_a_thread();
}

static void gets_a_handler(void)
{
	must(weft_start(NULL) == 0);
	signal(number, on_signal);
	crash(number);
}

static void a_programs_handler_is_called_and_nothing_is_said(void)
{
	for (size_t i = 0; i < SIGNALS; i++) {
		number = signals[i].number;
		run(has_a_handler);
		CU_ASSERT_EQUAL(child.used, 0);
		CU_ASSERT_TRUE(WIFEXITED(child.status) &&
			       WEXITSTATUS(child.status) == 7);
		run(gets_a_handler);
		CU_ASSERT_EQUAL(child.used, 0);
		CU_ASSERT_TRUE(WIFEXITED(child.status) &&
			       WEXITSTATUS(child.status) == 7);
	}
}

static void is_sent_one(void)
{
	must(weft_start(NULL) == 0);
	kill(getpid(), number);
	for (;;)
		(void)weft_sleep(INT64_C(1000000000));
}

static void stops_before(void)
{
	must(weft_start(NULL) == 0);
	must(weft_stop() == 0);
	crash(number);
}

static void *crashes_outside(void *unused)
{
	crash(number);
	return unused;
}

static void crashes_on_its_own_kernel_thread(void)
{
	pthread_t t;

	must(weft_start(NULL) == 0);
	must(pthread_create(&t, NULL, crashes_outside, NULL) == 0);
	for (;;)
		(void)weft_sleep(INT64_C(1000000000));
}

static void asks_for_less(void)
{
	wefti_crash_level = WEFTI_LOG_INFO;
	in_a_thread();
}

/* And the status is as without weft. */
static void nothing_is_said_where_no_thread_is_to_be_named(void)
{
	void (*const scenarios[])(void) = {
		is_sent_one, stops_before, crashes_on_its_own_kernel_thread,
		asks_for_less,
	};

	for (size_t i = 0; i < SIGNALS; i++)
		for (size_t k = 0; k < sizeof(scenarios) / sizeof(*scenarios); k++) {
			number = signals[i].number;
			run(scenarios[k]);
			CU_ASSERT_EQUAL(child.used, 0);
			CU_ASSERT_TRUE(is_killed_by(number));
		}
}

static struct weft_mutex mutex;
static struct weft_rwlock rwlock;
static struct weft_sem asked;

static void *wait_for_the_mutex(void *unused)
{
	(void)weft_sem_post(&asked);
	must(weft_mutex_lock(&mutex) == 0);
	return unused;
}

static void *wait_for_the_lock(void *unused)
{
	(void)weft_sem_post(&asked);
	must(weft_rwlock_read(&rwlock) == 0);
	return unused;
}

static int is_waited_for(unsigned waiters)
{
	unsigned n = 0;

	for (uint32_t i = 1; i < wefti_slot_limit(); i++) {
		struct wefti_view view;

		wefti_view_slot(i, &view);
		n += view.state == WEFTI_VIEW_PARKED &&
		     (view.why == WEFTI_WHY_MUTEX || view.why == WEFTI_WHY_READ_LOCK);
	}
	return n == waiters;
}

static void *owns_and_crashes(void *unused)
{
	uint64_t id;

	must(weft_mutex_lock(&mutex) == 0);
	must(weft_rwlock_write(&rwlock) == 0);
	for (int i = 0; i < 3; i++) {
		must(weft_spawn(&id, NULL, i ? wait_for_the_mutex : wait_for_the_lock,
				NULL) == 0);
		must(weft_sem_wait(&asked) == 0);
	}
	while (!is_waited_for(3))
		(void)weft_yield();
	return crashes(unused);
}

static void owns_locks(void)
{
	uint64_t id = 0;

	must(weft_start(NULL) == 0);
	must(weft_spawn(&id, NULL, owns_and_crashes, NULL) == 0);
	(void)!weft_join(id, NULL);
}

static void locks_for_which_others_wait_are_told(void)
{
	char line[80];

	number = SIGABRT;
	run(owns_locks);
	CU_ASSERT_TRUE(is_killed_by(number));
	CU_ASSERT_PTR_EQUAL(strstr(child.text, "weft: SIGABRT in "), child.text);
	snprintf(line, sizeof(line), "weft: it owns mutex %p, for which 2 threads wait\n",
		 (void *)&mutex);
	CU_ASSERT_TRUE(child_said(line));
	snprintf(line, sizeof(line), "weft: it owns lock %p, for which 1 thread waits\n",
		 (void *)&rwlock);
	CU_ASSERT_TRUE(child_said(line));
}

static const struct test_case cases[] = {
	TEST(a_crash_names_its_thread_and_then_kills),
	TEST(a_name_that_came_later_is_the_one),
	TEST(a_programs_handler_is_called_and_nothing_is_said),
	TEST(locks_for_which_others_wait_are_told),
	TEST(nothing_is_said_where_no_thread_is_to_be_named),
};

TEST_MAIN("observe/crash", cases)
