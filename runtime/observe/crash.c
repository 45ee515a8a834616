/* SPDX-License-Identifier: MIT */
/*
 * observe/crash.c - says which thread a signal ends the process for
 *
 * One line, in the handler of observe/overflow.c: the core file says on which kernel
 * thread the signal came, and not which thread that one carried. Then a line for each
 * lock that the thread owned while others waited for it, up to four.
 */
#include "observe/crash.h"

#include "base/format.h"
#include "base/log.h"
#include "base/shown.h"
#include "interrupted.h"
#include "observe/dump.h"
#include "observe/gate.h"
#include "observe/view.h"
#include "thread/bare.h"

#define HELD_MOST	4
#define LOOKS		10000	/* so many threads are looked at: some milliseconds */

enum wefti_set_log wefti_crash_level = WEFTI_LOG_ERROR;

int wefti_crash_is_told(void)
{
	return wefti_rt.settings.crash == WEFTI_CRASH_DUMP ||
	       wefti_log_shows(wefti_crash_level);
}

const char *wefti_crash_name(const struct wefti_thread *self,
			     char shown[WEFTI_NAME_SHOWN])
{
	char name[WEFTI_NAME_BYTES];

	return wefti_format_shown(shown, WEFTI_NAME_SHOWN,
				  wefti_name_get(wefti_thread_id(self), name) ?
				  name : self->cold->name);
}

static const char *signal_name(int signal)
{
	switch (signal) {
	case SIGSEGV:
		return "SIGSEGV";
	case SIGBUS:
		return "SIGBUS";
	case SIGFPE:
		return "SIGFPE";
	case SIGILL:
		return "SIGILL";
	default:
		return "SIGABRT";
	}
}

/* The kernel's for a fault, or abort()'s. A signal by kill() says nothing of a thread. */
int wefti_crash_is_by_thread(const siginfo_t *info)
{
	return info->si_code > 0 ||
	       (info->si_signo == SIGABRT && info->si_code == SI_TKILL);
}

/* " at address 0x10", where the signal has one that is not the instruction's. */
static void format_address(const siginfo_t *info, char *text, size_t bytes)
{
	*text = 0;
	if ((info->si_signo == SIGSEGV && info->si_code != SI_KERNEL) ||
	    info->si_signo == SIGBUS)
		wefti_format(text, bytes, " at address %p", info->si_addr);
}

/* ", in f+0x12 (program)"; abort() itself would be no news. */
static void format_place(const siginfo_t *info, const void *context, char *text,
			 size_t bytes)
{
	char place[200] = "";
	const uintptr_t pc = wefti_arch_ucontext_pc(context);

	*text = 0;
	if (info->si_signo == SIGABRT)
		return;
	wefti_dump_place(pc, place, sizeof(place));
	if (*place)
		wefti_format(text, bytes, ", in %s", place);
	else
		wefti_format(text, bytes, ", in code at %p", (void *)pc);
}

/* A lock that the thread owns, and for which others wait. */
struct held {
	const void *lock;
	enum wefti_why why;
	unsigned waiters;
};

/* Returns how many were found; counts the waiting threads of each. */
static unsigned find_held(const struct wefti_thread *self, struct held held[HELD_MOST])
{
	const uint32_t limit = wefti_slot_limit() < LOOKS ? wefti_slot_limit() : LOOKS;
	unsigned n = 0, k;

	for (uint32_t i = 1; i < limit; i++) {
		struct wefti_view view;

		wefti_view_slot(i, &view);
		if (view.why == WEFTI_WHY_JOIN || wefti_view_holder(&view) != self)
			continue;
		for (k = 0; k < n && held[k].lock != view.object; k++)
			;
		if (k == HELD_MOST)
			continue;
		if (k == n)
			held[n++] = (struct held){ view.object, view.why, 0 };
		held[k].waiters++;
	}
	return n;
}

/* The locks of a core file name no owner that a reader of it would know. */
static void tell_held(const struct wefti_thread *self)
{
	struct held held[HELD_MOST];
	unsigned n;

	if (wefti_observe_begin() != 0)
		return;
	n = find_held(self, held);
	wefti_observe_end();
	for (unsigned i = 0; i < n; i++)
		wefti_log(wefti_crash_level, "weft: it owns %s %p, for which %u %s\n",
			  held[i].why == WEFTI_WHY_MUTEX ? "mutex" :
			  held[i].why == WEFTI_WHY_ONCE ? "once" : "lock",
			  held[i].lock, held[i].waiters,
			  held[i].waiters == 1 ? "thread waits" : "threads wait");
}

void wefti_crash_tell(const siginfo_t *info, void *context)
{
	const struct wefti_thread *self = wefti_self();
	char bytes[WEFTI_NAME_SHOWN], address[48], place[224];
	const char *name;

	if (!self || !wefti_crash_is_by_thread(info) || !wefti_crash_is_told() ||
	    (self->kind != WEFTI_KIND_GREEN && self->kind != WEFTI_KIND_MAIN))
		return;
	name = wefti_crash_name(self, bytes);
	format_address(info, address, sizeof(address));
	format_place(info, context, place, sizeof(place));
	wefti_log(wefti_crash_level, "weft: %s%s in %s%s%s%s (id %lu)%s\n",
		  signal_name(info->si_signo), address,
		  self->kind == WEFTI_KIND_MAIN ? "the first thread" : "thread",
		  *name ? " \"" : "", name, *name ? "\"" : "",
		  wefti_thread_id(self), place);
	tell_held(self);
}
