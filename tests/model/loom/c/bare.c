/* SPDX-License-Identifier: MIT */
/* bare.c - a scenario: thread/bare.h; a thread's id is found when it has become valid */
#include "model.h"

#include "thread/bare.h"

struct wefti_dense wefti_slots;
_Thread_local struct wefti_thread *wefti_tls_self;

static struct wefti_thread thread[2];	/* slot 0 is nobody's */
static _Atomic uint64_t told;		/* the id, in an order of its own */

struct wefti_thread *model_self(void)
{
	return &thread[1];
}

static void init(void)
{
	store_relaxed(&wefti_slots.chunk[0], (char *)thread);
	thread[1].slot = 1;
	store_relaxed(&thread[1].gen, 0);
	store_relaxed(&told, (uint64_t)0);
	m_data_write(&thread[1]);
}

static void begin(void)
{
	m_data_write(&thread[1]);
	wefti_thread_turn(&thread[1]);
	store_relaxed(&told, wefti_thread_id(&thread[1]));
}

static void find(void)
{
	struct wefti_thread *t = wefti_thread_find(load_relaxed(&told));

	if (t)
		m_data_read(t);
}

static void check(void)
{
	m_check(wefti_thread_find(load_relaxed(&told)) == &thread[1]);
}

SCENARIO(bare) = { init, { begin, find }, check };
