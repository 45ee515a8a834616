/* SPDX-License-Identifier: MIT */
/* test_note.c - the handlers of notes are those that were asked for last */
#include <signal.h>
#include <stdlib.h>

#include "support.h"

static int between(int number, const struct sigaction *new,
		   struct sigaction *old);

/* The calls of note.c are the test's. */
#define sigaction(number, new, old)	between(number, new, old)
#include "../../../plan9/note.c"
#undef sigaction

static int is_racing;

static int takes(void *unused, char *note)
{
	(void)unused;
	(void)note;
	return 1;
}

/* Between what notify() has found and what it does, another thread adds a function. */
static int between(int number, const struct sigaction *new,
		   struct sigaction *old)
{
	if (is_racing) {
		is_racing = 0;
		CU_ASSERT(weft_plan9_atnotify(takes, 1) == 1);
	}
	return sigaction(number, new, old);
}

static int is_handled(int number)
{
	struct sigaction now;

	return sigaction(number, NULL, &now) == 0 && now.sa_handler == handle;
}

static void does_nothing(void *unused, char *note)
{
	(void)unused;
	(void)note;
}

static void a_function_that_comes_while_the_last_goes_is_called(void)
{
	CU_ASSERT(weft_plan9_notify(does_nothing) == 0);
	CU_ASSERT(is_handled(SIGHUP) && is_handled(SIGPIPE));
	is_racing = 1;
	CU_ASSERT(weft_plan9_notify(NULL) == 0);
	CU_ASSERT(is_handled(SIGHUP) && is_handled(SIGPIPE));
	CU_ASSERT(weft_plan9_atnotify(takes, 0) == 1);
	CU_ASSERT(!is_handled(SIGHUP) && !is_handled(SIGPIPE));
}

static const struct test_case cases[] = {
	TEST(a_function_that_comes_while_the_last_goes_is_called),
};

void threadmain(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	weft_plan9_threadexitsall(
		test_main("plan9/note", cases,
			  sizeof(cases) / sizeof(cases[0])) ? "failed" : NULL);
}
