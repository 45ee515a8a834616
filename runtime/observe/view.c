/* SPDX-License-Identifier: MIT */
/*
 * observe/view.c - one thread as a dump sees it: copied, then judged
 *
 * Everything is copied without a fault, since a foreign thread's cold part is freed
 * when the thread ends. The copy may be of two moments. A dump reports what it saw, and
 * looks again after it has walked the stack (wefti_view_holds).
 *
 * Writers
 *   wefti_view_gettid  lock_owners.c: wefti_lock_owners_begin
 *   wefti_view_owner  lock_owners.c: wefti_lock_owners_begin
 */
#include "observe/view.h"

#include <string.h>

#include "os/call/copy.h"
#include "sched/seat.h"
#include "sync/mutex.h"
#include "sync/waitlist.h"
#include "thread/bare.h"
#include "thread/name.h"
#include "thread/peek.h"
#include "thread/wait.h"

_Atomic(wefti_view_owner_fn *) wefti_view_owner;
_Atomic(wefti_view_gettid_fn *) wefti_view_gettid;

static int copy_thread(const struct wefti_thread *t, struct wefti_thread *out)
{
	return wefti_os_copy(out, t, sizeof(*out)) == sizeof(*out);
}

/* Does a VCPU run it? Returns its number, or -1. */
static int vcpu_of(const struct wefti_thread *t)
{
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++)
		if (load_seq_cst(&wefti_vcpu_at(i)->current) == t)
			return (int)i;
	return -1;
}

static void see_cold(struct wefti_view *view, const struct wefti_thread *t)
{
	struct wefti_cold cold;

	if (wefti_os_copy(&cold, t->cold, sizeof(cold)) < sizeof(cold))
		return;
	memcpy(view->name, cold.name, sizeof(view->name));
	view->name[sizeof(view->name) - 1] = 0;
	(void)wefti_name_get(view->id, view->name);
	view->since = cold.since;
	view->stack_low = (uintptr_t)cold.stack_low;
	view->stack_top = view->stack_low + cold.stack_bytes;
	/* A body is at the top of its stack, below its TLS. */
	if ((uintptr_t)t->cold > view->stack_low &&
	    (uintptr_t)t->cold < view->stack_top)
		view->stack_top = (uintptr_t)t->cold;
	if (view->state == WEFTI_VIEW_UNSEATED)
		view->tid = (int)load_relaxed(&cold.carrier_tid);
}

static enum wefti_view_state judge(const struct wefti_thread *t, int vcpu)
{
	if (vcpu >= 0)
		return WEFTI_VIEW_RUNNING;
	if ((load_relaxed(&t->wait) & WEFTI_WAIT_PHASE) == WEFTI_WAIT_PARKED)
		return WEFTI_VIEW_PARKED;
	if (t->kind == WEFTI_KIND_FOREIGN)
		return WEFTI_VIEW_UNSEATED;
	if (!t->cold || (t->keep && load_relaxed(&t->join) ==
			 wefti_join_word(load_relaxed(&t->gen),
					 WEFTI_JOIN_DONE)))
		return WEFTI_VIEW_ENDED;
	return load_relaxed(&t->attention) != WEFTI_SEAT_HELD ?
	       WEFTI_VIEW_UNSEATED : WEFTI_VIEW_READY;
}

void wefti_view_slot(uint32_t slot, struct wefti_view *view)
{
	struct wefti_thread *at = wefti_slot_get(slot), t;
	int vcpu;

	*view = (struct wefti_view){ .at = at };
	if (!at || !copy_thread(at, &t) || !(load_relaxed(&t.gen) & 1) ||
	    at == load_relaxed(&wefti_rt.monitor))
		return;
	vcpu = vcpu_of(at);
	view->state = judge(&t, vcpu);
	view->vcpu = (unsigned)vcpu;
	view->kind = t.kind;
	view->light = t.light;
	view->id = wefti_thread_id(&t);
	view->wait = load_relaxed(&t.wait);
	view->ctx = t.ctx;
	if (view->state == WEFTI_VIEW_PARKED) {
		view->why = t.why;
		view->object = load_relaxed(&t.waits_for);
	}
	if (t.cold)
		see_cold(view, &t);
}

enum wefti_view_state wefti_view_glance(struct wefti_thread *t)
{
	if (!(load_relaxed(&t->gen) & 1))
		return WEFTI_VIEW_NONE;
	if ((load_relaxed(&t->wait) & WEFTI_WAIT_PHASE) == WEFTI_WAIT_PARKED)
		return WEFTI_VIEW_PARKED;
	if (vcpu_of(t) >= 0)
		return WEFTI_VIEW_RUNNING;
	if (wefti_peek_kind(t) == WEFTI_KIND_FOREIGN)
		return WEFTI_VIEW_UNSEATED;
	if (!wefti_peek_cold(t) ||
	    (wefti_peek_keeps(t) && load_relaxed(&t->join) ==
	     wefti_join_word(load_relaxed(&t->gen), WEFTI_JOIN_DONE)))
		return WEFTI_VIEW_ENDED;
	return load_relaxed(&t->attention) != WEFTI_SEAT_HELD ?
	       WEFTI_VIEW_UNSEATED : WEFTI_VIEW_READY;
}

void wefti_view_thread(const struct wefti_thread *t, struct wefti_view *view)
{
	struct wefti_thread copy;

	*view = (struct wefti_view){ .at = NULL };
	if (t && copy_thread(t, &copy) && wefti_slot_get(copy.slot) == t)
		wefti_view_slot(copy.slot, view);
}

int wefti_view_holds(const struct wefti_view *view)
{
	struct wefti_thread t;

	if (!copy_thread(view->at, &t) || wefti_thread_id(&t) != view->id ||
	    load_relaxed(&t.wait) != view->wait)
		return 0;
	return judge(&t, vcpu_of(view->at)) == view->state &&
	       t.ctx.sp == view->ctx.sp;
}

static const struct wefti_thread *mutex_owner(const void *object)
{
	struct wefti_mutex m;

	if (wefti_os_copy(&m, object, sizeof(m)) < sizeof(m))
		return NULL;
	return load_relaxed(&m.owner);
}

/*
 * An rwlock's writer, or the thread that runs a once. NULL: readers, or it changes now.
 */
static const struct wefti_thread *list_owner(const void *object)
{
	struct wefti_owned_list l;

	if (wefti_os_copy(&l, object, sizeof(l)) < sizeof(l))
		return NULL;
	return load_relaxed(&l.owner);
}

/* Is it a thread? The lock may be another layer's, with something else there. */
static int is_thread(const struct wefti_thread *t)
{
	struct wefti_thread copy;

	return t && copy_thread(t, &copy) && wefti_slot_get(copy.slot) == t;
}

/* By weft's own layout. NULL: none, or the object is no lock of weft's own. */
static const struct wefti_thread *own_owner(const struct wefti_view *view)
{
	const struct wefti_thread *t;

	switch (view->why) {
	case WEFTI_WHY_MUTEX:
		t = mutex_owner(view->object);
		break;
	case WEFTI_WHY_READ_LOCK:
	case WEFTI_WHY_WRITE_LOCK:
	case WEFTI_WHY_ONCE:
		t = list_owner(view->object);
		break;
	default:
		return NULL;
	}
	return is_thread(t) ? t : NULL;
}

const struct wefti_thread *wefti_view_holder(const struct wefti_view *view)
{
	wefti_view_owner_fn *above = load_seq_cst(&wefti_view_owner);
	const struct wefti_thread *t;

	if (view->state != WEFTI_VIEW_PARKED)
		return NULL;
	if (view->why == WEFTI_WHY_JOIN)
		return view->object;
	t = own_owner(view);
	return !t && above ? above(view->why, view->object) : t;
}

int wefti_view_is_given(const struct wefti_view *view)
{
	return view->state == WEFTI_VIEW_PARKED && own_owner(view) == view->at;
}
