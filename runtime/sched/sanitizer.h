/* SPDX-License-Identifier: MIT */
/*
 * sched/sanitizer.h - tells ThreadSanitizer and AddressSanitizer about switches
 *
 * Without a sanitizer each call is empty. sched/sanitizer.c says what a switch orders.
 */
#ifndef WEFT_SCHED_SANITIZER_H
#define WEFT_SCHED_SANITIZER_H

#include "base/compiler.h"

struct wefti_thread;
struct wefti_cold;

#if defined(WEFT_TSAN) || defined(WEFT_ASAN)
enum { wefti_is_sanitized = 1 };

void wefti_sanitizer_switch(struct wefti_thread *from, struct wefti_thread *to);
void wefti_sanitizer_arrived(void);
void wefti_sanitizer_attach(struct wefti_thread *t);	/* the running one */
void wefti_sanitizer_make(struct wefti_thread *t);	/* before its first run */
void wefti_sanitizer_leave(struct wefti_thread *t);	/* before its last switch */
void wefti_sanitizer_drop(struct wefti_cold *body);	/* when it has left */
void wefti_sanitizer_keep(const void *memory);	/* no leak: a slot points to it */
#else
enum { wefti_is_sanitized = 0 };

static inline void wefti_sanitizer_switch(struct wefti_thread *from,
					  struct wefti_thread *to)
{
	(void)from;
	(void)to;
}
static inline void wefti_sanitizer_arrived(void) { }
static inline void wefti_sanitizer_attach(struct wefti_thread *t) { (void)t; }
static inline void wefti_sanitizer_make(struct wefti_thread *t) { (void)t; }
static inline void wefti_sanitizer_leave(struct wefti_thread *t) { (void)t; }
static inline void wefti_sanitizer_drop(struct wefti_cold *b) { (void)b; }
static inline void wefti_sanitizer_keep(const void *m) { (void)m; }
#endif

#endif
