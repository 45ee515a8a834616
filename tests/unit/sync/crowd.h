/* SPDX-License-Identifier: MIT */
/*
 * crowd.h - threads of all kinds at one object
 *
 * A crowd is light threads, threads with TLS, kernel threads that weft did not
 * make, and main itself.
 */
#ifndef WEFT_TESTS_SYNC_CROWD_H
#define WEFT_TESTS_SYNC_CROWD_H

#include <pthread.h>
#include <string.h>

#include "lockfree/atomic.h"
#include "mem/slot.h"
#include "sched/seat.h"
#include "thread/wait.h"
#include "threads.h"

#define CROWD_MOST	64

struct member {
	void (*fn)(unsigned me, void *arg);
	void *arg;
	unsigned me;
	uint64_t id;
	pthread_t foreign;
	_Atomic(struct wefti_thread *) self;	/* once it runs */
	_Atomic uint32_t ended;
};

static inline void *member_main(void *arg)
{
	struct member *m = arg;

	store_seq_cst(&m->self, wefti_known_self());
	m->fn(m->me, m->arg);
	store_seq_cst(&m->ended, 1);
	return NULL;
}

static inline int member_is_foreign(const struct member *m)
{
	return m->me % 4 == 3;
}

static inline void member_start(struct member *m, unsigned me,
				void (*fn)(unsigned me, void *arg), void *arg)
{
	*m = (struct member){ .fn = fn, .arg = arg, .me = me };
	if (member_is_foreign(m))
		must(pthread_create(&m->foreign, NULL, member_main, m) == 0);
	else
		m->id = spawn_with(me % 2 ? WEFT_LIGHT : 0, member_main, m);
}

static inline void member_join(struct member *m)
{
	while (!load_seq_cst(&m->ended))
		rest();
	if (member_is_foreign(m))
		must(pthread_join(m->foreign, NULL) == 0);
	else
		join(m->id);
}

/* fn(0 .. count - 1), the last by the caller; returns when all have. */
static inline void crowd_run(unsigned count,
			     void (*fn)(unsigned me, void *arg), void *arg)
{
	static struct member members[CROWD_MOST];

	must(count <= CROWD_MOST);
	for (unsigned i = 0; i + 1 < count; i++)
		member_start(&members[i], i, fn, arg);
	fn(count - 1, arg);
	for (unsigned i = 0; i + 1 < count; i++)
		member_join(&members[i]);
}

/* Until it waits for `object`, and is off its stack. */
static inline void until_waits_for(struct member *m, const void *object)
{
	for (;;) {
		struct wefti_thread *t = load_seq_cst(&m->self);

		if (t && load_seq_cst(&t->waits_for) == object &&
		    wefti_wait_is_parked(t))
			return;
		rest();
	}
}

/* A short time from now, or none at all, or a past one. */
static inline int64_t soon(uint64_t *seed)
{
	return weft_clock() + (int64_t)test_random_below(seed, 20000) - 2000;
}

/* Some threads give way here and there, so that they meet in other orders. */
static inline void dither(uint64_t *seed)
{
	switch (test_random_below(seed, 16)) {
	case 0:
		rest();
		break;
	case 1:
	case 2:
		weft_yield();
		break;
	default:
		break;
	}
}

/* Memory of an object that has ended: nobody may write to it any more. */
static inline void poison(void *object, size_t bytes)
{
	memset(object, 0xa5, bytes);
}

static inline int is_poisoned(const void *object, size_t bytes)
{
	const unsigned char *byte = object;

	for (size_t i = 0; i < bytes; i++)
		if (byte[i] != 0xa5)
			return 0;
	return 1;
}

#endif
