/* SPDX-License-Identifier: MIT */
/*
 * explore/native.c - the public calls of libweft.so as points, for programs of weft's own threads
 *
 * Here the runtime chooses (sched/explore.c, by WEFT_SCHED=explore and WEFT_SEED): it has one
 * VCPU, and draws the next thread among all that are ready. What it lacks are points, as a
 * lock that is free is taken without a look at other threads. So each call below gives way
 * before it begins, once in `rarely` draws. A yield is such a draw itself.
 *
 * The library knows no objects of such a program. The runtime tells a deadlock and wrong use.
 *
 * Rejected: tries and waits of this library's own, as for pthreads. Then the waits of the
 * runtime, which are what the program will run on, would not be explored.
 */
#include "explore.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "start.h"
#include "weft.h"

#define RARELY_KINDS	4u	/* 2, 4, 8, 16 */
#define NUMBERS		1024u

static uint64_t state, rarely;
static uint64_t ids[NUMBERS];	/* of threads, in order of their first points */

#define NEXT(name)								\
	({									\
		static __typeof__(&name) found;					\
										\
		if (!found)							\
			found = (__typeof__(&name))dlsym(RTLD_NEXT, #name);	\
		found;								\
	})

/* splitmix64. Not the library's own stream, which a strategy begins. */
static uint64_t draw(void)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void wefti_ex_native_begin(void)
{
	char text[24];

	state = wefti_ex.seed;
	rarely = UINT64_C(2) << draw() % RARELY_KINDS;
	snprintf(text, sizeof(text), "%lu", (unsigned long)wefti_ex.seed);
	(void)setenv("WEFT_SEED", text, 1);
}

static unsigned number(uint64_t id)
{
	char line[64];
	unsigned i;

	for (i = 0; i < NUMBERS - 1 && ids[i] && ids[i] != id; i++)
		;
	if (ids[i] == id)
		return i + 1;
	ids[i] = id;
	wefti_ex.report->threads = i + 1;
	if (wefti_ex.traces)	/* the runtime's reports have the id */
		wefti_ex_put(line, (size_t)snprintf(line, sizeof(line),
			     "        thread %-3u is id %lu\n", i + 1, (unsigned long)id));
	return i + 1;
}

static void note(const char *name, const void *where)
{
	struct wefti_ex_report *r = wefti_ex.report;
	const unsigned n = number(NEXT(weft_self)());
	char line[2 * WEFTI_EX_PLACE_TEXT], place[WEFTI_EX_PLACE_TEXT];
	uint64_t h = r->hash ^ n;

	if (++r->steps > wefti_ex.steps_most) {
		snprintf(r->text, sizeof(r->text), "weft: no end after %lu steps\n",
			 (unsigned long)wefti_ex.steps_most);
		wefti_ex_end_run(WEFTI_EX_HANG);
	}
	for (const char *c = name; *c; c++)
		h = (h ^ (unsigned char)*c) * UINT64_C(1099511628211);
	r->hash = h;
	r->where = (uintptr_t)where;
	if (wefti_ex.traces)
		wefti_ex_put(line, (size_t)snprintf(line, sizeof(line),
			     "%6lu  thread %-3u %s, %s\n", (unsigned long)r->steps, n, name,
			     wefti_ex_place_name(where, place)));
}

static void point(const char *name, const void *where)
{
	if (!wefti_ex.is_native || NEXT(weft_vcpus)() == 0)
		return;
	if (draw() % rarely == 0)
		NEXT(weft_yield)();
	note(name, where);
}

#define POINT1(name, A)								\
	EXPORT __typeof__(name((A)0)) name(A a)					\
	{									\
		point(#name, CALLER);						\
		return NEXT(name)(a);						\
	}
#define POINT2(name, A, B)							\
	EXPORT __typeof__(name((A)0, (B)0)) name(A a, B b)			\
	{									\
		point(#name, CALLER);						\
		return NEXT(name)(a, b);					\
	}
#define POINT3(name, A, B, C)							\
	EXPORT __typeof__(name((A)0, (B)0, (C)0)) name(A a, B b, C c)		\
	{									\
		point(#name, CALLER);						\
		return NEXT(name)(a, b, c);					\
	}

POINT1(weft_mutex_lock, struct weft_mutex *)
POINT2(weft_mutex_lock_until, struct weft_mutex *, int64_t)
POINT1(weft_mutex_try_lock, struct weft_mutex *)
POINT1(weft_mutex_unlock, struct weft_mutex *)
POINT1(weft_mutex_destroy, struct weft_mutex *)
POINT2(weft_cond_wait, struct weft_cond *, struct weft_mutex *)
POINT3(weft_cond_wait_until, struct weft_cond *, struct weft_mutex *, int64_t)
POINT1(weft_cond_signal, struct weft_cond *)
POINT1(weft_cond_broadcast, struct weft_cond *)
POINT1(weft_rwlock_read, struct weft_rwlock *)
POINT2(weft_rwlock_read_until, struct weft_rwlock *, int64_t)
POINT1(weft_rwlock_try_read, struct weft_rwlock *)
POINT1(weft_rwlock_write, struct weft_rwlock *)
POINT2(weft_rwlock_write_until, struct weft_rwlock *, int64_t)
POINT1(weft_rwlock_try_write, struct weft_rwlock *)
POINT1(weft_rwlock_unlock, struct weft_rwlock *)
POINT1(weft_sem_post, struct weft_sem *)
POINT1(weft_sem_wait, struct weft_sem *)
POINT2(weft_sem_wait_until, struct weft_sem *, int64_t)
POINT1(weft_sem_try_wait, struct weft_sem *)
POINT1(weft_barrier_wait, struct weft_barrier *)
POINT2(weft_barrier_wait_until, struct weft_barrier *, int64_t)
POINT3(weft_chan_send, struct weft_chan *, const void *, int64_t)
POINT3(weft_chan_recv, struct weft_chan *, void *, int64_t)
POINT1(weft_chan_close, struct weft_chan *)
POINT3(weft_alt, struct weft_alt *, size_t, int64_t)
POINT2(weft_join, uint64_t, void **)
POINT3(weft_join_until, uint64_t, void **, int64_t)
POINT1(weft_detach, uint64_t)
POINT1(weft_cancel, uint64_t)
POINT3(weft_read, int, void *, size_t)
POINT3(weft_write, int, const void *, size_t)
POINT1(weft_close, int)

/* The child runs first. It is a choice whether it goes on or its parent. */
EXPORT int weft_spawn(uint64_t *id, const struct weft_attr *attr, void *(*fn)(void *),
		      void *arg)
{
	int error;

	point("weft_spawn", CALLER);
	error = NEXT(weft_spawn)(id, attr, fn, arg);
	point("has spawned", CALLER);
	return error;
}
