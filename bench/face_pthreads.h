/* SPDX-License-Identifier: MIT */
/* face_pthreads.h - face.h's calls as Linux pthreads; see there */
#ifndef WEFT_BENCH_FACE_PTHREADS_H
#define WEFT_BENCH_FACE_PTHREADS_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#define FACE_IS_WEFT	0

typedef pthread_t face_thread;

struct face_mutex {
	pthread_mutex_t pthread;
};

struct face_cond {
	pthread_cond_t pthread;
};

struct face_sem {
	sem_t posix;
};

struct face_barrier {
	pthread_barrier_t pthread;
};

static pthread_attr_t face_attr;

static inline int face_start(const struct bench_ctx *ctx)
{
	int err = pthread_attr_init(&face_attr);

	/* As many CPUs as the others have VCPUs. */
	bench_pin(ctx->vcpus);
	if (!err)
		err = pthread_attr_setstacksize(&face_attr, ctx->stack_bytes);
	return err;
}

static inline int face_stop(void)
{
	return pthread_attr_destroy(&face_attr);
}

static inline int face_spawn(face_thread *id, void *(*fn)(void *), void *arg)
{
	return pthread_create(id, &face_attr, fn, arg);
}

static inline int face_join(face_thread id)
{
	return pthread_join(id, NULL);
}

static inline void face_yield(void)
{
	sched_yield();
}

static inline void face_sleep(int64_t ns)
{
	const struct timespec t = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&t, NULL);
}

/* There is one policy: the default one. */
static inline int face_mutex_init(struct face_mutex *m, unsigned policy)
{
	(void)policy;
	return pthread_mutex_init(&m->pthread, NULL);
}

static inline int face_mutex_destroy(struct face_mutex *m)
{
	return pthread_mutex_destroy(&m->pthread);
}

static inline int face_lock(struct face_mutex *m)
{
	return pthread_mutex_lock(&m->pthread);
}

static inline int face_unlock(struct face_mutex *m)
{
	return pthread_mutex_unlock(&m->pthread);
}

static inline int face_cond_init(struct face_cond *c)
{
	return pthread_cond_init(&c->pthread, NULL);
}

static inline int face_cond_destroy(struct face_cond *c)
{
	return pthread_cond_destroy(&c->pthread);
}

static inline int face_cond_wait(struct face_cond *c, struct face_mutex *m)
{
	return pthread_cond_wait(&c->pthread, &m->pthread);
}

static inline int face_cond_signal(struct face_cond *c)
{
	return pthread_cond_signal(&c->pthread);
}

static inline int face_cond_broadcast(struct face_cond *c)
{
	return pthread_cond_broadcast(&c->pthread);
}

static inline int face_sem_init(struct face_sem *s, unsigned value)
{
	return sem_init(&s->posix, 0, value);
}

static inline int face_sem_wait(struct face_sem *s)
{
	int err;

	do {
		err = sem_wait(&s->posix);
	} while (err && errno == EINTR);
	return err;
}

static inline int face_sem_post(struct face_sem *s)
{
	return sem_post(&s->posix);
}

static inline int face_barrier_init(struct face_barrier *b, unsigned count)
{
	return pthread_barrier_init(&b->pthread, NULL, count);
}

static inline int face_barrier_wait(struct face_barrier *b)
{
	int err = pthread_barrier_wait(&b->pthread);

	return err == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : err;
}

#endif
