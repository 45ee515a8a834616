/* SPDX-License-Identifier: MIT */
/* observe/dump.h - writes every thread as text, and the callers that ask for it */
#ifndef WEFT_OBSERVE_DUMP_H
#define WEFT_OBSERVE_DUMP_H

#include "observe/out.h"
#include "observe/view.h"

/*
 * Writes every thread, every VCPU and every kernel thread; `why` ends the first line.
 * Returns 0, -EIO, -EBUSY (another dump did not end within two seconds) or -ESRCH.
 */
int wefti_dump(int fd, const char *why);

/* The same for another process: -EIO if it reads nothing for two seconds. */
int wefti_dump_strangers(int fd, const char *why);

/* Writes the threads of a cycle alone (observe/cycle.h). Returns as wefti_dump(). */
struct wefti_edge;
int wefti_dump_cycle(int fd, const char *why, const struct wefti_edge *e, unsigned n);

/* Called in the child of a fork: no thread writes a dump. */
void wefti_dump_forget(void);

/* Writes a thread's lines without its stack. All lines but the first are indented. */
void wefti_tell_thread(struct wefti_out *o, const struct wefti_view *view);

/* "name" (id 4294967297), or only the id; and what comes behind it in the first line. */
void wefti_tell_name(struct wefti_out *o, const struct wefti_view *view);
void wefti_tell_state(struct wefti_out *o, const struct wefti_view *view);

/* Does the thread wait for itself? */
int wefti_view_is_in_cycle(const struct wefti_view *view);

/*
 * Gets the thread's program counters; returns how many, 0 if they are not known.
 * -EAGAIN: the thread is not as the view says any more. -ETIMEDOUT: its kernel thread
 * does not answer; wefti_tell_silent() says so.
 */
int wefti_walk(const struct wefti_view *view, uintptr_t *pcs, size_t most);
void wefti_tell_silent(struct wefti_out *o, const struct wefti_view *view);
int wefti_view_tid(const struct wefti_view *view);
void wefti_tell_stack(struct wefti_out *o, const uintptr_t *pcs, size_t n);

/*
 * Writes where an address lies: "f+0x12 (program)". The text is empty if that is not
 * known, or a dump is being written. For signal handlers too.
 */
void wefti_dump_place(uintptr_t pc, char *text, size_t bytes);
void wefti_tell_place(uintptr_t pc, int exact, char *text, size_t bytes);

#define WEFTI_FRAMES_MOST	48

#endif
