/* SPDX-License-Identifier: MIT */
/*
 * channels/face_chan.h - one spelling of channels of uint64_t: weft's, and for
 * pthreads the usual one of a mutex and two condition variables
 */
#ifndef WEFT_BENCH_CHANNELS_FACE_CHAN_H
#define WEFT_BENCH_CHANNELS_FACE_CHAN_H

#include <stdlib.h>

#include "face.h"

#if FACE_IS_WEFT

struct face_chan {
	struct weft_chan *weft;
};

static inline void face_chan_create(struct face_chan *c, size_t capacity,
				    int one_to_one)
{
	must(weft_chan_create(&c->weft, sizeof(uint64_t), capacity,
			      one_to_one ? WEFT_CHAN_ONE_TO_ONE : 0),
	     "chan_create");
}

static inline void face_chan_send(struct face_chan *c, uint64_t x)
{
	must(weft_chan_send(c->weft, &x, WEFT_FOREVER), "chan_send");
}

static inline uint64_t face_chan_recv(struct face_chan *c)
{
	uint64_t x;

	must(weft_chan_recv(c->weft, &x, WEFT_FOREVER), "chan_recv");
	return x;
}

static inline void face_chan_destroy(struct face_chan *c)
{
	must(weft_chan_destroy(c->weft), "chan_destroy");
}

#else

struct face_chan {
	pthread_mutex_t lock;
	pthread_cond_t more, room;
	size_t capacity, places, head, count;
	size_t taken;		/* rendezvous: how many were received */
	uint64_t *message;
};

static inline void face_chan_create(struct face_chan *c, size_t capacity,
				    int one_to_one)
{
	(void)one_to_one;
	memset(c, 0, sizeof(*c));
	c->capacity = capacity;
	c->places = capacity ? capacity : 1;
	c->message = calloc(c->places, sizeof(*c->message));
	must(c->message ? 0 : ENOMEM, "calloc");
	must(pthread_mutex_init(&c->lock, NULL), "mutex_init");
	must(pthread_cond_init(&c->more, NULL), "cond_init");
	must(pthread_cond_init(&c->room, NULL), "cond_init");
}

static inline void face_chan_send(struct face_chan *c, uint64_t x)
{
	size_t ticket;

	pthread_mutex_lock(&c->lock);
	while (c->count == c->places)
		pthread_cond_wait(&c->room, &c->lock);
	c->message[(c->head + c->count) % c->places] = x;
	c->count++;
	ticket = c->taken + c->count;
	pthread_cond_signal(&c->more);
	/* A rendezvous lasts until its message has been received. */
	while (!c->capacity && c->taken < ticket)
		pthread_cond_wait(&c->room, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

static inline uint64_t face_chan_recv(struct face_chan *c)
{
	uint64_t x;

	pthread_mutex_lock(&c->lock);
	while (!c->count)
		pthread_cond_wait(&c->more, &c->lock);
	x = c->message[c->head];
	c->head = (c->head + 1) % c->places;
	c->count--;
	c->taken++;
	if (c->capacity)
		pthread_cond_signal(&c->room);
	else
		pthread_cond_broadcast(&c->room);
	pthread_mutex_unlock(&c->lock);
	return x;
}

static inline void face_chan_destroy(struct face_chan *c)
{
	free(c->message);
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->more);
	pthread_cond_destroy(&c->room);
}

#endif
#endif
