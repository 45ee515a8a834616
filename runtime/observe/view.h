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
 * Describes the thread that is now in this slot. The runtime is on (observe/guard.h).
 */
void wefti_view_slot(uint32_t slot, struct wefti_view *view);

/* The same for a pointer that may be invalid. */
void wefti_view_thread(const struct wefti_thread *t, struct wefti_view *view);

/* The kernel thread that carries v at the moment; 0: not known. */
int wefti_view_carrier(const struct wefti_vcpu *v);

/* Is the thread still as the view says? */
int wefti_view_holds(const struct wefti_view *view);

/*
 * The thread that it waits for: a mutex's owner, or the thread that it joins. NULL:
 * none.
 */
const struct wefti_thread *wefti_view_holder(const struct wefti_view *view);

#endif
