/* SPDX-License-Identifier: MIT */
/*
 * plan9/note.c - notes: signals, as Plan 9 names them
 *
 * A note's function runs as a signal handler, whatever it has interrupted, on the kernel
 * thread that got the signal.
 */
#include "plan9.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <weft/plan9/libc.h>

#define MOST	16		/* functions of atnotify() */

typedef void note_fn(void *unused, char *note);
typedef int at_fn(void *unused, char *note);

static const struct note {
	int signal;
	char text[32];
} notes[] = {
	{ SIGHUP, "hangup" },
	{ SIGINT, "interrupt" },
	{ SIGQUIT, "quit" },
	{ SIGALRM, "alarm" },
	{ SIGTERM, "kill" },
	{ SIGUSR1, "sys: usr1" },
	{ SIGUSR2, "sys: usr2" },
	{ SIGPIPE, "sys: write on closed pipe" },
};

static _Atomic(note_fn *) function;
static _Atomic(at_fn *) functions[MOST];

/* noted()'s. Other threads handle notes too; in a handler no access may allocate. */
static _Thread_local volatile int answer
	__attribute__((tls_model("initial-exec")));

static void default_action(int number)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	(void)sigaction(number, &action, NULL);
	(void)kill(getpid(), number);	/* comes when this handler returns */
}

static int is_answered(char *text)
{
	note_fn *fn = atomic_load(&function);
	int before = answer, is_done;	/* of a note that this one has interrupted */

	for (size_t i = 0; i < MOST; i++) {
		at_fn *at = atomic_load(&functions[i]);

		if (at && at(NULL, text))
			return 1;
	}
	if (!fn)
		return 0;
	answer = NCONT;
	fn(NULL, text);
	is_done = answer == NCONT;
	answer = before;
	return is_done;
}

static void handle(int number)
{
	int saved = errno;
	char text[32];

	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		if (notes[i].signal != number)
			continue;
		(void)weft_plan9_strecpy(text, text + sizeof(text),
					 notes[i].text);
		if (!is_answered(text))
			default_action(number);
	}
	errno = saved;
}

static int is_wanted(void)
{
	int wanted = atomic_load(&function) != NULL;

	for (size_t i = 0; i < MOST; i++)
		wanted |= atomic_load(&functions[i]) != NULL;
	return wanted;
}

static void set_handlers(int wanted)
{
	struct sigaction action = { .sa_flags = SA_RESTART };

	action.sa_handler = wanted ? handle : SIG_DFL;
	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++)
		(void)sigaddset(&action.sa_mask, notes[i].signal);
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++)
		(void)sigaction(notes[i].signal, &action, NULL);
}

/* Whatever sets the handlers last finds here that they are as wanted. */
static void update_handlers(void)
{
	int wanted;

	do {
		wanted = is_wanted();
		set_handlers(wanted);
	} while (is_wanted() != wanted);
}

int weft_plan9_notify(note_fn *fn)
{
	atomic_store(&function, fn);
	update_handlers();
	return 0;
}

int weft_plan9_atnotify(at_fn *fn, int in)
{
	for (size_t i = 0; i < MOST; i++) {
		at_fn *expected = in ? NULL : fn;

		if (!atomic_compare_exchange_strong(&functions[i], &expected,
						    in ? fn : NULL))
			continue;
		update_handlers();
		return 1;
	}
	return 0;
}

/* To a process, or to the group in which it is. An unknown note is an error. */
int weft_plan9_postnote(int to, int pid, const char *note)
{
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		if (strcmp(notes[i].text, note) != 0)
			continue;
		if (to == PNGROUP)
			pid = getpgid(pid);
		if (pid <= 0) {
			errno = ESRCH;
			return -1;
		}
		return kill(to == PNGROUP ? -pid : pid, notes[i].signal);
	}
	weft_plan9_werrstr("unknown note");
	return -1;
}

/* Says how the note was taken. Unlike Plan 9's, it returns to the function. */
int weft_plan9_noted(int what)
{
	answer = what;
	return 0;
}
