/* SPDX-License-Identifier: MIT */
/* observe/view.h - one thread as a dump sees it: copied, then judged */
#ifndef WEFT_OBSERVE_VIEW_H
#define WEFT_OBSERVE_VIEW_H

#include "sched/vcpu.h"

enum wefti_view_state {
	WEFTI_VIEW_NONE,	/* no thread */
	WEFTI_VIEW_RUNNING,	/* on view->vcpu */
	WEFTI_VIEW_UNSEATED,	/* on view->tid; its VCPU was taken */
	WEFTI_VIEW_PARKED,
	WEFTI_VIEW_READY,
	WEFTI_VIEW_ENDED,	/* not joined yet */
};

struct wefti_view {
	struct wefti_thread *at;	/* the struct that was copied */
	enum wefti_view_state state;
	enum wefti_kind kind;
	int light;
	uint64_t id;
	uint64_t wait;			/* the wait word */
	enum wefti_why why;
	const void *object;		/* what it waits for */
	struct wefti_context ctx;
	uintptr_t stack_low, stack_top;	/* 0: not known */
	int64_t since;			/* 0: not known */
	unsigned vcpu;
	int tid;
	char name[32];
};

/*
 * Describes the thread that is now in this slot. The runtime is on (observe/gate.h).
 */
void wefti_view_slot(uint32_t slot, struct wefti_view *view);

/* The same for a pointer that may be invalid. */
void wefti_view_thread(const struct wefti_thread *t, struct wefti_view *view);

/*
 * The state of the thread that is now in this struct, by loads alone: for a walk over
 * many. It may be wrong for a thread that changes its state at that moment.
 */
enum wefti_view_state wefti_view_glance(struct wefti_thread *t);

/* Is the thread still as the view says? */
int wefti_view_holds(const struct wefti_view *view);

/*
 * The thread that it waits for: a mutex's owner, or the thread that it joins. NULL:
 * none. It may be the thread itself, which has then just been given the lock.
 */
const struct wefti_thread *wefti_view_holder(const struct wefti_view *view);

/* Has it just been given the lock, of weft's own, that it waits for? */
int wefti_view_is_given(const struct wefti_view *view);

/*
 * A layer above whose locks have another layout says which thread owns the object of a
 * wait for a mutex, lock or once; NULL: none that it knows. The object may be gone, and
 * this may run in a signal handler. A thread may own such a lock and wait for it for ever.
 */
typedef const struct wefti_thread *wefti_view_owner_fn(enum wefti_why why,
						       const void *object);
extern _Atomic(wefti_view_owner_fn *) wefti_view_owner;

/* What gettid() tells a thread, where a layer above makes that up; 0: it does not. */
typedef int wefti_view_gettid_fn(const struct wefti_thread *t);
extern _Atomic(wefti_view_gettid_fn *) wefti_view_gettid;

/* The rwlock for which a thread waits: the layer above has writers wait beside its word. */
static inline const void *wefti_view_lock(const void *object)
{
	return (const void *)((uintptr_t)object & ~(uintptr_t)7);
}

#endif
