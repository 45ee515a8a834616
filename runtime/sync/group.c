/* SPDX-License-Identifier: MIT */
/*
 * sync/group.c - threads that begin and end together
 *
 * The group's mutex protects all of it. A member is in one of three lists:
 *   live   its thread runs, or is about to; cancel() goes through these
 *   ended  its function has returned; its thread is to be joined
 *   spare  no thread; kept for the next one
 *
 * All threads are joined, so they have really ended. The owner joins one after the other.
 * Between two joins no member waits for the owner, and the owner needs no count. A member
 * that the owner joins (`waited`) stays in `live` until the join has returned. Without an
 * owner that waits, a spawn joins a member that has ended, so what a long-lived group
 * holds is bounded by the most threads that it had at one time.
 *
 * A thread starts outside of the mutex, because it may run at once, and to its end. Its
 * id is stored before it runs (name_member). If cancel() comes before that, it finds no
 * id, but the spawn then finds the group cancelled, and cancels the thread.
 *
 * weft_cancel() of an id whose thread has ended does nothing, so cancel() need not know
 * which members are about to end.
 *
 * Rejected: a list without a lock, and a count on which the owner parks. A spawn and an
 * end take some 40 ns for the mutex together. The list would need reclamation of its own,
 * and a count says that a function has returned, not that its thread has ended.
 *
 * Writers
 *   member.id  enlist, name_member
 */
#include <errno.h>
#include <stdlib.h>

#include "life/life.h"
#include "lockfree/atomic.h"
#include "thread/bare.h"
#include "weft/group.h"
#include "weft/mutex.h"

struct member {
	struct member *next;
	struct member **link;	/* what points to it, while it is live */
	struct group *group;
	int (*fn)(void *arg);
	void *arg;
	_Atomic uint64_t id;	/* 0 until the thread is made; see name_member() */
	int waited;		/* the owner joins it */
};

struct group {
	struct weft_mutex mutex;
	struct member *live, *ended, *spare;
	uint64_t failed;	/* the first failure, if cancelled */
	int error;
	uint8_t cancelled;
	uint8_t waits;		/* a thread is in weft_group_wait() */
};

_Static_assert(sizeof(struct group) <= sizeof(struct weft_group),
	       "a group fits into the public struct");

static struct group *group_of(struct weft_group *group)
{
	return (struct group *)group;
}

/* No memory for a place in the mutex's queue: other threads give some back. */
static void lock(struct group *g)
{
	while (unlikely(weft_mutex_lock(&g->mutex) != 0))
		weft_yield();
}

static void add_live(struct group *g, struct member *m)
{
	m->next = g->live;
	m->link = &g->live;
	if (m->next)
		m->next->link = &m->next;
	g->live = m;
}

static void remove_live(struct member *m)
{
	*m->link = m->next;
	if (m->next)
		m->next->link = m->link;
}

static void add_to(struct member **list, struct member *m)
{
	m->next = *list;
	*list = m;
}

static struct member *take_from(struct member **list)
{
	struct member *m = *list;

	if (m)
		*list = m->next;
	return m;
}

/* The mutex is held. The first reason is the one that stays. */
static void cancel(struct group *g, int error, uint64_t failed)
{
	if (g->cancelled)
		return;
	g->cancelled = 1;
	g->error = error;
	g->failed = failed;
	for (struct member *m = g->live; m; m = m->next) {
		uint64_t id = load_seq_cst(&m->id);

		if (id && id != failed)
			(void)weft_cancel(id);
	}
}

static void *member_main(void *arg)
{
	struct member *m = arg;
	struct group *g = m->group;
	int error = m->fn(m->arg);

	lock(g);
	if (error)
		cancel(g, error, load_seq_cst(&m->id));
	if (!m->waited) {
		remove_live(m);
		add_to(&g->ended, m);
	}
	weft_mutex_unlock(&g->mutex);
	return NULL;
}

/*
 * Regardless of a cancellation of the caller, since it does not wait. Returns -EAGAIN if
 * the thread has not ended.
 */
static int try_join_member(struct member *m)
{
	struct wefti_thread *self = wefti_enter();
	int error = wefti_try_join(self, load_seq_cst(&m->id), NULL);

	wefti_leave(self);
	return error == -EAGAIN ? error : 0;
}

/*
 * A member without a thread. If one has ended that can be joined at once, it is used
 * again. The mutex is held. NULL: there is none.
 */
static struct member *reuse(struct group *g)
{
	struct member *m = take_from(&g->spare);

	if (m)
		return m;
	m = take_from(&g->ended);
	if (m && try_join_member(m) != 0) {
		add_to(&g->ended, m);	/* it is just about to end */
		return NULL;
	}
	return m;
}

/* Adds a member. Returns it, or NULL with *error. */
static struct member *enlist(struct group *g, int (*fn)(void *), void *arg, int *error)
{
	struct member *m = NULL;

	lock(g);
	*error = -ECANCELED;
	if (!g->cancelled) {
		m = reuse(g);
		if (!m)
			m = malloc(sizeof(*m));
		*error = -ENOMEM;
	}
	if (m) {
		m->group = g;
		m->fn = fn;
		m->arg = arg;
		m->waited = 0;
		store_seq_cst(&m->id, 0);
		add_live(g, m);
	}
	weft_mutex_unlock(&g->mutex);
	return m;
}

static void delist(struct group *g, struct member *m)
{
	lock(g);
	remove_live(m);
	add_to(&g->spare, m);
	weft_mutex_unlock(&g->mutex);
}

/*
 * Called before the thread runs. The id is valid already: the owner may join the thread as
 * soon as it sees the id, and takes a thread that cannot be found for one that has ended.
 */
static void name_member(struct wefti_thread *t, void *arg)
{
	struct member *m = arg;

	store_seq_cst(&m->id, wefti_thread_id(t));
}

/* Does the thread start too late for the cancel() of the group? */
static int is_cancelled(struct group *g)
{
	int cancelled;

	lock(g);
	cancelled = g->cancelled;
	weft_mutex_unlock(&g->mutex);
	return cancelled;
}

int weft_group_spawn(struct weft_group *group, uint64_t *id,
		     const struct weft_attr *attr, int (*fn)(void *arg), void *arg)
{
	static const struct weft_attr plain;
	struct group *g = group_of(group);
	struct member *m;
	uint64_t made;
	struct wefti_spawn how = { .id = id ? id : &made, .known = name_member };
	int error;

	if (!attr)
		attr = &plain;
	if (!fn || !wefti_attr_is_valid(attr) || attr->flags & WEFT_DETACHED)
		return -EINVAL;
	m = how.arg = enlist(g, fn, arg, &error);
	if (!m)
		return error;
	error = wefti_spawn(&how, attr, member_main, m);
	if (error)
		delist(g, m);
	else if (is_cancelled(g))
		(void)weft_cancel(*how.id);
	return error;
}

void weft_group_cancel(struct weft_group *group)
{
	struct group *g = group_of(group);

	lock(g);
	cancel(g, -ECANCELED, 0);
	weft_mutex_unlock(&g->mutex);
}

/* The mutex is held. */
static int has_self(const struct group *g)
{
	const uint64_t self = weft_self();

	for (struct member *m = g->live; m; m = m->next)
		if (load_seq_cst(&m->id) == self)
			return 1;
	return 0;
}

/*
 * A live member whose thread is made; NULL if none is live. While a thread is not made
 * yet, the thread that makes it is live too, or is in a group inside a live one's.
 */
static struct member *first_made(struct group *g)
{
	struct member *m = g->live;

	while (m && !load_seq_cst(&m->id))
		m = m->next;
	if (m)
		m->waited = 1;
	return m;
}

/* Joins and frees the members in `ended`. The mutex is held. */
static void join_ended(struct group *g)
{
	struct member *m;

	while ((m = take_from(&g->ended))) {
		weft_mutex_unlock(&g->mutex);
		weft_cancel_hold();
		(void)!weft_join(load_seq_cst(&m->id), NULL);
		weft_cancel_release();
		free(m);
		lock(g);
	}
}

/* A thread that has ended is joined, whatever the deadline or a cancellation says. */
static int join_by(struct member *m, int64_t deadline)
{
	if (try_join_member(m) == 0)
		return 0;
	return weft_join_until(load_seq_cst(&m->id), NULL, deadline);
}

/* The mutex is held, but not during the joins. */
static void join_all(struct group *g, int64_t deadline)
{
	struct member *m;
	int error, holds = 0;

	for (join_ended(g); (m = first_made(g)); join_ended(g)) {
		if (g->cancelled && !holds++) {
			weft_cancel_hold();
			deadline = WEFT_FOREVER;
		}
		weft_mutex_unlock(&g->mutex);
		error = join_by(m, deadline);
		lock(g);
		if (error == -ETIMEDOUT || error == -EAGAIN) {
			cancel(g, -ETIMEDOUT, 0);
		} else if (error == -ECANCELED) {
			cancel(g, -ECANCELED, 0);
		} else {
			remove_live(m);
			free(m);
		}
	}
	if (holds)
		weft_cancel_release();
}

/* The mutex is held; no thread is left. */
static void reset(struct group *g)
{
	struct member *m;

	while ((m = take_from(&g->spare)))
		free(m);
	g->failed = 0;
	g->error = 0;
	g->cancelled = 0;
	g->waits = 0;
}

int weft_group_wait(struct weft_group *group, int64_t deadline, uint64_t *failed)
{
	struct group *g = group_of(group);
	int error;

	lock(g);
	error = has_self(g) ? -EDEADLK : g->waits ? -EBUSY : 0;
	if (!error) {
		g->waits = 1;
		join_all(g, deadline);
		error = g->error;
		if (failed)
			*failed = g->failed;
		reset(g);
	}
	weft_mutex_unlock(&g->mutex);
	return error;
}
