/* SPDX-License-Identifier: MIT */
/*
 * explore/crash.c - where a signal ends a run
 *
 * Two crashes with the same message are two failures if they come from different calls. So a
 * handler notes the place in the program's own code and its callers, and then lets the signal
 * end the run. If the run tells its steps, which end with the last call before the crash, the
 * handler tells the thread and the place as well. It stands only where the program has none.
 *
 * The callers come from the unwinder itself: backtrace(3) may load a library, for which it
 * would need the locks of malloc() in a thread that has crashed with them.
 */
#include "explore.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

#include "export.h"
#include "real.h"
#include "start.h"

#define FRAMES		32u	/* that are looked at */
#define TOLD		4u	/* of these, at most */
#define CRASH_LINE	(WEFTI_EX_PLACE_TEXT + 128)

static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

/* Where the program is: behind each instruction, as behind a call. Not in libc, or here. */
struct frames {
	const void *at[TOLD];
	unsigned n, looked_at;
};

static const void *module_of(const void *at)
{
	Dl_info info;

	return dladdr(at, &info) ? info.dli_fbase : NULL;
}

static const void *libweft;	/* of a program of its threads; or NULL, as no module here */

/* This library, or the one whose threads the program's are. */
static int is_between(const void *module)
{
	return module == module_of((const void *)(uintptr_t)wefti_ex_crash_begin) ||
	       module == libweft;
}

static _Unwind_Reason_Code add(struct _Unwind_Context *context, void *arguments)
{
	struct frames *f = arguments;
	int is_exact = 0;
	const char *at = (const char *)_Unwind_GetIPInfo(context, &is_exact);
	const void *module = module_of(at);

	at += is_exact;
	if (f->n == TOLD || f->looked_at++ == FRAMES)
		return _URC_END_OF_STACK;
	if (module == module_of((const void *)(uintptr_t)REAL(sched_yield)))
		return f->n ? _URC_END_OF_STACK : _URC_NO_REASON;	/* it has begun the thread */
	if (module && !is_between(module))
		f->at[f->n++] = at;
	return _URC_NO_REASON;
}

/* The same in each run, wherever the modules lie. */
static uint64_t hash_of(const struct frames *f)
{
	uint64_t h = f->n;

	for (unsigned i = 0; i < f->n; i++)
		h = (h ^ (uint64_t)((const char *)f->at[i] - (const char *)module_of(f->at[i]))) *
		    UINT64_C(0x9e3779b97f4a7c15);
	return h;
}

/* NULL: it is a child of the program's. */
static const struct wefti_ex_thread *crashed(void)
{
	return wefti_ex.is_native ? wefti_ex.holder : wefti_ex_self;
}

static void tell(int number, const siginfo_t *info, const struct frames *f)
{
	const struct wefti_ex_thread *self = crashed();
	char line[CRASH_LINE], place[WEFTI_EX_PLACE_TEXT], used[48] = "";

	if (number == SIGSEGV || number == SIGBUS)
		snprintf(used, sizeof(used), ", which uses address %#lx",
			 (unsigned long)(uintptr_t)info->si_addr);
	wefti_ex_put(line, (size_t)snprintf(line, sizeof(line), "weft: %s in thread %u%s%s%s\n",
		     strsignal(number), self ? self->number : 0, f->n ? ", at " : "",
		     f->n ? wefti_ex_place_name(f->at[0], place) : "", used));
	for (unsigned i = 1; i < f->n; i++)
		wefti_ex_put(line, (size_t)snprintf(line, sizeof(line), "    called at %s\n",
			     wefti_ex_place_name(f->at[i], place)));
}

static void handler(int number, siginfo_t *info, void *context)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL };
	const int was = wefti_ex_shut();
	struct frames f = { .n = 0 };

	(void)context;
	(void)_Unwind_Backtrace(add, &f);
	if (crashed())
		wefti_ex.report->crash = hash_of(&f);
	if (wefti_ex.traces)
		tell(number, info, &f);
	wefti_ex_open(was);
	(void)sigaction(number, &usual, NULL);	/* libweft.so's handler may have called this one */
	if (number == SIGABRT || info->si_code <= 0)
		(void)raise(number);	/* else its instruction is made again */
}

void wefti_ex_crash_begin(void)
{
	struct sigaction action = { .sa_sigaction = handler }, before;

	if (wefti_ex.is_native)
		libweft = module_of(dlsym(RTLD_NEXT, "weft_self"));
	action.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER | SA_ONSTACK;
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			(void)sigaction(numbers[i], &action, NULL);
}
