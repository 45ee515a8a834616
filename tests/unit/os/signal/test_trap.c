/* SPDX-License-Identifier: MIT */
/*
 * test_trap.c - os/trap: calls by a library's own instructions come to a function
 *
 * Where the kernel cannot do it there is no more to see than that it says so. What a
 * thread finds that has moved meanwhile is in tests/pthread/init/test_trapped.c.
 */
#include "os/signal/trap.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../module.h"
#include "lockfree/atomic.h"
#include "os/kthread/kthread.h"
#include "syscall.h"

#define MODULE	"../../pthread/libgomp-module.so"

static long (*call_raw)(long number, const long *six);

static const long given[6] = { 1, -2, 3, -4, 5, -6 };
static _Atomic unsigned calls;

/* Looks at what comes, and answers what cannot be the kernel's. */
static long take_call(long number, const long *six)
{
	fetch_add_seq_cst(&calls, 1);
	errno = ENOTTY;
	for (int i = 0; i < 6; i++)
		if (six[i] != given[i])
			return -EPROTO;
	return number == SYS_getpid ? -123 : 7;
}

static long call_there(long number)
{
	errno = 0;
	return call_raw(number, given);
}

static void have_library(void)
{
	char path[PATH_MAX];
	void *module;

	if (call_raw)
		return;
	CU_ASSERT_EQUAL_FATAL(module_path(MODULE, path, sizeof(path)), 0);
	module = dlopen(path, RTLD_NOW);
	CU_ASSERT_PTR_NOT_NULL_FATAL(module);
	call_raw = (long (*)(long, const long *))dlsym(module,
						       "weft_test_call");
}

static int is_possible(void)
{
	int error;

	have_library();
	error = wefti_os_trap_begin(take_call);

	if (error)
		printf("    not here: %s\n", strerror(-error));
	return error == 0;
}

/* This comes first. */
static void without_such_a_library_there_is_nothing(void)
{
	struct sigaction now = { .sa_flags = 1234 };

	CU_ASSERT_EQUAL(wefti_os_trap_begin(take_call), -ENOENT);
	wefti_os_trap_set(1);
	wefti_os_trap_here();
	CU_ASSERT_EQUAL(wefti_os_trap_is_set(), 0);
	CU_ASSERT_EQUAL(wefti_os_trap_action(&now), 0);
	CU_ASSERT_EQUAL(now.sa_flags, 1234);
	CU_ASSERT_EQUAL(wefti_os_trap_end(), 0);

	have_library();
	CU_ASSERT_EQUAL(call_there(SYS_getpid), getpid());
}

static void its_calls_come_to_the_function(void)
{
	if (!is_possible())
		return;
	store_seq_cst(&calls, 0);
	CU_ASSERT_EQUAL(wefti_os_trap_is_set(), 1);
	CU_ASSERT_EQUAL(call_there(SYS_getpid), -123);
	CU_ASSERT_EQUAL(call_there(100000), 7);
	CU_ASSERT_EQUAL(errno, 0);
	CU_ASSERT_EQUAL(load_seq_cst(&calls), 2);

	/* libc's do not, and ours do not. */
	CU_ASSERT_EQUAL(syscall(SYS_getpid), getpid());
	CU_ASSERT_EQUAL(wefti_arch_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0),
			getpid());
	CU_ASSERT_EQUAL(load_seq_cst(&calls), 2);

	wefti_os_trap_set(0);
	CU_ASSERT_EQUAL(wefti_os_trap_is_set(), 0);
	CU_ASSERT_EQUAL(call_there(SYS_getpid), getpid());
	wefti_os_trap_set(1);
	CU_ASSERT_EQUAL(call_there(SYS_getpid), -123);

	CU_ASSERT_EQUAL(wefti_os_trap_end(), 1);
	CU_ASSERT_EQUAL(wefti_os_trap_is_set(), 0);
	wefti_os_trap_set(1);
	CU_ASSERT_EQUAL(wefti_os_trap_is_set(), 0);
	CU_ASSERT_EQUAL(call_there(SYS_getpid), getpid());
	CU_ASSERT_EQUAL(wefti_os_trap_end(), 0);
}

static void *call_before_and_after(void *result)
{
	long *answers = result;

	answers[0] = call_there(SYS_getpid);
	wefti_os_trap_here();
	answers[1] = call_there(SYS_getpid);
	return NULL;
}

static void each_kernel_thread_asks_for_itself(void)
{
	long answers[2] = { 0, 0 };
	pthread_t thread;

	if (!is_possible())
		return;
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL,
					     call_before_and_after, answers),
			      0);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(answers[0], getpid());
	CU_ASSERT_EQUAL(answers[1], -123);
	CU_ASSERT_EQUAL(wefti_os_trap_end(), 1);
}

static volatile int caught;

static void catch(int signal)
{
	caught = signal;
}

static void the_program_has_the_signal_first(void)
{
	struct sigaction now;

	have_library();
	signal(SIGSYS, catch);
	CU_ASSERT_EQUAL(wefti_os_trap_begin(take_call), -EBUSY);
	CU_ASSERT_EQUAL(call_there(SYS_getpid), getpid());
	signal(SIGSYS, SIG_IGN);
	if (is_possible()) {
		CU_ASSERT_EQUAL(wefti_os_trap_action(&now), 1);
		CU_ASSERT_PTR_EQUAL((void *)now.sa_handler, (void *)SIG_IGN);
		raise(SIGSYS);
		CU_ASSERT_EQUAL(call_there(SYS_getpid), -123);
		CU_ASSERT_EQUAL(wefti_os_trap_end(), 1);
	}
	sigaction(SIGSYS, NULL, &now);
	CU_ASSERT_PTR_EQUAL((void *)now.sa_handler, (void *)SIG_IGN);
	signal(SIGSYS, SIG_DFL);
}

static void what_others_send_ends_the_program(void)
{
	int status = 0;
	pid_t child;

	if (!is_possible())
		return;
	child = fork();
	if (child == 0) {
		raise(SIGSYS);
		_exit(1);
	}
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	CU_ASSERT_EQUAL(call_there(SYS_getpid), -123);
	CU_ASSERT_EQUAL(wefti_os_trap_end(), 1);
}

static void a_child_has_to_ask_again(void)
{
	int status = 0;
	pid_t child;

	if (!is_possible())
		return;
	child = fork();
	if (child == 0) {
		int good = call_there(SYS_getpid) == getpid();

		wefti_os_trap_here();
		good += call_there(SYS_getpid) == -123;
		good += wefti_os_trap_end();
		good += wefti_os_trap_begin(take_call) == 0;
		good += call_there(SYS_getpid) == -123;
		_exit(good);
	}
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	CU_ASSERT_EQUAL(wefti_os_trap_end(), 1);
}

/* --- the signal is the program's while others call ----------------- */

#define CALLERS	3
#define ROUNDS	test_scaled(400)

static _Atomic uint32_t are_here, is_over, late;

static void *call_on_and_on(void *unused)
{
	(void)unused;
	wefti_os_trap_here();
	fetch_add_seq_cst(&are_here, 1);
	while (!load_seq_cst(&is_over)) {
		call_there(SYS_getpid);
#ifdef __SANITIZE_THREAD__
		usleep(1);	/* signals come in libc's calls alone */
#endif
	}
	return NULL;
}

static void be_late(int signal)
{
	fetch_add_seq_cst(&late, signal == SIGSYS);
}

static void on_preempt(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
}

static void no_call_comes_late(void)
{
	pthread_t callers[CALLERS];

	wefti_os_signal_preempt(on_preempt, NULL);
	for (size_t i = 0; i < ROUNDS && is_possible(); i++) {
		store_seq_cst(&are_here, 0);
		store_seq_cst(&is_over, 0);
		for (int j = 0; j < CALLERS; j++)
			pthread_create(&callers[j], NULL, call_on_and_on, NULL);
		while (load_seq_cst(&are_here) < CALLERS)
			wefti_os_yield();
		for (size_t j = 0; j < i % 50; j++)
			wefti_os_trap_set(j % 4 != 0);
		CU_ASSERT_EQUAL(wefti_os_trap_end(), 1);
		signal(SIGSYS, be_late);
		store_seq_cst(&is_over, 1);
		for (int j = 0; j < CALLERS; j++)
			pthread_join(callers[j], NULL);
		signal(SIGSYS, SIG_DFL);
	}
	CU_ASSERT_EQUAL(load_seq_cst(&late), 0);
	wefti_os_signal_preempt_end();
}

static const struct test_case cases[] = {
	TEST(without_such_a_library_there_is_nothing),
	TEST(its_calls_come_to_the_function),
	TEST(each_kernel_thread_asks_for_itself),
	TEST(the_program_has_the_signal_first),
	TEST(what_others_send_ends_the_program),
	TEST(a_child_has_to_ask_again),
	TEST(no_call_comes_late),
};

TEST_MAIN("os/trap", cases)
