/* SPDX-License-Identifier: MIT */
/* face_weft.h - face.h's calls as weft's; see there */
#ifndef WEFT_BENCH_FACE_WEFT_H
#define WEFT_BENCH_FACE_WEFT_H

#include <weft.h>

#define FACE_IS_WEFT	1

typedef uint64_t face_thread;

struct face_mutex {
	struct weft_mutex weft;
};

struct face_cond {
	struct weft_cond weft;
};

struct face_sem {
	struct weft_sem weft;
};

struct face_barrier {
	struct weft_barrier weft;
};

static struct weft_attr face_attr;

static inline int face_start(const struct bench_ctx *ctx)
{
	struct weft_options options = { .vcpus = ctx->vcpus };

	face_attr.stack_bytes = ctx->stack_bytes;
	face_attr.flags = FACE_FLAGS;
	return weft_start(&options);
}

static inline int face_stop(void)
{
	return weft_stop();
}

static inline int face_spawn(face_thread *id, void *(*fn)(void *), void *arg)
{
	return weft_spawn(id, &face_attr, fn, arg);
}

static inline int face_join(face_thread id)
{
	return weft_join(id, NULL);
}

static inline void face_yield(void)
{
	weft_yield();
}

static inline void face_sleep(int64_t ns)
{
	(void)weft_sleep(ns);
}

static inline int face_mutex_init(struct face_mutex *m, unsigned policy)
{
	return weft_mutex_init(&m->weft, policy);
}

static inline int face_mutex_destroy(struct face_mutex *m)
{
	return weft_mutex_destroy(&m->weft);
}

static inline int face_lock(struct face_mutex *m)
{
	return weft_mutex_lock(&m->weft);
}

static inline int face_unlock(struct face_mutex *m)
{
	return weft_mutex_unlock(&m->weft);
}

static inline int face_cond_init(struct face_cond *c)
{
	memset(c, 0, sizeof(*c));
	return 0;
}

static inline int face_cond_destroy(struct face_cond *c)
{
	return weft_cond_destroy(&c->weft);
}

static inline int face_cond_wait(struct face_cond *c, struct face_mutex *m)
{
	return weft_cond_wait(&c->weft, &m->weft);
}

static inline int face_cond_signal(struct face_cond *c)
{
	return weft_cond_signal(&c->weft);
}

static inline int face_cond_broadcast(struct face_cond *c)
{
	return weft_cond_broadcast(&c->weft);
}

static inline int face_sem_init(struct face_sem *s, unsigned value)
{
	return weft_sem_init(&s->weft, value);
}

static inline int face_sem_wait(struct face_sem *s)
{
	return weft_sem_wait(&s->weft);
}

static inline int face_sem_post(struct face_sem *s)
{
	return weft_sem_post(&s->weft);
}

static inline int face_barrier_init(struct face_barrier *b, unsigned count)
{
	return weft_barrier_init(&b->weft, count);
}

static inline int face_barrier_wait(struct face_barrier *b)
{
	int err = weft_barrier_wait(&b->weft);

	return err == WEFT_BARRIER_SERIAL ? 0 : err;
}

#endif
