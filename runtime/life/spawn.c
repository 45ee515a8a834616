/* SPDX-License-Identifier: MIT */
/*
 * life/spawn.c - begins a thread
 *
 * The child runs first, on the caller's VCPU. The caller goes to `next`, from where the
 * child's exit takes it back (life/exit.c). If the child spawns too, its parent moves
 * on to `parents`. Thieves find the oldest parent there, which is the biggest piece of
 * work. So a fork-join program runs depth first on one VCPU, and a short-lived child
 * uses the stack that the last child has just warmed. A child that lives long loses its
 * parent to a thief.
 *
 * A parent whose child neither ends nor waits may be overtaken by other threads
 * instead. It then runs when all others have had their turns, once for each child. If
 * one spawn in four has been like that for a while, the parent goes on instead, and its
 * next children go to the end of the ring. This lasts as long as its VCPU is its own,
 * for at most WEFTI_BEHIND_MOST children. Then the next child runs first again, as a
 * test. An overtaking does not count if the parent runs again within
 * WEFTI_OVERTAKEN_MOMENT switches: the child and the threads that it has woken have ended,
 * or wait. So pairs that exchange a message and end need two stacks.
 *
 * The same holds for both threads at a FIFO turn (sched/ready.c): the child and then the
 * parent go to the end of the ring, and the head runs. In a chain, where each thread spawns
 * the next and waits for nothing, no other call of this VCPU would look for the turn.
 *
 * A layer above may know better which thread should run first, and say so.
 *
 * Writers
 *   runtime.foreign_made  spawn; init/start.c: reset
 *   vcpu.stat_made  spawn
 */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "life/life.h"
#include "life/pool.h"
#include "os/tls/tls.h"
#include "sched/park.h"
#include "sched/policy.h"
#include "sched/ready.h"
#include "sched/seat.h"
#include "sched/switch.h"
#include "thread/bare.h"
#include "weft/thread.h"

static ALWAYS_INLINE struct wefti_arch_next run(void)
{
	struct wefti_thread *self = wefti_self();
	void *(*fn)(void *) = self->fn;
	void *arg = self->cold->arg;

	if (!self->light)
		wefti_tls_thread_begin();
	wefti_leave(self);
	return wefti_exit_from_main(fn(arg));
}

/* The first function on a new stack; `prev` is the thread that switched here. */
static struct wefti_arch_next thread_main(void *prev)
{
	wefti_sanitizer_arrived();
	((struct wefti_thread *)prev)->post(prev);
	return run();
}

/*
 * The same for a child that its parent started. The parent becomes ready: the child
 * takes it back, or a thief takes it.
 */
static struct wefti_arch_next child_main(void *arg)
{
	struct wefti_thread *parent = arg;

	wefti_sanitizer_arrived();
	wefti_ready_next(parent->vcpu, parent, 1);
	return run();
}

int wefti_attr_is_valid(const struct weft_attr *attr)
{
	uint64_t reserved = attr->reserved0;

	for (size_t i = 0; i < sizeof(attr->reserved) / sizeof(uint64_t); i++)
		reserved |= attr->reserved[i];
	return !(attr->flags & ~(WEFT_LIGHT | WEFT_DETACHED)) && reserved == 0;
}

/* Unites a struct and a body into a thread. Its id is not valid yet. */
static ALWAYS_INLINE void unite(struct wefti_thread *t,
		struct wefti_cold *body, int keep)
{
	body->cancel_hold = 0;
	body->block_depth = 0;
	body->preempt_asked = 0;
	body->preempt_near = 0;
	body->forks = 0;
	body->served = 0;
	body->overtaken = 0;
	body->spawned_behind = 0;
	store_relaxed(&body->block_region, 0);
	store_relaxed(&body->preempt_insists, 0);
	body->name[0] = 0;
	t->cold = body;
	t->tp = body->tp;
	t->light = body->tp == 0;
	t->keep = keep != 0;
	t->kind = WEFTI_KIND_GREEN;
	t->why = WEFTI_WHY_NOTHING;
	store_release(&t->cancel, 0);	/* of park.c: P3 */
	/* attention stays as it is: of seat.c, I3 */
	store_relaxed(&t->in_runtime, 1);
	if (t->tp) {
		wefti_tls_reset(t->tp);
		*(struct wefti_thread **)(t->tp + wefti_self_offset()) = t;
	}
	wefti_sanitizer_make(t);
}

/* A foreign thread has no VCPU to run the child on. */
static void spawn_injected(struct wefti_thread *t)
{
	wefti_arch_context_init(&t->ctx, t->cold, thread_main);
	wefti_inject(t);
}

static COLD void spawn_last(struct wefti_thread *self, struct wefti_thread *t)
{
	wefti_arch_context_init(&t->ctx, t->cold, thread_main);
	wefti_record_ready(self->vcpu, t);
	wefti_ready_last(self->vcpu, t);
	wefti_idle_announce();
}

static COLD void spawn_behind(struct wefti_thread *self, struct wefti_thread *t)
{
	if (++self->cold->spawned_behind == WEFTI_BEHIND_MOST) {
		self->cold->spawned_behind = 0;
		self->cold->overtaken = WEFTI_OVERTAKEN_ONCE;
	}
	spawn_last(self, t);
}

/* A FIFO turn is due: neither of the two runs before the threads that wait. */
static COLD void spawn_in_turn(struct wefti_thread *self, struct wefti_thread *t)
{
	spawn_last(self, t);
	wefti_yield(self);
}

/* WEFT_SCHED=explore asks for a turn at each pick, and its spawns are as others are. */
static ALWAYS_INLINE int turn_is_due(const struct wefti_vcpu *v)
{
	return unlikely(load_relaxed(&v->resched) == WEFTI_FIFO_TURN) &&
	       v->shared != WEFTI_SHARED_EXPLORED;
}

/* The parent runs again. It was overtaken, during this spawn or an earlier one. */
static COLD void came_back(struct wefti_thread *self, unsigned before)
{
	struct wefti_cold *body = self->cold;
	const uint64_t since = load_relaxed(&self->vcpu->ticks) - body->overtaken_at;

	if (body->overtaken <= before || since <= WEFTI_OVERTAKEN_MOMENT)
		body->overtaken = (uint16_t)(before - (before > 0));
}

static ALWAYS_INLINE void spawn_now(struct wefti_thread *self,
		struct wefti_thread *t, enum wefti_spawn_order order)
{
	struct wefti_vcpu *v = self->vcpu;
	struct wefti_thread *prev;
	unsigned overtaken = self->cold->overtaken;

	t->cold->parent = self;
	if (unlikely(order == WEFTI_SPAWN_LAST)) {
		spawn_last(self, t);
		return;
	}
	if (unlikely(overtaken >= WEFTI_OVERTAKEN_MOST) &&
	    order != WEFTI_SPAWN_FIRST) {
		spawn_behind(self, t);
		return;
	}
	if (turn_is_due(v) && order != WEFTI_SPAWN_FIRST) {
		spawn_in_turn(self, t);
		return;
	}
	wefti_record_run(v, t, WEFTI_LEFT_SPAWNED);
	wefti_take_seat(v, self, t);
	prev = wefti_arch_start(&self->ctx, t->cold, child_main, self);
	wefti_sanitizer_arrived();
	prev->post(prev);
	if (unlikely(self->cold->overtaken))
		came_back(self, overtaken);
}

/*
 * Returns a struct, and a body that is not united with it yet. NULL: *error says why.
 */
static ALWAYS_INLINE struct wefti_thread *get_thread(struct wefti_vcpu *v,
		int light, size_t bytes, struct wefti_cold **body, int *error)
{
	int class = wefti_pool_stack_class(light, bytes);
	struct wefti_thread *t = v ? wefti_pool_get_slot(v) : NULL;

	if (unlikely(!t))
		t = wefti_pool_make_slot();
	*error = class;
	*body = NULL;
	if (v && class >= 0)
		*body = wefti_pool_get_body(v, light, (unsigned)class);
	if (unlikely(!*body) && class >= 0)
		*body = wefti_pool_make_body(light, (unsigned)class, error);
	if (likely(t && *body))
		return t;
	if (t)
		wefti_pool_put_slot(v, t);
	else
		*error = -ENOMEM;
	if (*body)
		wefti_pool_put_body(v, *body);
	return NULL;
}

static COLD void recorded(struct wefti_vcpu *v, struct wefti_thread *t,
			  void *(*fn)(void *arg))
{
	const uint64_t id = wefti_thread_id(t);

	wefti_recorded_spawn(v, id, (uintptr_t)fn);
	if (t->cold->name[0])
		wefti_record_named(v, id, t->cold->name);
}

static ALWAYS_INLINE void record(struct wefti_vcpu *v, struct wefti_thread *t,
				 void *(*fn)(void *arg))
{
	WEFTI_PROBE_THREAD(WEFTI_EVENT_SPAWN, t, fn);
	if (likely(v) ? wefti_records(v) : wefti_records_any())
		recorded(v, t, fn);
}

/* Inline for weft_spawn(), which passes a mostly empty `how`. */
static ALWAYS_INLINE int spawn(const struct wefti_spawn *how,
		const struct weft_attr *attr, void *(*fn)(void *arg), void *arg)
{
	int error;

	if (load_relaxed(&wefti_rt.state) != WEFTI_RT_ON)
		return -ESRCH;

	struct wefti_thread *self = wefti_enter();
	struct wefti_vcpu *v = self->vcpu;
	int light = !wefti_rt.own_tls || (attr->flags & WEFT_LIGHT);
	struct wefti_cold *body;
	struct wefti_thread *t = get_thread(v, light, attr->stack_bytes, &body,
					    &error);

	if (!t) {
		wefti_leave(self);
		return error;
	}
	unite(t, body, how->keep);
	t->fn = fn;
	t->cold->arg = arg;
	if (attr->name)
		strncat(t->cold->name, attr->name, WEFT_NAME_MAX - 1);
	if (how->prepare)
		how->prepare(t, how->arg);
	wefti_thread_begins(t, attr->flags & WEFT_DETACHED ? WEFTI_JOIN_DETACHED :
							     WEFTI_JOIN_NONE);
	if (how->id)
		*how->id = wefti_thread_id(t);
	record(v, t, fn);
	if (how->known)
		how->known(t, how->arg);
	if (likely(v)) {
		store_relaxed(&v->stat_made, load_relaxed(&v->stat_made) + 1);
		spawn_now(self, t, how->order);
	} else {
		fetch_add_relaxed(&wefti_rt.foreign_made, 1);
		spawn_injected(t);
	}
	wefti_leave(self);
	return 0;
}

int wefti_spawn(const struct wefti_spawn *how, const struct weft_attr *attr,
		void *(*fn)(void *arg), void *arg)
{
	return spawn(how, attr, fn, arg);
}

int weft_spawn(uint64_t *id, const struct weft_attr *attr,
	       void *(*fn)(void *arg), void *arg)
{
	static const struct weft_attr plain;
	const struct wefti_spawn how = { .id = id };

	if (!attr)
		attr = &plain;
	if (!fn || !wefti_attr_is_valid(attr))
		return -EINVAL;
	return spawn(&how, attr, fn, arg);
}
