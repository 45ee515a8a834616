/* SPDX-License-Identifier: MIT */
/* observe/dump.h - every thread as text, and what asks for it */
#ifndef WEFT_OBSERVE_DUMP_H
#define WEFT_OBSERVE_DUMP_H

#include "observe/out.h"
#include "observe/view.h"

/*
 * Every thread, every VCPU, every kernel thread; `why` is the first line's end.
 * Returns 0, -EIO, -EBUSY (another dump did not end in two seconds) or -ESRCH.
 */
int wefti_dump(int fd, const char *why);

/* The same for another process: if it takes nothing for two seconds, -EIO. */
int wefti_dump_strangers(int fd, const char *why);

/* In the child of a fork: nobody writes one. */
void wefti_dump_forget(void);

/* Is libunwind being loaded? */
int wefti_unwind_will_load(void);

/* A thread's lines without its stack; `indent` of those after the first. */
void wefti_tell_thread(struct wefti_out *o, const struct wefti_view *view);

/* Does it wait for itself? */
int wefti_view_is_in_cycle(const struct wefti_view *view);

/*
 * Its program counters, how many; 0: not known. -EAGAIN: it is no more as the
 * view says. -ETIMEDOUT: its kernel thread does not answer, which
 * wefti_tell_silent() tells.
 */
int wefti_walk(const struct wefti_view *view, uintptr_t *pcs, size_t most);
void wefti_tell_silent(struct wefti_out *o, const struct wefti_view *view);
int wefti_view_tid(const struct wefti_view *view);
void wefti_tell_stack(struct wefti_out *o, const uintptr_t *pcs, size_t n);

#define WEFTI_FRAMES_MOST	48

#endif
