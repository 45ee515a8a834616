/* SPDX-License-Identifier: MIT */
/*
 * channels/face_chan.h - one spelling of channels of uint64_t: weft's, and for
 * pthreads that of locked_chan.h
 */
#ifndef WEFT_BENCH_CHANNELS_FACE_CHAN_H
#define WEFT_BENCH_CHANNELS_FACE_CHAN_H

#include "channels/locked_chan.h"
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
	struct locked_chan locked;
};

static inline void face_chan_create(struct face_chan *c, size_t capacity,
				    int one_to_one)
{
	(void)one_to_one;
	locked_chan_create(&c->locked, capacity);
}

static inline void face_chan_send(struct face_chan *c, uint64_t x)
{
	locked_chan_send(&c->locked, x);
}

static inline uint64_t face_chan_recv(struct face_chan *c)
{
	return locked_chan_recv(&c->locked);
}

static inline void face_chan_destroy(struct face_chan *c)
{
	locked_chan_destroy(&c->locked);
}

#endif
#endif
