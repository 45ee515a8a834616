/* SPDX-License-Identifier: MIT */
/*
 * test_overflow.c - observe/overflow: which thread a fault belongs to, and
 * which handler gets it
 *
 * Without a runtime; each scenario is a process. Overflows of threads that run:
 * test_deadlock.c.
 */
#include "observe/overflow.h"

#include <signal.h>
#include <sys/mman.h>

#include "child.h"
#include "cpu.h"
#include "mem/stack.h"
#include "thread/bare.h"

/* Where the fault is to be. */
static volatile char *at;

static void run(void (*scenario)(void))
{
	child_begin(scenario);
	child_end();
}

static int is_killed_by(int signal)
{
	return WIFSIGNALED(child.status) && WTERMSIG(child.status) == signal;
}

static int exits_with(int code)
{
	return WIFEXITED(child.status) && WEXITSTATUS(child.status) == code;
}

static struct wefti_stack guarded(void)
{
	struct wefti_stack s;

	must(wefti_stack_alloc(64 * 1024, 4096, &s) == 0);
	at = (char *)s.low - 1;
	return s;
}

static void touches_a_strangers_guard(void)
{
	guarded();
	wefti_overflow_start();
	*at = 1;
}

/* As the thread whose stack is noted, though on another one. */
static void be_a_thread(const struct wefti_stack *stack)
{
	static struct wefti_cold cold = { .name = "deep" };
	struct wefti_thread *t = wefti_thread_bare(WEFTI_KIND_GREEN, &cold);

	must(t != NULL);
	cold.stack = *stack;
	wefti_thread_begins(t, WEFTI_JOIN_NONE);
	wefti_self_set(t);
}

static void touches_its_own_guard(void)
{
	struct wefti_stack s = guarded();

	be_a_thread(&s);
	wefti_overflow_start();
	*at = 1;
}

static void touches_another_threads_guard(void)
{
	struct wefti_stack s = guarded();

	be_a_thread(&s);
	touches_a_strangers_guard();
}

static void a_guard_is_told_of_by_whose_it_is(void)
{
	run(touches_a_strangers_guard);
	CU_ASSERT_STRING_EQUAL(child.text, "weft: fault in the guard of a "
			       "thread's stack of 64 KiB, not by that thread\n");
	CU_ASSERT_TRUE(is_killed_by(SIGSEGV));
	run(touches_another_threads_guard);
	CU_ASSERT_TRUE(child_said("64 KiB, not by that thread\n"));
	CU_ASSERT_FALSE(child_said("deep"));
	run(touches_its_own_guard);
	CU_ASSERT_TRUE(child_said("weft: stack overflow in thread \"deep\" "
				  "(id "));
	CU_ASSERT_TRUE(child_said("its stack of 64 KiB is full"));
	CU_ASSERT_TRUE(is_killed_by(SIGSEGV));
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)context;
	_exit(info->si_addr == at || info->si_code <= 0 ?
	      signal == SIGBUS ? 7 : 8 : 9);
}

static void on_other_signal(int signal, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	_exit(10 + signal);
}

static void handle(int signal, void (*fn)(int, siginfo_t *, void *))
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };

	action.sa_sigaction = fn;
	must(sigaction(signal, &action, NULL) == 0);
}

static void overflow_with_a_handler(void)
{
	handle(SIGSEGV, on_signal);
	handle(SIGBUS, on_other_signal);
	touches_a_strangers_guard();
}

static void an_overflow_goes_to_the_programs_handler_after_its_line(void)
{
	run(overflow_with_a_handler);
	CU_ASSERT_TRUE(child_said("weft: fault in the guard"));
	CU_ASSERT_TRUE(exits_with(8));
}

/* Sent, not met: the address in the signal is none. */
static void sends_itself_one(void)
{
	guarded();
	wefti_overflow_start();
	raise(SIGSEGV);
}

static void is_sent_one_and_has_a_handler(void)
{
	handle(SIGSEGV, on_signal);
	sends_itself_one();
}

static void a_signal_that_was_sent_is_no_overflow(void)
{
	run(sends_itself_one);
	CU_ASSERT_EQUAL(child.used, 0);
	CU_ASSERT_TRUE(is_killed_by(SIGSEGV));
	run(is_sent_one_and_has_a_handler);
	CU_ASSERT_EQUAL(child.used, 0);
	CU_ASSERT_TRUE(exits_with(8));
}

static void ignores_and_touches(void)
{
	signal(SIGSEGV, SIG_IGN);
	touches_a_strangers_guard();
}

static void ignores_and_is_sent_one(void)
{
	signal(SIGSEGV, SIG_IGN);
	sends_itself_one();
	_exit(5);
}

/*
 * A fault kills a process that ignores it; a signal that was sent is nothing.
 */
static void a_process_that_ignores_faults_is_killed_by_them(void)
{
	run(ignores_and_touches);
	CU_ASSERT_TRUE(child_said("weft: fault in the guard"));
	CU_ASSERT_PTR_EQUAL(strchr(child.text, '\n'),	/* once */
			    child.text + child.used - 1);
	CU_ASSERT_TRUE(is_killed_by(SIGSEGV));
	run(ignores_and_is_sent_one);
	CU_ASSERT_EQUAL(child.used, 0);
	CU_ASSERT_TRUE(exits_with(5));
}

/* Behind the end of a file. */
static void reads_behind_a_file(void)
{
	int fd = memfd_create("empty", 0);

	at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	must((void *)at != MAP_FAILED);
	wefti_overflow_start();
	(void)*at;
}

static void reads_behind_a_file_and_has_a_handler(void)
{
	handle(SIGSEGV, on_other_signal);
	handle(SIGBUS, on_signal);
	reads_behind_a_file();
}

static void a_bus_error_goes_where_bus_errors_went(void)
{
	run(reads_behind_a_file);
	CU_ASSERT_EQUAL(child.used, 0);
	CU_ASSERT_TRUE(is_killed_by(SIGBUS));
	run(reads_behind_a_file_and_has_a_handler);
	CU_ASSERT_EQUAL(child.used, 0);
	CU_ASSERT_TRUE(exits_with(7));
}

static int is_handled_by(int signal, void (*fn)(int, siginfo_t *, void *))
{
	struct sigaction action;

	must(sigaction(signal, NULL, &action) == 0);
	return action.sa_sigaction == fn;
}

/* One that was there before, and one that came while ours was there. */
static void starts_and_stops(void)
{
	handle(SIGSEGV, on_signal);
	wefti_overflow_start();
	must(!is_handled_by(SIGSEGV, on_signal));
	wefti_overflow_stop();
	must(is_handled_by(SIGSEGV, on_signal));
	must(is_handled_by(SIGBUS, (void (*)(int, siginfo_t *, void *))NULL));

	wefti_overflow_start();
	handle(SIGSEGV, on_other_signal);
	wefti_overflow_stop();
	must(is_handled_by(SIGSEGV, on_other_signal));

	/* And from then on nothing is said. */
	guarded();
	*at = 1;
}

static void stop_gives_back_what_was_there_and_takes_nothing_else(void)
{
	run(starts_and_stops);
	CU_ASSERT_STRING_EQUAL(child.text, "");
	CU_ASSERT_TRUE(exits_with(10 + SIGSEGV));
}

static const struct test_case cases[] = {
	TEST(a_guard_is_told_of_by_whose_it_is),
	TEST(an_overflow_goes_to_the_programs_handler_after_its_line),
	TEST(a_signal_that_was_sent_is_no_overflow),
	TEST(a_process_that_ignores_faults_is_killed_by_them),
	TEST(a_bus_error_goes_where_bus_errors_went),
	TEST(stop_gives_back_what_was_there_and_takes_nothing_else),
};

TEST_MAIN("observe/overflow", cases)
