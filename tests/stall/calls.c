/* SPDX-License-Identifier: MIT */
/*
 * calls.c - the calls in which a kernel thread is stopped, and the other
 * callers
 */
#include "calls.h"

#include "sync/mutex.h"
#include "sync/mutex_line.h"
#include "thread/bare.h"
#include "thread/wait.h"
#include "threads.h"

#define ROUNDS		20

static void m_lock(struct mutex *m)
{
	if (m->spins)
		must(bench_spin_lock(&m->spin) == 0);
	else
		must(weft_mutex_lock(&m->weft) == 0);
}

static void m_unlock(struct mutex *m)
{
	if (m->spins)
		must(bench_spin_unlock(&m->spin) == 0);
	else
		must(weft_mutex_unlock(&m->weft) == 0);
}

static void *give_back(void *arg)
{
	return arg;
}

static void *park_for_ever(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)weft_sleep_until(WEFT_FOREVER);
}

/* The threads that need the mutex. */
void *stall_use(void *arg)
{
	struct scene *s = arg;

	for (int i = 0; i < ROUNDS; i++) {
		m_lock(&s->mutex);
		weft_yield();
		m_unlock(&s->mutex);
	}
	return arg;
}

/* Holds the mutex, parked; unlocks when it is cancelled. */
static void *hold(void *arg)
{
	struct scene *s = arg;

	m_lock(&s->mutex);
	(void)!weft_sleep_until(WEFT_FOREVER);
	m_unlock(&s->mutex);
	return arg;
}

static void *wait_in_line(void *arg)
{
	struct scene *s = arg;

	m_lock(&s->mutex);
	m_unlock(&s->mutex);
	return arg;
}

static void with_holder(struct scene *s)
{
	s->helper = spawn_with(s->flags, hold, s);
	stall_await_parked(s->helper);
}

static void with_parked(struct scene *s)
{
	s->helper = spawn_with(s->flags, park_for_ever, NULL);
	stall_await_parked(s->helper);
}

static void with_ended(struct scene *s)
{
	struct wefti_thread *t;

	s->helper = spawn_with(s->flags, give_back, s);
	t = wefti_thread_find(s->helper);
	while (load_seq_cst(&t->join) !=
	       wefti_join_word((uint32_t)(s->helper >> 32), WEFTI_JOIN_DONE))
		stall_nap();
}

static void *until_let_go(void *arg)
{
	struct scene *s = arg;

	while (!load_seq_cst(&s->let_go))
		weft_yield();
	return arg;
}

/* The calls. */

void *stall_call_lock(void *arg)
{
	struct scene *s = arg;

	STALL_STEPS(&s->victim, m_lock(&s->mutex));
	m_unlock(&s->mutex);
	return NULL;
}

static void *call_try(void *arg)
{
	struct scene *s = arg;
	int error;

	STALL_STEPS(&s->victim, error = weft_mutex_try_lock(&s->mutex.weft));
	if (error == 0)
		m_unlock(&s->mutex);
	return NULL;
}

static void *call_unlock(void *arg)
{
	struct scene *s = arg;

	m_lock(&s->mutex);
	STALL_STEPS(&s->victim, m_unlock(&s->mutex));
	return NULL;
}

static void *call_unlock_with_waiter(void *arg)
{
	struct scene *s = arg;
	struct wefti_thread *t;

	m_lock(&s->mutex);
	s->helper = spawn_with(s->flags, wait_in_line, s);
	t = wefti_thread_find(s->helper);
	while (!wefti_wait_is_parked(t) ||
	       load_seq_cst(&wefti_mutex_of(&s->mutex.weft)->word) >>
	       WEFTI_MUTEX_TOP_SHIFT != t->slot)
		weft_yield();
	STALL_STEPS(&s->victim, m_unlock(&s->mutex));
	return NULL;
}

static void *call_yield(void *arg)
{
	struct scene *s = arg;
	uint64_t id = spawn_with(s->flags, until_let_go, s);

	STALL_STEPS(&s->victim, weft_yield(); weft_yield());
	join(id);
	return NULL;
}

static void *call_spawn(void *arg)
{
	struct scene *s = arg;
	uint64_t id;

	STALL_STEPS(&s->victim, id = spawn_with(s->flags, give_back, s));
	must(join(id) == s);
	return NULL;
}

static void *call_join(void *arg)
{
	struct scene *s = arg;

	STALL_STEPS(&s->victim, join(s->helper));
	s->helper = 0;
	return NULL;
}

static void *call_unpark(void *arg)
{
	struct scene *s = arg;

	STALL_STEPS(&s->victim, must(weft_cancel(s->helper) == 0));
	return NULL;
}

static void *call_park(void *arg)
{
	struct scene *s = arg;

	STALL_STEPS(&s->victim, (void)!weft_sleep_until(WEFT_FOREVER));
	return NULL;
}

static void cancel_helper(struct scene *s)
{
	(void)!weft_cancel(s->helper);
}

static void cancel_victim(struct scene *s)
{
	(void)!weft_cancel(s->victim.id);
}

const struct call stall_calls[] = {
	{ "lock", STALL_ALONE, NULL, stall_call_lock, NULL },
	{ "lock of a taken one", STALL_BEHIND_HOLDER, with_holder, stall_call_lock, cancel_helper },
	{ "try", STALL_ALONE, NULL, call_try, NULL },
	{ "unlock", STALL_ALONE, NULL, call_unlock, NULL },
	{ "unlock with a waiter", STALL_NO_MUTEX, NULL, call_unlock_with_waiter, NULL },
	{ "yield", STALL_NO_MUTEX, NULL, call_yield, NULL },
	{ "spawn", STALL_NO_MUTEX, NULL, call_spawn, NULL },
	{ "join of an ended one", STALL_NO_MUTEX, with_ended, call_join, NULL },
	{ "join", STALL_NO_MUTEX, with_parked, call_join, cancel_helper },
	{ "unpark", STALL_NO_MUTEX, with_parked, call_unpark, NULL },
	{ "park", STALL_NO_MUTEX, NULL, call_park, cancel_victim },
};

const size_t stall_call_count = sizeof(stall_calls) / sizeof(stall_calls[0]);
