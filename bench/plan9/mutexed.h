/* SPDX-License-Identifier: MIT */
/* plan9/mutexed.h - the usual channel: a mutex and two condition variables */
#ifndef WEFT_BENCH_PLAN9_MUTEXED_H
#define WEFT_BENCH_PLAN9_MUTEXED_H

#include "face.h"
#include "plan9/talk.h"

struct mutexed_chan {
	struct face_mutex lock;		/* protects all below */
	struct face_cond more, room;
	unsigned head, count;
	uint64_t message[CAPACITY];
};

static void mutexed_create(struct mutexed_chan *c)
{
	memset(c, 0, sizeof(*c));
	must(face_mutex_init(&c->lock, 0), "mutex_init");
	must(face_cond_init(&c->more), "cond_init");
	must(face_cond_init(&c->room), "cond_init");
}

static void mutexed_send(struct mutexed_chan *c, uint64_t x)
{
	must(face_lock(&c->lock), "lock");
	while (c->count == CAPACITY)
		must(face_cond_wait(&c->room, &c->lock), "cond_wait");
	c->message[(c->head + c->count++) % CAPACITY] = x;
	must(face_cond_signal(&c->more), "cond_signal");
	must(face_unlock(&c->lock), "unlock");
}

static uint64_t mutexed_recv(struct mutexed_chan *c)
{
	uint64_t x;

	must(face_lock(&c->lock), "lock");
	while (!c->count)
		must(face_cond_wait(&c->more, &c->lock), "cond_wait");
	x = c->message[c->head];
	c->head = (c->head + 1) % CAPACITY;
	c->count--;
	must(face_cond_signal(&c->room), "cond_signal");
	must(face_unlock(&c->lock), "unlock");
	return x;
}

#endif
