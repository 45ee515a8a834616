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

/* Who runs first, where the caller has a VCPU. */
enum wefti_spawn_order {
	WEFTI_SPAWN_AS_EVER,	/* the child, but see life/spawn.c */
	WEFTI_SPAWN_FIRST,	/* the child */
	WEFTI_SPAWN_LAST,	/* the caller; the child is behind all others */
};

/* How a thread is spawned by a layer above; zero-filled is as weft_spawn(). */
struct wefti_spawn {
	uint64_t *id;
	int keep;	/* its body stays until it is joined */
	enum wefti_spawn_order order;
	/* Called before it runs, inside the runtime; may be NULL. */
	void (*known)(struct wefti_thread *t, void *arg);
	void *arg;
};

/* attr is valid and not NULL. Returns what weft_spawn() does. */
MUST_USE int wefti_spawn(const struct wefti_spawn *how,
	const struct weft_attr *attr, void *(*fn)(void *arg), void *arg);

/*
 * The calling thread's function has returned: its destructors run, it is ready
 * to leave, and who runs next is returned. To be returned in turn from the
 * first function on its stack.
 */
struct wefti_arch_next wefti_exit_from_main(void *result);

/* A thread was released, and main waits for the last one: was it that? */
COLD void wefti_exit_look(void);

static inline void wefti_put_body(struct wefti_vcpu *v, struct wefti_thread *t)
{
	struct wefti_cold *body = t->cold;

	t->cold = NULL;
	wefti_pool_put_body(v, body);
}

/* The id of a thread that has ended is valid no more; its memory is free. */
static inline void wefti_release(struct wefti_vcpu *v, struct wefti_thread *t)
{
	t->kind = WEFTI_KIND_FREE;
	if (unlikely(t->cold))
		wefti_put_body(v, t);	/* it was kept */
	if (likely(v))
		store_relaxed(&v->stat_released,
			      load_relaxed(&v->stat_released) + 1);
	else
		fetch_add_relaxed(&wefti_rt.foreign_released, 1);
	wefti_pool_put_slot(v, t);
	wefti_membarrier_light();	/* of exit.c: P2 */
	if (unlikely(load_relaxed(&wefti_rt.main_waits)))
		wefti_exit_look();
}

/* Runs the destructors of self's keys. */
void wefti_keys_destroy(struct wefti_thread *self);

/* Threads that are spawned and not yet released, without main. */
uint64_t wefti_threads_alive(void);

/*
 * The steps of a join, for who waits for other things too. attempt: 0, or
 * -EAGAIN: the thread has not ended, or another error of weft_join(). enlist:
 * the thread's end will wake the ticket; 1: it changed, attempt again. delist,
 * after an enlist that returned 0: 1 when the thread has not ended.
 */
int wefti_join_attempt(struct wefti_thread *self, uint64_t id, void **result);
int wefti_join_enlist(uint64_t id, uint64_t ticket);
int wefti_join_delist(uint64_t id, uint64_t ticket);

#endif
