/* SPDX-License-Identifier: MIT */
/*
 * coherence/cases.c - cases whose work grows with the number of VCPUs
 *
 * yield: four threads a VCPU yield. spawn: a thread a VCPU spawns and joins others. sem:
 * pairs of threads, a pair a VCPU, wake each other. sem-idle: the same, a pair for each
 * two VCPUs, and each thread computes for 2 us, so that VCPUs idle and are woken. stream:
 * messages through a channel with a buffer, a pair a VCPU. many: messages of two
 * threads a VCPU, through one channel. mutex: two threads a VCPU want one mutex; they
 * compute for 100 ns inside, and for 1 us times the number of VCPUs outside. sleep: two
 * threads a VCPU sleep. one-lock: a thread a VCPU takes a thread from one queue under
 * one lock, and puts it back. That is a scheduler of one lock, and nothing else.
 */
#include <stdalign.h>
#include <stdlib.h>

#include "coherence/scale.h"
#include "coherence/turn.h"
#include "lockfree/atomic.h"

struct pair {
	alignas(128) struct weft_sem sem[2];
	struct weft_chan *chan;
};

struct one_lock {
	alignas(128) _Atomic uint32_t lock;
	uint64_t head, tail;
	alignas(128) uint64_t slot[256];
};

static void *new_zeros(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p)
		bench_fail("out of memory");
	return p;
}

static void yield(struct scale_member *me)
{
	for (;; me->ops++)
		weft_yield();
}

static void *nothing(void *arg)
{
	return arg;
}

static void spawn(struct scale_member *me)
{
	struct weft_attr light = { .flags = WEFT_LIGHT };
	uint64_t id;

	for (;; me->ops++) {
		scale_check(weft_spawn(&id, &light, nothing, NULL), "weft_spawn");
		scale_check(weft_join(id, NULL), "weft_join");
	}
}

static void make_pairs(struct scale_crew *c)
{
	struct pair *p = new_zeros((c->count / 2 + 1) * sizeof(*p));

	c->shared = p;
	for (unsigned i = 0; i <= c->count / 2; i++)
		scale_check(weft_chan_create(&p[i].chan, sizeof(uint64_t), 128, 0),
			    "weft_chan_create");
}

static void talk(struct scale_member *me, int64_t compute_ns)
{
	struct pair *p = (struct pair *)me->crew->shared + me->index / 2;
	int side = me->index % 2;

	for (;; me->ops++) {
		if (compute_ns)
			scale_compute(compute_ns);
		if (side == 0)
			scale_check(weft_sem_post(&p->sem[1]), "weft_sem_post");
		scale_check(weft_sem_wait(&p->sem[side]), "weft_sem_wait");
		if (side == 1)
			scale_check(weft_sem_post(&p->sem[0]), "weft_sem_post");
	}
}

static void sem(struct scale_member *me)
{
	talk(me, 0);
}

static void sem_idle(struct scale_member *me)
{
	talk(me, 2000);
}

static void pass(struct scale_member *me, struct weft_chan *chan)
{
	for (;; me->ops++) {
		uint64_t e = me->ops;

		scale_check(me->index % 2 ?
			    weft_chan_recv(chan, &e, WEFT_FOREVER) :
			    weft_chan_send(chan, &e, WEFT_FOREVER), "a message");
	}
}

static void stream(struct scale_member *me)
{
	pass(me, ((struct pair *)me->crew->shared)[me->index / 2].chan);
}

static void many(struct scale_member *me)
{
	pass(me, ((struct pair *)me->crew->shared)[0].chan);
}

static void make_mutex(struct scale_crew *c)
{
	c->shared = new_zeros(sizeof(struct weft_mutex));
	scale_check(weft_mutex_init(c->shared, WEFT_MUTEX_ADAPTIVE),
		    "weft_mutex_init");
}

static void mutex(struct scale_member *me)
{
	struct weft_mutex *m = me->crew->shared;

	for (;; me->ops++) {
		scale_check(weft_mutex_lock(m), "weft_mutex_lock");
		scale_compute(100);
		scale_check(weft_mutex_unlock(m), "weft_mutex_unlock");
		scale_compute(1000 * (int64_t)me->crew->vcpus);
	}
}

static void nap(struct scale_member *me)
{
	for (;; me->ops++) {
		scale_check(weft_sleep(20000 + 1000 * (int64_t)(me->index % 16)),
			    "weft_sleep");
		scale_compute(1000);
	}
}

static void make_one_lock(struct scale_crew *c)
{
	c->shared = new_zeros(sizeof(struct one_lock));
}

static void one_lock(struct scale_member *me)
{
	struct one_lock *q = me->crew->shared;

	for (;; me->ops++) {
		uint32_t free_word = 0;

		while (load_relaxed(&q->lock) || !cas_acquire(&q->lock, &free_word, 1))
			free_word = 0;
		plain_read(&q->slot[q->head % 256]);
		plain_write(&q->slot[q->tail % 256]);
		q->head++;
		q->tail++;
		store_release(&q->lock, 0);
		scale_compute(10);
	}
}

const struct scale_case scale_cases[] = {
	{ "yield", 32, yield, NULL },
	{ "spawn", 8, spawn, NULL },
	{ "sem", 16, sem, make_pairs },
	{ "sem-idle", 8, sem_idle, make_pairs },
	{ "stream", 16, stream, make_pairs },
	{ "many", 16, many, make_pairs },
	{ "mutex", 16, mutex, make_mutex },
	{ "sleep", 16, nap, NULL },
	{ "one-lock", 8, one_lock, make_one_lock },
	{ NULL, 0, NULL, NULL },
};
