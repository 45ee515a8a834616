/* SPDX-License-Identifier: MIT */
/* explore/tell.c - what is wrong, in words; and each step, where it is asked for */
#include "explore.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "real.h"

#define LINE	WEFTI_EX_PLACE_TEXT
#define SPUN	2000u	/* readings of a location in a row */

static const char *const ops[] = {
#define TEXT(name, text)	[WEFTI_EX_##name] = text,
	WEFTI_EX_OPS(TEXT)
#undef TEXT
};

__attribute__((format(printf, 1, 2)))
static void add(const char *format, ...)
{
	char *text = wefti_ex.report->text;
	const size_t length = strlen(text);
	va_list list;

	va_start(list, format);
	vsnprintf(text + length, WEFTI_EX_TEXT - length, format, list);
	va_end(list);
}

/* "file(function+0x1b)", for addr2line(1) and for the eye */
const char *wefti_ex_place_name(const void *where, char line[LINE])
{
	Dl_info info;
	const char *slash;

	if (!where || !dladdr(where, &info) || !info.dli_fname) {
		snprintf(line, LINE, "%p", where);
		return line;
	}
	slash = strrchr(info.dli_fname, '/');
	snprintf(line, LINE, "%s%s%s+0x%zx", slash ? slash + 1 : info.dli_fname,
		 info.dli_sname ? ":" : "", info.dli_sname ? info.dli_sname : "",
		 (size_t)((const char *)where - (const char *)(info.dli_sname ?
			  info.dli_saddr : info.dli_fbase)));
	return line;
}

/* To standard error. A thread that is to be cancelled goes on to a point of its own. */
void wefti_ex_put(const char *text, size_t n)
{
	const int kept = errno, state = wefti_ex_no_cancel();

	(void)!REAL(write)(STDERR_FILENO, text, n);
	wefti_ex_cancel_again(state);
	errno = kept;
}

static const char *object_name(const struct wefti_ex_object *o, char line[LINE])
{
	line[0] = 0;
	if (o)
		snprintf(line, LINE, " %s %u", wefti_ex_kind_name(o->kind), o->number);
	return line;
}

/* The object of a thread's step, or the thread that it is about. */
static const char *what_name(const struct wefti_ex_thread *t, char line[LINE])
{
	if (!t->peer)
		return object_name(t->object, line);
	snprintf(line, LINE, " thread %u", t->peer);
	return line;
}

void wefti_ex_trace(const struct wefti_ex_thread *t)
{
	char line[3 * LINE], name[LINE], where[LINE];
	int n = snprintf(line, sizeof(line), "%6lu  thread %-3u %s%s%s%s\n",
			 (unsigned long)wefti_ex.report->steps, t->number, ops[t->op],
			 what_name(t, name), t->where ? ", " : "",
			 t->where ? wefti_ex_place_name(t->where, where) : "");

	wefti_ex_put(line, (size_t)n);
}

/* The same for each order of the threads. */
static uint64_t key_of(const struct wefti_ex_thread *t)
{
	uint64_t h = ((uintptr_t)t->where ^ (uint64_t)t->op << 56) *
		     UINT64_C(0x9e3779b97f4a7c15);

	return h ^ h >> 31;
}

void wefti_ex_tell_end(void)
{
	const struct wefti_ex_report *r = wefti_ex.report;
	char line[LINE], seed[LINE / 4];
	int n;

	if (wefti_ex.is_watched)
		return;
	snprintf(seed, sizeof(seed), wefti_ex_has_list() ? "list" : "%s:%lu",
		 wefti_ex.strategy, (unsigned long)wefti_ex.seed);
	n = snprintf(line, sizeof(line), "weft: seed %s: %lu threads, %lu steps, "
		     "%lu switches, interleaving %016lx\n", seed, (unsigned long)r->threads,
		     (unsigned long)r->steps, (unsigned long)r->switches,
		     (unsigned long)r->hash);
	wefti_ex_put(line, (size_t)n);
}

void wefti_ex_end_run(enum wefti_ex_verdict verdict)
{
	struct wefti_ex_report *r = wefti_ex.report;

	r->verdict = verdict;
	wefti_ex_put(r->text, strlen(r->text));
	wefti_ex_tell_end();
	wefti_ex_self = NULL;
	signal(SIGABRT, SIG_DFL);
	abort();
}

static void tell_thread(const struct wefti_ex_thread *t)
{
	char name[LINE], where[LINE];

	add("  thread %u %s%s", t->number, ops[t->op], what_name(t, name));
	if (t->object && t->object->holder)
		add(", which thread %u holds,", t->object->holder);
	add(" at %s\n", wefti_ex_place_name(t->where, where));
}

/* All other threads that could change the location wait, or have had their turns. */
static void tell_spinning(void)
{
	const struct wefti_ex_thread *spinning = NULL;
	char where[LINE];
	unsigned n = 0;

	for (const struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next) {
		n += t->state == WEFTI_EX_READY;
		if (t->state == WEFTI_EX_READY && t->spun >= SPUN)
			spinning = t;
	}
	if (spinning)
		add("  thread %u reads a location again and again, which no other thread "
		    "changes%s, at %s\n", spinning->number, n > 1 ? "" :
		    " (another process may)", wefti_ex_place_name(spinning->where, where));
}

void wefti_ex_stuck(enum wefti_ex_verdict verdict)
{
	const int is_deadlock = verdict == WEFTI_EX_DEADLOCK;

	if (is_deadlock)
		add("weft: deadlock: no thread can go on\n");
	else
		add("weft: no end after %lu steps\n", (unsigned long)wefti_ex.steps_most);
	tell_spinning();
	for (const struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next) {
		if (t->state == WEFTI_EX_ENDED)
			continue;
		tell_thread(t);
		if (is_deadlock)
			wefti_ex.report->key += key_of(t);
	}
	wefti_ex_end_run(verdict);
}

void wefti_ex_misuse(const void *where, const struct wefti_ex_object *o,
		     const char *what)
{
	char name[LINE], at[LINE];

	wefti_ex.report->key = (uintptr_t)where;
	for (const char *c = what; *c; c++)
		wefti_ex.report->key = wefti_ex.report->key * 31 + (unsigned char)*c;
	add("weft: misuse of%s by thread %u: %s\n  at %s\n", object_name(o, name),
	    wefti_ex_self ? wefti_ex_self->number : 0, what, wefti_ex_place_name(where, at));
	wefti_ex_end_run(WEFTI_EX_MISUSE);
}

void wefti_ex_limit(const char *what)
{
	add("weft: explore: %s\n", what);
	wefti_ex_end_run(WEFTI_EX_LIMIT);
}
