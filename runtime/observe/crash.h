/* SPDX-License-Identifier: MIT */
/* observe/crash.h - says which thread a signal ends the process for */
#ifndef WEFT_OBSERVE_CRASH_H
#define WEFT_OBSERVE_CRASH_H

#include <signal.h>

#include "base/settings.h"
#include "thread/name.h"

/*
 * The level of WEFT_LOG from which on crashes are told. A layer above sets it before the
 * runtime starts.
 */
extern enum wefti_set_log wefti_crash_level;

int wefti_crash_is_told(void);

/* Has a thread caused it, and not another process? */
int wefti_crash_is_by_thread(const siginfo_t *info);

/*
 * Called in the handler of a signal whose default action follows. Prints a line if a
 * thread of weft has caused it.
 */
void wefti_crash_tell(const siginfo_t *info, void *context);

/* The calling thread's name, by wefti_format_shown(). */
const char *wefti_crash_name(const struct wefti_thread *self,
			     char shown[WEFTI_NAME_SHOWN]);

#endif
