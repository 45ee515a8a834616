/* SPDX-License-Identifier: MIT */
/*
 * plan9/error.c - error texts, and the ends of a program
 *
 * The error of a system call is errno. werrstr() keeps a text in the thread and sets
 * errno to a number that no system call returns. So the later of the two is the error.
 */
#include "plan9.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/plan9/libc.h>

#define HAS_TEXT	0x5745	/* errno: the text is the thread's */

/* The text of threads that this library did not make. */
static char others[ERRMAX];

static char *text_of_thread(void)
{
	struct plan9_thread *t = plan9_find_self();

	return t ? t->error : others;
}

void weft_plan9_rerrstr(char *to, uint bytes)
{
	const int error = errno;

	if (!bytes)
		return;
	weft_plan9_strecpy(to, to + bytes, error == HAS_TEXT ? text_of_thread() :
			   error == EINTR ? "interrupted" : strerror(error));
	errno = error;
}

void weft_plan9_werrstr(const char *format, ...)
{
	char text[ERRMAX];
	va_list args;

	va_start(args, format);
	weft_plan9_vsnprint(text, sizeof(text), format, args);
	va_end(args);
	strcpy(text_of_thread(), text);
	errno = HAS_TEXT;
}

int weft_plan9_errstr(char *text, uint bytes)
{
	char before[ERRMAX];

	weft_plan9_rerrstr(before, sizeof(before));
	weft_plan9_werrstr("%.*s", (int)bytes, text);
	if (bytes)
		weft_plan9_strecpy(text, text + bytes, before);
	return 0;
}

void weft_plan9_exits(const char *status)
{
	exit(status && *status ? 1 : 0);
}

void weft_plan9_sysfatal(const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	text = weft_plan9_vsmprint(format, args);
	va_end(args);
	weft_plan9_fprint(2, "%s: %s\n",
			  weft_plan9_argv0 ? weft_plan9_argv0 : "<prog>",
			  text ? text : format);
	weft_plan9_exits("fatal");
}

/* The whole proc sleeps, as in Plan 9: the turn is kept. */
int weft_plan9_sleep(long ms)
{
	if (ms <= 0)
		(void)weft_plan9_yield();
	else
		(void)weft_sleep(ms * INT64_C(1000000));
	return 0;
}

int weft_plan9_rfork(int flags)
{
	if (flags & (RFPROC | RFMEM | RFNOWAIT | RFCFDG | RFCNAMEG | RFCENVG)) {
		weft_plan9_werrstr("rfork: a program with threads cannot do 0x%x",
				   flags);
		return -1;
	}
	return flags & RFNOTEG ? setpgid(0, 0) : 0;
}
