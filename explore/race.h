/* SPDX-License-Identifier: MIT */
/* explore/race.h - accesses to memory: points, the order of threads, and races */
#ifndef WEFT_EXPLORE_RACE_H
#define WEFT_EXPLORE_RACE_H

#include "access.h"
#include "explore.h"

/* clock.c. The calling thread's own number now, from 1 on. */
uint32_t wefti_ex_now_of(struct wefti_ex_thread *self);
int wefti_ex_is_before(uint32_t thread, uint32_t number, const struct wefti_ex_thread *self);
void wefti_ex_atomic_loads(struct wefti_ex_thread *self, const volatile void *at, int order);
void wefti_ex_atomic_stores(struct wefti_ex_thread *self, const volatile void *at, int order,
			    int is_change);
void wefti_ex_fence(struct wefti_ex_thread *self, int order);

void wefti_ex_clocks_begin(struct wefti_ex_thread *t);	/* nothing happens before it */

/* pieces.c: memory in small pieces, which is not malloc's */
void *wefti_ex_pieces(size_t bytes);
void wefti_ex_pieces_back(void *piece, size_t bytes);

/* stack.c: a call stack is a number, and 0 is the empty one */
void wefti_ex_enters(struct wefti_ex_thread *self, const void *where, const void *frame);
void wefti_ex_leaves(struct wefti_ex_thread *self);
uint32_t wefti_ex_stack(const struct wefti_ex_thread *self, const void *where);
/* The innermost place of the stack; *outer is the rest. NULL: the stack is empty. */
const void *wefti_ex_stack_top(uint32_t stack, uint32_t *outer);

/*
 * native_memory.c, for weft's own threads: the caller, if its accesses are looked at; the point
 * of such an access
 */
struct wefti_ex_thread *wefti_ex_native_toucher(void);
void wefti_ex_native_touches(struct wefti_ex_thread *self, enum wefti_ex_op op,
			     const volatile void *at, const void *where);

/* NULL: the caller's accesses are not looked at. */
static inline struct wefti_ex_thread *wefti_ex_toucher(void)
{
	return wefti_ex.is_native ? wefti_ex_native_toucher() : wefti_ex_controlled();
}

/* memory.c: the point of an access, and its order; copies.c calls it, too */
void wefti_ex_access_memory(const volatile void *at, size_t bytes,
			    enum wefti_ex_access kind, const void *where);

/* race.c */
void wefti_ex_race(struct wefti_ex_thread *self, const volatile void *at, size_t bytes,
		   enum wefti_ex_access kind, const void *where);
/* The memory is another's from here on, or new: what was done there is forgotten. */
void wefti_ex_forget(const volatile void *at, size_t bytes);
/* The caller frees this memory: a write to all that was touched there. */
void wefti_ex_race_free(struct wefti_ex_thread *self, void *at, size_t bytes,
			const void *where);

/* sites.c: the places of the code whose accesses are points */
void wefti_ex_sites_begin(void);
int wefti_ex_is_site(const void *where);
void wefti_ex_site(const void *where);
/* Modules that are instrumented. A place is told by its module, so it is no address. */
void wefti_ex_module(const void *where);
int wefti_ex_is_instrumented(const void *where);
uint64_t wefti_ex_place(const void *where);

/* A race has two sides. */
struct wefti_ex_side {
	uint32_t thread, kind, stack;
};

/* tell_race.c */
void wefti_ex_tell_race(uint64_t key, const volatile void *at, size_t bytes,
			const struct wefti_ex_side *now, const struct wefti_ex_side *then);

#endif
