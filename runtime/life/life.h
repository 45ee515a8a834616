/* SPDX-License-Identifier: MIT */
/*
 * life/life.h - what spawn, exit and join share
 *
 * Writers
 *   runtime.foreign_released  wefti_release; init/start.c: reset
 *   vcpu.stat_released  wefti_release
 */
#ifndef WEFT_LIFE_LIFE_H
#define WEFT_LIFE_LIFE_H

#include "life/pool.h"
#include "sched/seat.h"

struct weft_attr;

/* Which thread runs first, if the caller has a VCPU. */
enum wefti_spawn_order {
	WEFTI_SPAWN_AS_EVER,	/* the child, with exceptions in life/spawn.c */
	WEFTI_SPAWN_FIRST,	/* the child */
	WEFTI_SPAWN_LAST,	/* the caller; the child goes behind all others */
};

/* How a layer above spawns a thread; zero-filled is the same as weft_spawn(). */
struct wefti_spawn {
	uint64_t *id;
	/*
	 * The body stays until the thread is joined, and fn runs the destructors of the
	 * thread's TLS (os/tls/tls.h: wefti_tls_thread_exit).
	 */
	int keep;
	enum wefti_spawn_order order;
	/*
	 * Called inside the runtime, before the thread's id is valid. Each thread that finds
	 * the new one by its slot or its id sees all that prepare() has set. May be NULL.
	 */
	void (*prepare)(struct wefti_thread *t, void *arg);
	/* The same, when the id is valid and the thread has not run yet. May be NULL. */
	void (*known)(struct wefti_thread *t, void *arg);
	void *arg;
};

/* Are flags and reserved fields of *attr in range? */
int wefti_attr_is_valid(const struct weft_attr *attr);

/* attr must be valid and not NULL. Returns what weft_spawn() returns. */
MUST_USE int wefti_spawn(const struct wefti_spawn *how,
	const struct weft_attr *attr, void *(*fn)(void *arg), void *arg);

/*
 * Called when the thread's function has returned, or has called weft_exit(): runs its
 * destructors, makes it ready to leave, and returns where the VCPU goes on. The first
 * function on the stack must return that in turn.
 */
struct wefti_arch_next wefti_exit_from_main(void *result);

static inline void wefti_put_body(struct wefti_vcpu *v, struct wefti_thread *t)
{
	struct wefti_cold *body = t->cold;

	t->cold = NULL;
	wefti_pool_put_body(v, body);
}

/* The id of an ended thread becomes invalid, and its memory is freed. */
static inline void wefti_release(struct wefti_vcpu *v, struct wefti_thread *t)
{
	t->kind = WEFTI_KIND_FREE;
	if (unlikely(t->cold))
		wefti_put_body(v, t);	/* it was kept until now */
	if (likely(v))
		store_release(&v->stat_released,	/* of exit.c: P4 */
			      load_relaxed(&v->stat_released) + 1);
	else
		fetch_add_release(&wefti_rt.foreign_released, 1);	/* of exit.c: P4 */
	wefti_pool_put_slot(v, t);
}

/*
 * Called by the first thread, which is at its end. Parks until all others have ended; no
 * cancellation or deadline ends the wait.
 */
void wefti_exit_awaits_all(void);

/* Runs the destructors of self's keys. */
void wefti_keys_destroy(struct wefti_thread *self);

/*
 * How many threads are spawned and not released yet, without main. It may be too large
 * while threads end, but is 0 only if there was such a moment.
 */
uint64_t wefti_threads_alive(void);

/*
 * The steps of a join, for callers that wait for other things too. try: returns 0,
 * -EAGAIN if the thread has not ended, or another error of weft_join(). enlist: the
 * thread's end will wake the ticket; returns 1, and does nothing, if the state has changed:
 * try again. delist, after an enlist that returned 0: returns 1 if the thread has not ended.
 */
int wefti_try_join(struct wefti_thread *self, uint64_t id, void **result);
int wefti_join_enlist(uint64_t id, uint64_t ticket);
int wefti_join_delist(uint64_t id, uint64_t ticket);

#endif
