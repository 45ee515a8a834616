/* SPDX-License-Identifier: MIT */
/* observe/last.h - what a process writes before it ends: a dump, and what was recorded */
#ifndef WEFT_OBSERVE_LAST_H
#define WEFT_OBSERVE_LAST_H

#include <signal.h>

/*
 * Called in the handler of a fault, which has told of the crash, before the process ends.
 * Waits until the observer has written what the settings ask for, ten seconds at most.
 * The caller may be any kernel thread.
 */
void wefti_last_words(const siginfo_t *info, const void *context);

/* Do the settings ask for anything before a crash? */
int wefti_last_is_wanted(void);

/* Called by the observer when it was asked by wefti_observer_ask_last(). */
void wefti_last_answer(void);

/* Called in the child of a fork. */
void wefti_last_forget(void);

/*
 * Writes what the recorder holds into the file weft.PID.weft of the process's folder, if
 * WEFT_TRACE has events recorded from the start. A line tells of it. Called by the observer.
 */
void wefti_last_record(void);

#endif
