/* SPDX-License-Identifier: MIT */
/* Tests of the deadlock report and of stack overflows, each in a process. */
#include <pthread.h>

#include "child.h"
#include "support.h"

static struct weft_mutex first = WEFT_MUTEX_INIT, second = WEFT_MUTEX_INIT;

static void *one(void *unused)
{
	weft_mutex_lock(&first);
	(void)weft_sleep(10000000);
	weft_mutex_lock(&second);
	return unused;
}

static void *two(void *unused)
{
	weft_mutex_lock(&second);
	(void)weft_sleep(10000000);
	weft_mutex_lock(&first);
	return unused;
}

static uint64_t named(const char *name, void *(*fn)(void *))
{
	const struct weft_attr attr = { .name = name };
	uint64_t id = 0;

	must(weft_spawn(&id, &attr, fn, NULL) == 0);
	return id;
}

static void lock_each_other(void)
{
	uint64_t id;

	must(weft_start(NULL) == 0);
	fprintf(stderr, "%p %p\n", (void *)&first, (void *)&second);
	id = named("one", one);
	named("two", two);
	(void)!weft_join(id, NULL);
}

static void a_deadlock_is_reported_and_ends_the_program_with_2(void)
{
	char mutex[2][64];

	child_begin(lock_each_other);
	child_end();
	CU_ASSERT(child_said("weft: deadlock: all 3 threads are parked and "
			     "nothing can wake one\n"));
	snprintf(mutex[0], 64, "waits for mutex %p, owned by \"two\"",
		 (void *)&second);
	snprintf(mutex[1], 64, "waits for mutex %p, owned by \"one\"",
		 (void *)&first);
	CU_ASSERT(child_said(mutex[0]));
	CU_ASSERT(child_said(mutex[1]));
	CU_ASSERT(child_said("waits for itself through: \"one\""));
	CU_ASSERT(WIFEXITED(child.status));
	CU_ASSERT_EQUAL(WEXITSTATUS(child.status), 2);
}

static void only_reports(void)
{
	setenv("WEFT_DEADLOCK", "report", 1);
	lock_each_other();
}

static void a_deadlock_can_be_reported_without_an_end(void)
{
	child_begin(only_reports);
	CU_ASSERT(child_expect("weft: end of dump"));
	CU_ASSERT_EQUAL(waitpid(child.pid, &child.status, WNOHANG), 0);
	child_kill();
}

/* Each of these looks like a deadlock for a while, and ends with 0. */

static struct weft_sem sem = WEFT_SEM_INIT;

static void *foreign(void *unused)
{
	usleep(200000);
	weft_sem_post(&sem);
	return unused;
}

static void foreign_wakes(void)
{
	pthread_t thread;

	must(weft_start(NULL) == 0);
	must(pthread_create(&thread, NULL, foreign, NULL) == 0);
	must(weft_sem_wait(&sem) == 0);
}

static void timer_wakes(void)
{
	must(weft_start(NULL) == 0);
	must(weft_sem_wait_until(&sem, weft_clock() + 200000000) ==
	     -ETIMEDOUT);
}

static void on_alarm(int signal)
{
	(void)signal;
	_exit(0);	/* or whatever a handler can do */
}

static void handler_wakes(void)
{
	signal(SIGALRM, on_alarm);
	must(weft_start(NULL) == 0);
	ualarm(200000, 0);
	must(weft_sem_wait(&sem) == 0);
}

static void *blocked(void *unused)
{
	usleep(200000);
	weft_sem_post(&sem);
	return unused;
}

static void blocked_wakes(void)
{
	must(weft_start(NULL) == 0);
	named("blocked", blocked);
	must(weft_sem_wait(&sem) == 0);
}

static void expect_no_report(void (*scenario)(void))
{
	child_begin(scenario);
	child_end();
	CU_ASSERT_FALSE(child_said("deadlock"));
	CU_ASSERT_EQUAL(child.status, 0);
}

static void a_foreign_thread_can_wake(void)
{
	expect_no_report(foreign_wakes);
}

static void a_timer_can_wake(void)
{
	expect_no_report(timer_wakes);
}

static void a_signal_handler_can_wake(void)
{
	expect_no_report(handler_wakes);
}

static void a_thread_blocked_in_the_kernel_can_wake(void)
{
	expect_no_report(blocked_wakes);
}

NOINLINE static int deep(int n)
{
	volatile char room[512];

	room[0] = (char)n;
	return n < 0 ? 0 : deep(n + 1) + room[0];
}

static void *overflows(void *unused)
{
	deep(1);
	return unused;
}

static unsigned overflow_flags;

static void overflow(void)
{
	const struct weft_attr attr = {
		.name = "deep", .flags = overflow_flags
	};
	uint64_t id = 0;

	must(weft_start(NULL) == 0);
	must(weft_spawn(&id, &attr, overflows, NULL) == 0);
	(void)!weft_join(id, NULL);
}

static void an_overflow_is_named_and_then_kills(void)
{
	for (int light = 0; light < 2; light++) {
		overflow_flags = light ? WEFT_LIGHT : 0;
		child_begin(overflow);
		child_end();
		CU_ASSERT(child_said("weft: stack overflow in thread "
				     "\"deep\" (id "));
		CU_ASSERT(child_said("stack of 64 KiB"));
		/* In one line, and nothing else is said. */
		CU_ASSERT_PTR_EQUAL(strstr(child.text, "weft:"), child.text);
		CU_ASSERT_PTR_EQUAL(strchr(child.text, '\n'),
				    child.text + child.used - 1);
		CU_ASSERT(WIFSIGNALED(child.status));
		CU_ASSERT_EQUAL(WTERMSIG(child.status), SIGSEGV);
	}
}

static void on_segv(int signal)
{
	(void)signal;
	_exit(7);
}

static void own_fault(void)
{
	/* Not NULL, which a sanitizer sees before it happens. */
	volatile int *volatile nowhere = (volatile int *)64;

	signal(SIGSEGV, on_segv);
	must(weft_start(NULL) == 0);
	*nowhere = 1;
}

static void other_faults_go_to_the_programs_handler(void)
{
	child_begin(own_fault);
	child_end();
	CU_ASSERT_FALSE(child_said("overflow"));
	CU_ASSERT_EQUAL(WEXITSTATUS(child.status), 7);
}

static const struct test_case cases[] = {
	TEST(a_deadlock_is_reported_and_ends_the_program_with_2),
	TEST(a_deadlock_can_be_reported_without_an_end),
	TEST(a_foreign_thread_can_wake),
	TEST(a_timer_can_wake),
	TEST(a_signal_handler_can_wake),
	TEST(a_thread_blocked_in_the_kernel_can_wake),
	TEST(an_overflow_is_named_and_then_kills),
	TEST(other_faults_go_to_the_programs_handler),
};

TEST_MAIN("observe/deadlock", cases)
