/* SPDX-License-Identifier: MIT */
/* observe/waiting.h - for which objects threads wait now: how many, and how long */
#ifndef WEFT_OBSERVE_WAITING_H
#define WEFT_OBSERVE_WAITING_H

#include "observe/out.h"
#include "thread/thread.h"

/* The table belongs to the observer. */
void wefti_waiting_clear(void);

/* t was seen parked for this. A thread that waits for no object is left out. */
void wefti_waiting_add(struct wefti_thread *t, unsigned why);

/* Writes the lines "object" of observe/figures.h. */
void wefti_waiting_tell(struct wefti_out *o);

/*
 * The words for what is waited for, and for a state (enum wefti_view_state); a thread's
 * name up to the line's end.
 */
const char *wefti_figures_kind(unsigned why);
const char *wefti_figures_state(unsigned state);
void wefti_figures_name(struct wefti_out *o, const char *name);

#endif
