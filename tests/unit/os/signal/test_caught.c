/* SPDX-License-Identifier: MIT */
/* test_caught.c - os/caught: a program's actions are kept, and its handlers not called */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "os/signal/caught.h"
#include "support.h"

static volatile sig_atomic_t theirs, came, late, handled;
static volatile int is_ours;	/* the preemption handler's to do */

static void their_handler(int signal)
{
	(void)signal;
	theirs++;
}

static int comes(siginfo_t *info, ucontext_t *uc)
{
	(void)uc;
	came = info->si_signo;
	return is_ours;
}

static void later(const siginfo_t *info)
{
	late = info->si_signo;
}

static uintptr_t place(siginfo_t *info, ucontext_t *uc, size_t bytes)
{
	(void)info;
	(void)uc;
	(void)bytes;
	return 0;
}

static void handle(int signal, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	handled = signal;
}

static const struct wefti_os_catcher catcher = { comes, later, place, handle };

static struct sigaction theirs_with(int flags)
{
	struct sigaction action = { .sa_handler = their_handler,
				    .sa_flags = flags };

	sigaddset(&action.sa_mask, SIGUSR2);
	return action;
}

static void what_is_kept_is_told_and_put_back(void)
{
	struct sigaction action = theirs_with(SA_NODEFER), now, told;

	wefti_os_catcher_set(&catcher);
	CU_ASSERT_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	sigaction(SIGUSR1, NULL, &told);
	wefti_os_catch_note(SIGUSR1, &told);
	wefti_os_catch_noted(SIGUSR1);
	sigaction(SIGUSR1, NULL, &now);
	CU_ASSERT(now.sa_handler != their_handler);
	CU_ASSERT(wefti_os_signal_has_handler(SIGUSR1, NULL));
	CU_ASSERT_EQUAL(wefti_os_caught_hides(SIGUSR1, &now), 1);
	CU_ASSERT(now.sa_handler == their_handler);
	CU_ASSERT_EQUAL(now.sa_flags, told.sa_flags);
	CU_ASSERT(sigismember(&now.sa_mask, SIGUSR2));
	action = theirs_with(SA_RESTART);
	wefti_os_catch(SIGUSR1, &action);
	wefti_os_caught_end();
	sigaction(SIGUSR1, NULL, &now);
	CU_ASSERT(now.sa_handler == their_handler);
	CU_ASSERT((now.sa_flags & (SA_RESTART | SA_NODEFER)) == SA_RESTART);
	CU_ASSERT_EQUAL(wefti_os_caught_hides(SIGUSR1, &now), 0);
}

static void a_default_that_is_caught_is_no_handler(void)
{
	const struct sigaction action = { .sa_handler = SIG_DFL };

	wefti_os_catch(SIGPIPE, &action);
	CU_ASSERT(!wefti_os_signal_has_handler(SIGPIPE, NULL));
	CU_ASSERT(!wefti_os_signal_is_ignored(SIGPIPE));
	wefti_os_caught_end();
}

static void preempt(int signal, siginfo_t *info, void *context)
{
	(void)context;
	handled = signal;
	if (!is_ours)
		wefti_os_caught_later(info);
}

static void the_catcher_says_what_is_done(void)
{
	const struct sigaction action = theirs_with(0);

	theirs = 0;
	wefti_os_catcher_set(&catcher);
	wefti_os_signal_preempt(preempt, NULL);
	wefti_os_catch(SIGUSR1, &action);
	is_ours = 0;
	raise(SIGUSR1);
	CU_ASSERT_EQUAL(came, SIGUSR1);
	CU_ASSERT_EQUAL(handled, 0);
	is_ours = 1;
	raise(SIGUSR1);
	CU_ASSERT_EQUAL(handled, SIGUSR1);
	CU_ASSERT_EQUAL(late, 0);
	CU_ASSERT_EQUAL(theirs, 0);
	/* While the handler of a preemption runs it is for later. */
	int held = wefti_os_signal_preempt_hold();

	raise(SIGUSR1);
	wefti_os_signal_preempt_let(held);
	CU_ASSERT_EQUAL(late, SIGUSR1);
	wefti_os_caught_end();
	wefti_os_signal_preempt_end();
}

/* What is read together was written together, though a handler reads it. */
#define SIGNAL	SIGRTMAX

static _Atomic int stop;

static void *change(void *unused)
{
	for (unsigned i = 0; !load_relaxed(&stop); i++) {
		struct sigaction action = { .sa_flags = i & 1 ? SA_NODEFER : 0 };

		action.sa_handler = i & 1 ? their_handler : SIG_DFL;
		if (i & 1)
			sigaddset(&action.sa_mask, SIGUSR2);
		wefti_os_catch_note(SIGNAL, &action);
	}
	return unused;
}

static void readers_see_one_action(void)
{
	pthread_t thread;
	int torn = 0;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, change, NULL), 0);
	for (long i = 0, n = (long)test_scaled(200000); i < n; i++) {
		struct sigaction a;
		int has;

		wefti_os_caught(SIGNAL, &a);
		has = a.sa_handler == their_handler;
		torn += has != (a.sa_flags == SA_NODEFER) ||
			has != sigismember(&a.sa_mask, SIGUSR2);
	}
	store_relaxed(&stop, 1);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(torn, 0);
}

static const struct test_case cases[] = {
	TEST(what_is_kept_is_told_and_put_back),
	TEST(a_default_that_is_caught_is_no_handler),
	TEST(the_catcher_says_what_is_done),
	TEST(readers_see_one_action),
};

TEST_MAIN("os/caught", cases)
