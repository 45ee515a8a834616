/* SPDX-License-Identifier: MIT */
/* Tests of the deadlock report and of stack overflows, each in a process. */
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "child.h"
#include "syscall.h"
#include "support.h"

static struct weft_mutex first = WEFT_MUTEX_INIT, second = WEFT_MUTEX_INIT;

static _Atomic int have_one;

static void await_other(void)
{
	fetch_add_seq_cst(&have_one, 1);
	while (load_seq_cst(&have_one) < 2)
		rest();
}

static void *one(void *unused)
{
	weft_mutex_lock(&first);
	await_other();
	weft_mutex_lock(&second);
	return unused;
}

static void *two(void *unused)
{
	weft_mutex_lock(&second);
	await_other();
	weft_mutex_lock(&first);
	return unused;
}

static void lock_each_other(void)
{
	uint64_t id;

	must(weft_start(NULL) == 0);
	fprintf(stderr, "%p %p\n", (void *)&first, (void *)&second);
	id = spawn_named("one", 0, one, NULL);
	spawn_named("two", 0, two, NULL);
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

static void parks_on(void)
{
	setenv("WEFT_DEADLOCK", "off", 1);
	lock_each_other();
}

/* For as long as three reports took, all that it says is where the mutexes are. */
static void a_deadlock_can_be_left_alone(void)
{
	int64_t from = weft_clock(), took;

	child_begin(only_reports);
	CU_ASSERT(child_expect("weft: end of dump"));
	took = weft_clock() - from;
	child_kill();
	child_begin(parks_on);
	CU_ASSERT(child_expect("\n"));
	usleep((useconds_t)(3 * took / 1000));
	CU_ASSERT_EQUAL(waitpid(child.pid, &child.status, WNOHANG), 0);
	child_kill();
	CU_ASSERT_FALSE(child_said("weft:"));
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
	spawn_named("blocked", 0, blocked, NULL);
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

static void expect_overflow(void (*scenario)(void), const char *who,
			    const char *size)
{
	child_begin(scenario);
	child_end();
	CU_ASSERT(child_said(who));
	CU_ASSERT(child_said(size));
	/* In one line, and nothing else is said. */
	CU_ASSERT_PTR_EQUAL(strstr(child.text, "weft:"), child.text);
	CU_ASSERT_PTR_EQUAL(strchr(child.text, '\n'),
			    child.text + child.used - 1);
	CU_ASSERT(WIFSIGNALED(child.status));
	CU_ASSERT_EQUAL(WTERMSIG(child.status), SIGSEGV);
}

static void an_overflow_is_named_and_then_kills(void)
{
	for (int light = 0; light < 2; light++) {
		overflow_flags = light ? WEFT_LIGHT : 0;
		expect_overflow(overflow, "weft: stack overflow in thread "
				"\"deep\" (id ", "stack of 64 KiB");
	}
}

static void on_usr1(int signal)
{
	(void)signal;
}

/* Until less is left than the frame of a signal takes on any machine. */
NOINLINE static int nearly_full(int n)
{
	volatile char room[64];

	room[0] = (char)n;
	if ((uintptr_t)room - (uintptr_t)wefti_self()->cold->stack_low < 900)
		wefti_arch_syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1, 0,
				   0, 0);
	else
		n = nearly_full(n + 1);
	return n + room[0];
}

static void *is_sent_a_signal(void *unused)
{
	nearly_full(1);
	return unused;
}

static void no_room_for_a_signal(void)
{
	const struct weft_attr attr = { .name = "full" };
	uint64_t id = 0;

	must(weft_start(NULL) == 0);
	signal(SIGUSR1, on_usr1);
	must(weft_spawn(&id, &attr, is_sent_a_signal, NULL) == 0);
	(void)!weft_join(id, NULL);
	_exit(3);
}

static void a_signal_without_room_is_an_overflow_too(void)
{
	expect_overflow(no_room_for_a_signal, "weft: stack overflow in thread "
			"\"full\" (id ", "stack of 64 KiB");
}

/* Its limit is in force when the stack grows, not only when it was made. */
static void start_with_little_stack(void)
{
	struct rlimit limit;

	must(getrlimit(RLIMIT_STACK, &limit) == 0);
	limit.rlim_cur = 1 << 20;
	must(setrlimit(RLIMIT_STACK, &limit) == 0);
	must(weft_start(NULL) == 0);
}

static void first_overflows(void)
{
	start_with_little_stack();
	deep(1);
}

static void first_overflows_with_a_name(void)
{
	start_with_little_stack();
	must(weft_set_name(weft_self(), "deep") == 0);
	for (int i = 0; i < 100; i++)	/* perhaps on another kernel thread */
		(void)weft_sleep(10000);
	deep(1);
}

/* A frame that jumps over the end of the stack, as far as the kernel's gap. */
NOINLINE static int wide(int n, volatile char *above)
{
	volatile char room[700 << 10];

	/* `above` is used, so that no compiler makes a loop of it. */
	room[0] = (char)(n + above[0]);
	return n == 0 ? above[0] : wide(n - 1, room) + room[0];
}

static void first_overflows_in_one_step(void)
{
	volatile char top[1] = { 0 };

	start_with_little_stack();
	wide(1, top);
}

static void an_overflow_of_the_first_thread_is_named_too(void)
{
	expect_overflow(first_overflows, "weft: stack overflow in the first "
			"thread (id ", "stack of 1024 KiB");
	expect_overflow(first_overflows_with_a_name, "weft: stack overflow in "
			"the first thread \"deep\" (id ", "stack of 1024 KiB");
	expect_overflow(first_overflows_in_one_step, "weft: stack overflow in "
			"the first thread (id ", "stack of 1024 KiB");
}

/* Not the stack's end, though it lies there. */
static void first_reads_below_its_stack(void)
{
	volatile char *low;

	start_with_little_stack();
	low = (volatile char *)wefti_rt.main->cold->stack_low;
	(void)low[-8192];
}

static void first_calls_its_stack(void)
{
	char text[16] = { 0 };
	void (*volatile fn)(void);
	void *at = text;

	must(weft_start(NULL) == 0);
	memcpy((void *)&fn, &at, sizeof(at));
	fn();
}

static void expect_bare_fault(void (*scenario)(void))
{
	child_begin(scenario);
	child_end();
	CU_ASSERT_FALSE(child_said("overflow"));
	CU_ASSERT(WIFSIGNALED(child.status));
	CU_ASSERT_EQUAL(WTERMSIG(child.status), SIGSEGV);
}

static void a_fault_near_the_first_threads_stack_is_no_overflow(void)
{
	expect_bare_fault(first_reads_below_its_stack);
	expect_bare_fault(first_calls_its_stack);
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
	TEST(a_deadlock_can_be_left_alone),
	TEST(a_foreign_thread_can_wake),
	TEST(a_timer_can_wake),
	TEST(a_signal_handler_can_wake),
	TEST(a_thread_blocked_in_the_kernel_can_wake),
	TEST(an_overflow_is_named_and_then_kills),
	TEST(a_signal_without_room_is_an_overflow_too),
	TEST(an_overflow_of_the_first_thread_is_named_too),
	TEST(a_fault_near_the_first_threads_stack_is_no_overflow),
	TEST(other_faults_go_to_the_programs_handler),
};

TEST_MAIN("observe/deadlock", cases)
