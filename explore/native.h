/* SPDX-License-Identifier: MIT */
/* explore/native.h - weft's own threads as threads of this library, and their points */
#ifndef WEFT_EXPLORE_NATIVE_H
#define WEFT_EXPLORE_NATIVE_H

#include <dlfcn.h>

#include "explore.h"

/* libweft.so's function. */
#define NEXT(name)								\
	({									\
		static __typeof__(&name) found;					\
										\
		if (!found)							\
			found = (__typeof__(&name))dlsym(RTLD_NEXT, #name);	\
		found;								\
	})

/*
 * A point of the caller, and its step. at: an object of this kind; or NULL. Returns the caller;
 * NULL: it is no thread of weft that is known, and has no point.
 */
struct wefti_ex_thread *wefti_ex_native_point(enum wefti_ex_op op, const void *at,
					      enum wefti_ex_kind kind, const void *where);

/* The same, of a step that is about the thread with this id. */
struct wefti_ex_thread *wefti_ex_native_point_of(enum wefti_ex_op op, uint64_t id,
						 const void *where);

/* What the caller has done happens before what a thread does behind its take of the key. */
static inline void wefti_ex_native_give(struct wefti_ex_thread *self, const volatile void *key)
{
	if (self)
		wefti_ex_give(self, key);
}

static inline void wefti_ex_native_take(struct wefti_ex_thread *self, const volatile void *key)
{
	if (self)
		wefti_ex_take(self, key);
}

/* A second thing of an object has a key of its own. */
static inline const volatile void *wefti_ex_second(const volatile void *at)
{
	return (const volatile char *)at + 1;
}

/* native_memory.c: a thread begins on a stack that another one may have had, and ends */
void wefti_ex_native_gives_end(struct wefti_ex_thread *self);	/* to those that wait for all */
void wefti_ex_native_stack_begins(struct wefti_ex_thread *self);
void wefti_ex_native_stack_ends(struct wefti_ex_thread *self);

/*
 * Behind the call of such a step, which may have waited. Returns its result, which may say that
 * it has found nothing.
 */
int wefti_ex_native_did(struct wefti_ex_thread *self, int result);

/* The caller is the first thread from here on. At main() there is none. */
void wefti_ex_native_begin(void);
void wefti_ex_native_started(void);

/*
 * native_time.c. Does the caller run on the VCPU, whose clock is the library's? The program
 * reads it: many readings in a row are a yield.
 */
int wefti_ex_native_has_clock(void);
void wefti_ex_native_asks(const void *where);
/* The caller does, and so does what runs in its place. */
void wefti_ex_native_is_on_vcpu(void);

/* time.c: the library's time of a time of the runtime's; native.c: the caller, or NULL */
int64_t wefti_ex_native_ns(int64_t time);
struct wefti_ex_thread *wefti_ex_native_current(void);

/*
 * A thread that is about to be made, which calls wefti_ex_native_enters() first and
 * wefti_ex_native_ends() last. NULL: the caller has no points, and so has the thread.
 */
struct wefti_ex_thread *wefti_ex_native_make(const struct wefti_ex_call *call,
					     int is_detached);
void wefti_ex_native_enters(struct wefti_ex_thread *t);
void wefti_ex_native_ends(void);
/* No thread was made after all; or it was joined: the struct is used for another one. */
void wefti_ex_native_forget(struct wefti_ex_thread *t);
void wefti_ex_native_cancels(struct wefti_ex_thread *self, uint64_t id);
void wefti_ex_native_joined(uint64_t id);
void wefti_ex_native_detached(uint64_t id);

#endif
