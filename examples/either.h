/* SPDX-License-Identifier: MIT */
/*
 * either.h - the few calls that the examples need, as weft's or as Linux's
 *
 * The same source is compiled twice, once with -DWITH_PTHREADS, so that the
 * results and the time of the two can be compared. All of weft's calls here
 * have the shape of their pthread counterparts; errors are negative errno
 * values instead of positive ones, which makes no difference to a test for 0.
 */
#ifndef WEFT_EXAMPLES_EITHER_H
#define WEFT_EXAMPLES_EITHER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef EITHER_STACK
#define EITHER_STACK	(64 * 1024)
#endif

#ifdef WITH_PTHREADS

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#define EITHER_NAME	"pthreads"

typedef pthread_t either_thread;
struct either_mutex { pthread_mutex_t is; };
struct either_cond { pthread_cond_t is; };
struct either_sem { sem_t is; };

static inline int either_start(unsigned vcpus)
{
	(void)vcpus;
	return 0;
}

static inline int either_stop(void)
{
	return 0;
}

static inline int either_spawn(either_thread *id, void *(*fn)(void *),
			       void *arg)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return err;
	err = pthread_attr_setstacksize(&attr, EITHER_STACK);
	if (!err)
		err = pthread_create(id, &attr, fn, arg);
	pthread_attr_destroy(&attr);
	return err;
}

static inline int either_join(either_thread id, void **result)
{
	return pthread_join(id, result);
}

static inline int either_mutex_init(struct either_mutex *m)
{
	return pthread_mutex_init(&m->is, NULL);
}

static inline int either_lock(struct either_mutex *m)
{
	return pthread_mutex_lock(&m->is);
}

static inline int either_unlock(struct either_mutex *m)
{
	return pthread_mutex_unlock(&m->is);
}

static inline int either_cond_init(struct either_cond *c)
{
	return pthread_cond_init(&c->is, NULL);
}

static inline int either_wait(struct either_cond *c, struct either_mutex *m)
{
	return pthread_cond_wait(&c->is, &m->is);
}

static inline int either_signal(struct either_cond *c)
{
	return pthread_cond_signal(&c->is);
}

static inline int either_sem_init(struct either_sem *s, unsigned value)
{
	return sem_init(&s->is, 0, value) ? errno : 0;
}

static inline int either_sem_wait(struct either_sem *s)
{
	while (sem_wait(&s->is))
		if (errno != EINTR)
			return errno;
	return 0;
}

static inline int either_sem_post(struct either_sem *s)
{
	return sem_post(&s->is) ? errno : 0;
}

static inline void either_sleep_us(unsigned us)
{
	usleep(us);
}

static inline void either_block_begin(void)
{
}

static inline void either_block_end(void)
{
}

#else

#include <weft.h>

#define EITHER_NAME	"weft"
#ifndef EITHER_FLAGS
#define EITHER_FLAGS	0	/* or WEFT_LIGHT */
#endif

typedef uint64_t either_thread;
struct either_mutex { struct weft_mutex is; };
struct either_cond { struct weft_cond is; };
struct either_sem { struct weft_sem is; };

static inline int either_start(unsigned vcpus)
{
	struct weft_options options = { .vcpus = vcpus };

	return weft_start(&options);
}

static inline int either_stop(void)
{
	return weft_stop();
}

static inline int either_spawn(either_thread *id, void *(*fn)(void *),
			       void *arg)
{
	struct weft_attr attr = {
		.stack_bytes = EITHER_STACK, .flags = EITHER_FLAGS,
	};

	return weft_spawn(id, &attr, fn, arg);
}

static inline int either_join(either_thread id, void **result)
{
	return weft_join(id, result);
}

static inline int either_mutex_init(struct either_mutex *m)
{
	return weft_mutex_init(&m->is, WEFT_MUTEX_ADAPTIVE);
}

static inline int either_lock(struct either_mutex *m)
{
	return weft_mutex_lock(&m->is);
}

static inline int either_unlock(struct either_mutex *m)
{
	return weft_mutex_unlock(&m->is);
}

/* Zero-filled is valid, for all of weft's but the barrier. */
static inline int either_cond_init(struct either_cond *c)
{
	memset(c, 0, sizeof(*c));
	return 0;
}

static inline int either_wait(struct either_cond *c, struct either_mutex *m)
{
	return weft_cond_wait(&c->is, &m->is);
}

static inline int either_signal(struct either_cond *c)
{
	return weft_cond_signal(&c->is);
}

static inline int either_sem_init(struct either_sem *s, unsigned value)
{
	return weft_sem_init(&s->is, value);
}

static inline int either_sem_wait(struct either_sem *s)
{
	return weft_sem_wait(&s->is);
}

static inline int either_sem_post(struct either_sem *s)
{
	return weft_sem_post(&s->is);
}

static inline void either_sleep_us(unsigned us)
{
	weft_sleep(us * INT64_C(1000));
}

/* Around what may block in the kernel: others run meanwhile. */
static inline void either_block_begin(void)
{
	weft_block_begin();
}

static inline void either_block_end(void)
{
	weft_block_end();
}

#endif

static inline void either_must(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

#endif
