/* SPDX-License-Identifier: MIT */
/* plan9/sync.c - QLock, RWLock, Rendez, Ref and rendezvous */
#include "plan9.h"

#include <errno.h>
#include <stdatomic.h>

void weft_plan9_lock(struct weft_plan9_qlock *l)
{
	if (weft_mutex_try_lock(&l->mutex) == 0)
		return;
	plan9_give_turn();
	plan9_must(weft_mutex_lock(&l->mutex), "qlock");
	plan9_take_turn();
}

int weft_plan9_canlock(struct weft_plan9_qlock *l)
{
	return weft_mutex_try_lock(&l->mutex) == 0;
}

void weft_plan9_unlock(struct weft_plan9_qlock *l)
{
	plan9_must(weft_mutex_unlock(&l->mutex), "qunlock");
}

void weft_plan9_rlock(struct weft_plan9_rwlock *l)
{
	if (weft_rwlock_try_read(&l->lock) == 0)
		return;
	plan9_give_turn();
	plan9_must(weft_rwlock_read(&l->lock), "rlock");
	plan9_take_turn();
}

int weft_plan9_canrlock(struct weft_plan9_rwlock *l)
{
	return weft_rwlock_try_read(&l->lock) == 0;
}

void weft_plan9_wlock(struct weft_plan9_rwlock *l)
{
	if (weft_rwlock_try_write(&l->lock) == 0)
		return;
	plan9_give_turn();
	plan9_must(weft_rwlock_write(&l->lock), "wlock");
	plan9_take_turn();
}

int weft_plan9_canwlock(struct weft_plan9_rwlock *l)
{
	return weft_rwlock_try_write(&l->lock) == 0;
}

void weft_plan9_rwunlock(struct weft_plan9_rwlock *l)
{
	plan9_must(weft_rwlock_unlock(&l->lock), "unlock");
}

void weft_plan9_rsleep(struct weft_plan9_rendez *r)
{
	if (!r->l)
		plan9_fatal("rsleep: l is not set", 0);
	r->waiting++;
	plan9_give_turn();
	plan9_must(weft_cond_wait(&r->cond, &r->l->mutex), "rsleep");
	plan9_take_turn();
}

int weft_plan9_rwakeup(struct weft_plan9_rendez *r)
{
	if (!r->waiting)
		return 0;
	r->waiting--;
	plan9_must(weft_cond_signal(&r->cond), "rwakeup");
	return 1;
}

int weft_plan9_rwakeupall(struct weft_plan9_rendez *r)
{
	int n = r->waiting;

	r->waiting = 0;
	plan9_must(weft_cond_broadcast(&r->cond), "rwakeupall");
	return n;
}

static _Atomic long *count_of(struct weft_plan9_ref *r)
{
	return (_Atomic long *)(void *)&r->ref;
}

void weft_plan9_incref(struct weft_plan9_ref *r)
{
	atomic_fetch_add(count_of(r), 1);
}

long weft_plan9_decref(struct weft_plan9_ref *r)
{
	return atomic_fetch_sub(count_of(r), 1) - 1;
}

/* A thread that waits for a tag; on its stack, in a list under `lock`. */
struct comer {
	struct comer *next;
	void *tag, *value;
	struct weft_sem met;
};

#define LISTS	64

static struct {
	struct weft_mutex lock;
	struct comer *first;
} list[LISTS];

void *weft_plan9_rendezvous(void *tag, void *value)
{
	struct comer me = { .tag = tag, .value = value };
	struct comer **at;
	size_t n = ((uintptr_t)tag >> 4) % LISTS;
	void *other;

	plan9_must(weft_mutex_lock(&list[n].lock), "rendezvous");
	for (at = &list[n].first; *at && (*at)->tag != tag; )
		at = &(*at)->next;
	if (*at) {
		struct comer *m = *at;

		*at = m->next;
		other = m->value;
		m->value = value;
		plan9_must(weft_mutex_unlock(&list[n].lock), "rendezvous");
		plan9_must(weft_sem_post(&m->met), "rendezvous");
		return other;
	}
	*at = &me;
	plan9_must(weft_mutex_unlock(&list[n].lock), "rendezvous");
	plan9_give_turn();
	plan9_must(weft_sem_wait(&me.met), "rendezvous");
	plan9_take_turn();
	return me.value;
}
