/* SPDX-License-Identifier: MIT */
/*
 * channels/locked_chan.h - the usual channel of uint64_t, of a mutex and two condition
 * variables: weft's, or libc's
 */
#ifndef WEFT_BENCH_CHANNELS_LOCKED_CHAN_H
#define WEFT_BENCH_CHANNELS_LOCKED_CHAN_H

#include <stdlib.h>

#include "face.h"

struct locked_chan {
	struct face_mutex lock;
	struct face_cond more, room;
	size_t capacity, places, head, count;
	size_t taken;		/* rendezvous: how many were received */
	uint64_t *message;
};

static inline void locked_chan_create(struct locked_chan *c, size_t capacity)
{
	memset(c, 0, sizeof(*c));
	c->capacity = capacity;
	c->places = capacity ? capacity : 1;
	c->message = calloc(c->places, sizeof(*c->message));
	must(c->message ? 0 : ENOMEM, "calloc");
	must(face_mutex_init(&c->lock, 0), "mutex_init");
	must(face_cond_init(&c->more), "cond_init");
	must(face_cond_init(&c->room), "cond_init");
}

static inline void locked_chan_send(struct locked_chan *c, uint64_t x)
{
	size_t ticket;

	must(face_lock(&c->lock), "lock");
	while (c->count == c->places)
		must(face_cond_wait(&c->room, &c->lock), "cond_wait");
	c->message[(c->head + c->count) % c->places] = x;
	c->count++;
	ticket = c->taken + c->count;
	must(face_cond_signal(&c->more), "cond_signal");
	/* A rendezvous lasts until its message has been received. */
	while (!c->capacity && c->taken < ticket)
		must(face_cond_wait(&c->room, &c->lock), "cond_wait");
	must(face_unlock(&c->lock), "unlock");
}

static inline uint64_t locked_chan_recv(struct locked_chan *c)
{
	uint64_t x;

	must(face_lock(&c->lock), "lock");
	while (!c->count)
		must(face_cond_wait(&c->more, &c->lock), "cond_wait");
	x = c->message[c->head];
	c->head = (c->head + 1) % c->places;
	c->count--;
	c->taken++;
	must(c->capacity ? face_cond_signal(&c->room) :
			   face_cond_broadcast(&c->room), "cond_signal");
	must(face_unlock(&c->lock), "unlock");
	return x;
}

static inline void locked_chan_destroy(struct locked_chan *c)
{
	free(c->message);
	must(face_mutex_destroy(&c->lock), "mutex_destroy");
	must(face_cond_destroy(&c->more), "cond_destroy");
	must(face_cond_destroy(&c->room), "cond_destroy");
}

#endif
