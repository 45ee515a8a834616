/* SPDX-License-Identifier: MIT */
/* sync_calls.c - calls on objects that have servers, and the other callers */
#include "sync_calls.h"

#include "sync/mutex.h"

#define PAST	1	/* a deadline: the call waits, and its time is over */

int64_t sync_soon(void)
{
	return weft_clock() + 50000;
}

/* Parked, it may still be on its way to the list: cond's mutex comes behind. */
static void await_in_list(struct sync_scene *s, uint64_t id)
{
	stall_await_parked(id);
	must(weft_mutex_lock(&s->mutex) == 0);
	must(weft_mutex_unlock(&s->mutex) == 0);
}

void sync_help(struct sync_scene *s, void *(*fn)(void *))
{
	uint64_t id = spawn_with(s->helpers % 2 ? WEFT_LIGHT : 0, fn, s);

	await_in_list(s, id);
	s->helper[s->helpers++] = id;
}

static void wake_nobody(struct sync_scene *s)
{
	for (int i = 0; i < s->helpers; i++)
		(void)!weft_cancel(s->helper[i]);
}

/* Semaphore */

static void post(struct sync_scene *s)
{
	fetch_add_seq_cst(&s->posted, 1);
	must(weft_sem_post(&s->sem) == 0);
}

static void *sem_wait(void *arg)
{
	struct sync_scene *s = arg;

	must(weft_sem_wait(&s->sem) == 0);
	fetch_add_seq_cst(&s->taken, 1);
	return NULL;
}

static void *call_sem_wait(void *arg)
{
	struct sync_scene *s = arg;

	STALL_STEPS(&s->victim, must(weft_sem_wait(&s->sem) == 0));
	fetch_add_seq_cst(&s->taken, 1);
	return NULL;
}

static void *call_sem_wait_of_one(void *arg)
{
	post(arg);
	return call_sem_wait(arg);
}

static void *call_sem_wait_late(void *arg)
{
	struct sync_scene *s = arg;
	int error;

	STALL_STEPS(&s->victim, error = weft_sem_wait_until(&s->sem, PAST));
	if (error == 0)
		fetch_add_seq_cst(&s->taken, 1);
	return NULL;
}

static void *call_sem_post(void *arg)
{
	struct sync_scene *s = arg;

	STALL_STEPS(&s->victim, post(s));
	return NULL;
}

static void *use_sem(void *arg)
{
	struct sync_scene *s = arg;
	int error;

	post(s);
	error = weft_sem_try_wait(&s->sem);
	must(error == 0 || error == -EAGAIN);
	if (error == 0)
		fetch_add_seq_cst(&s->taken, 1);
	error = weft_sem_wait_until(&s->sem, sync_soon());
	must(error == 0 || error == -ETIMEDOUT);
	if (error == 0)
		fetch_add_seq_cst(&s->taken, 1);
	(void)weft_sem_value(&s->sem);
	return NULL;
}

/* One more waits, and there are enough for it and all before it. */
static void go_on_sem(struct sync_scene *s)
{
	uint64_t id = spawn(sem_wait, s);

	for (int i = 0; i < s->helpers + 2; i++)
		post(s);
	join(id);
}

/* Condition variable */

static void *cond_wait(void *arg)
{
	struct sync_scene *s = arg;

	must(weft_mutex_lock(&s->mutex) == 0);
	must(weft_cond_wait(&s->cond, &s->mutex) == 0);
	must(weft_mutex_unlock(&s->mutex) == 0);
	return NULL;
}

static void *call_cond_wait(void *arg)
{
	struct sync_scene *s = arg;

	must(weft_mutex_lock(&s->mutex) == 0);
	STALL_STEPS(&s->victim, must(weft_cond_wait(&s->cond, &s->mutex) == 0));
	must(weft_mutex_unlock(&s->mutex) == 0);
	return NULL;
}

static void *call_cond_wait_late(void *arg)
{
	struct sync_scene *s = arg;

	must(weft_mutex_lock(&s->mutex) == 0);
	STALL_STEPS(&s->victim,
		    (void)!weft_cond_wait_until(&s->cond, &s->mutex, PAST));
	must(weft_mutex_unlock(&s->mutex) == 0);
	return NULL;
}

static void *call_signal(void *arg)
{
	struct sync_scene *s = arg;

	STALL_STEPS(&s->victim, weft_cond_signal(&s->cond));
	return NULL;
}

static void *call_broadcast(void *arg)
{
	struct sync_scene *s = arg;

	STALL_STEPS(&s->victim, weft_cond_broadcast(&s->cond));
	return NULL;
}

/*
 * A wait returns with the mutex. So one is made only where nobody who is stopped
 * can get it: it could be handed on to them.
 */
static void *use_cond(void *arg)
{
	struct sync_scene *s = arg;

	must(weft_cond_signal(&s->cond) == 0);
	if (weft_mutex_lock_until(&s->mutex, sync_soon()) != 0)
		return NULL;
	(void)!weft_cond_wait_until(&s->cond, &s->mutex, sync_soon());
	must(weft_mutex_unlock(&s->mutex) == 0);
	must(weft_cond_broadcast(&s->cond) == 0);
	return NULL;
}

static void go_on_cond(struct sync_scene *s)
{
	uint64_t id;

	if (load_seq_cst(&wefti_mutex_of(&s->mutex)->word) != 0)
		return;		/* the stopped one has it, or will */
	id = spawn(cond_wait, s);
	await_in_list(s, id);
	for (int i = 0; i < s->helpers + 2; i++)
		must(weft_cond_signal(&s->cond) == 0);
	join(id);
}

static void wake_cond(struct sync_scene *s)
{
	weft_cond_broadcast(&s->cond);
}

/* Reader-writer lock */

static void read_and_unlock(struct sync_scene *s)
{
	fetch_add_seq_cst(&s->reading, 1);
	must(load_seq_cst(&s->writing) == 0);
	fetch_sub_seq_cst(&s->reading, 1);
	must(weft_rwlock_unlock(&s->rwlock) == 0);
}

static void write_and_unlock(struct sync_scene *s)
{
	must(fetch_add_seq_cst(&s->writing, 1) == 0);
	must(load_seq_cst(&s->reading) == 0);
	fetch_sub_seq_cst(&s->writing, 1);
	must(weft_rwlock_unlock(&s->rwlock) == 0);
}

static void *read_lock(void *arg)
{
	struct sync_scene *s = arg;

	must(weft_rwlock_read(&s->rwlock) == 0);
	read_and_unlock(s);
	return NULL;
}

static void *write_lock(void *arg)
{
	struct sync_scene *s = arg;

	must(weft_rwlock_write(&s->rwlock) == 0);
	write_and_unlock(s);
	return NULL;
}

/* Until they are cancelled. */

static void *stay_reading(void *arg)
{
	struct sync_scene *s = arg;

	must(weft_rwlock_read(&s->rwlock) == 0);
	(void)!weft_sleep_until(WEFT_FOREVER);
	read_and_unlock(s);
	return NULL;
}

static void *stay_writing(void *arg)
{
	struct sync_scene *s = arg;

	must(weft_rwlock_write(&s->rwlock) == 0);
	(void)!weft_sleep_until(WEFT_FOREVER);
	write_and_unlock(s);
	return NULL;
}

static void *call_read(void *arg)
{
	struct sync_scene *s = arg;

	STALL_STEPS(&s->victim, must(weft_rwlock_read(&s->rwlock) == 0));
	read_and_unlock(s);
	return NULL;
}

static void *call_write(void *arg)
{
	struct sync_scene *s = arg;

	STALL_STEPS(&s->victim, must(weft_rwlock_write(&s->rwlock) == 0));
	write_and_unlock(s);
	return NULL;
}

static void *call_write_late(void *arg)
{
	struct sync_scene *s = arg;
	int error;

	STALL_STEPS(&s->victim,
		    error = weft_rwlock_write_until(&s->rwlock, PAST));
	if (error == 0)
		write_and_unlock(s);
	return NULL;
}

static void *call_write_unlock(void *arg)
{
	struct sync_scene *s = arg;

	must(weft_rwlock_write(&s->rwlock) == 0);
	sync_help(s, read_lock);
	sync_help(s, write_lock);
	STALL_STEPS(&s->victim, must(weft_rwlock_unlock(&s->rwlock) == 0));
	return NULL;
}

static void *use_rwlock(void *arg)
{
	struct sync_scene *s = arg;

	if (weft_rwlock_try_read(&s->rwlock) == 0)
		read_and_unlock(s);
	if (weft_rwlock_try_write(&s->rwlock) == 0)
		write_and_unlock(s);
	if (weft_self() % 2 == 0) {
		if (weft_rwlock_read_until(&s->rwlock, sync_soon()) == 0)
			read_and_unlock(s);
	} else if (weft_rwlock_write_until(&s->rwlock, sync_soon()) == 0) {
		write_and_unlock(s);
	}
	return NULL;
}

/* Barrier, for three */

static void *come(void *arg)
{
	struct sync_scene *s = arg;

	must(weft_barrier_wait(&s->barrier) >= 0);
	return NULL;
}

static void *call_come(void *arg)
{
	struct sync_scene *s = arg;

	STALL_STEPS(&s->victim, must(weft_barrier_wait(&s->barrier) >= 0));
	return NULL;
}

static void *call_come_late(void *arg)
{
	struct sync_scene *s = arg;

	STALL_STEPS(&s->victim,
		    (void)!weft_barrier_wait_until(&s->barrier, PAST));
	return NULL;
}

static void *use_barrier(void *arg)
{
	struct sync_scene *s = arg;
	int result = weft_barrier_wait_until(&s->barrier, WEFT_NO_WAIT);

	must(result >= 0 || result == -EAGAIN);
	result = weft_barrier_wait_until(&s->barrier, sync_soon());
	must(result >= 0 || result == -ETIMEDOUT);
	return NULL;
}

/* With three more there is a round that does not need the stopped one. */
static void go_on_barrier(struct sync_scene *s)
{
	uint64_t id[3];
	int error = -EAGAIN;

	for (int i = 0; i < 3; i++)
		id[i] = spawn(come, s);
	for (int i = 0; error; i = (i + 1) % 3) {
		error = weft_join_until(id[i], NULL, WEFT_NO_WAIT);
		if (error == 0)
			id[i] = id[2];
		else
			stall_nap();
	}
	s->helper[s->helpers++] = id[0];
	s->helper[s->helpers++] = id[1];
}

static void *come_soon(void *arg)
{
	struct sync_scene *s = arg;

	(void)!weft_barrier_wait_until(&s->barrier, sync_soon());
	return NULL;
}

static void wake_barrier(struct sync_scene *s)
{
	uint64_t id = spawn(come_soon, s);

	come_soon(s);
	join(id);
}

/* Once */

static int run_once(void *arg)
{
	struct sync_scene *s = arg;

	fetch_add_seq_cst(&s->runs, 1);
	return 0;
}

static void *once(void *arg)
{
	struct sync_scene *s = arg;

	must(weft_once(&s->once, run_once, s) == 0);
	return NULL;
}

/* Some come while it runs; only its end has steps. */
static int run_slowly(void *arg)
{
	struct sync_scene *s = arg;

	sync_help(s, once);
	sync_help(s, once);
	store_seq_cst(&s->victim.begun, 1);
	steps_begin(s->victim.n);
	return run_once(s);
}

static void *run_it_once(void *arg)
{
	struct sync_scene *s = arg;

	STALL_STEPS(&s->victim, must(weft_once(&s->once, run_once, s) == 0));
	return NULL;
}

static void *run_it_once_slowly(void *arg)
{
	struct sync_scene *s = arg;

	must(weft_once(&s->once, run_slowly, s) == 0);
	steps_end();
	store_seq_cst(&s->victim.returned, 1);
	return NULL;
}

static void *use_once(void *arg)
{
	struct sync_scene *s = arg;
	int error = weft_once_until(&s->once, run_once, s, WEFT_NO_WAIT);

	must(error == 0 || error == -EAGAIN);
	error = weft_once_until(&s->once, run_once, s, sync_soon());
	must(error == 0 || error == -ETIMEDOUT);
	return NULL;
}

const struct sync_call sync_calls[] = {
	{ "sem_wait, value 1", DELAYS_NOBODY, 0, { NULL }, call_sem_wait_of_one, use_sem, go_on_sem, post },
	{ "sem_wait", DELAYS_NOBODY, 0, { NULL }, call_sem_wait, use_sem, go_on_sem, post },
	{ "sem_wait behind three", DELAYS_NOBODY, 0, { sem_wait, sem_wait, sem_wait }, call_sem_wait, use_sem, go_on_sem, post },
	{ "sem_wait_until, late", DELAYS_WAITERS, 1, { sem_wait, sem_wait, sem_wait }, call_sem_wait_late, use_sem, NULL, post },
	{ "sem_post", DELAYS_NOBODY, 0, { NULL }, call_sem_post, use_sem, go_on_sem, post },
	{ "sem_post to one", DELAYS_ONE, 0, { sem_wait }, call_sem_post, use_sem, go_on_sem, post },
	{ "sem_post to three", DELAYS_WAITERS, 0, { sem_wait, sem_wait, sem_wait }, call_sem_post, use_sem, NULL, post },
	{ "cond_wait", DELAYS_NOBODY, 0, { NULL }, call_cond_wait, use_cond, go_on_cond, wake_cond },
	{ "cond_wait_until, late", DELAYS_WAITERS, 1, { cond_wait, cond_wait, cond_wait }, call_cond_wait_late, use_cond, NULL, wake_cond },
	{ "cond_signal", DELAYS_NOBODY, 0, { NULL }, call_signal, use_cond, go_on_cond, wake_cond },
	{ "cond_signal to one", DELAYS_ONE, 0, { cond_wait }, call_signal, use_cond, go_on_cond, wake_cond },
	{ "cond_signal to three", DELAYS_WAITERS, 0, { cond_wait, cond_wait, cond_wait }, call_signal, use_cond, NULL, wake_cond },
	{ "cond_broadcast to three", DELAYS_WAITERS, 0, { cond_wait, cond_wait, cond_wait }, call_broadcast, use_cond, NULL, wake_cond },
	{ "rwlock_read", DELAYS_NOBODY, 0, { NULL }, call_read, use_rwlock, NULL, wake_nobody },
	{ "rwlock_read behind a writer", DELAYS_WAITERS, 0, { stay_writing }, call_read, use_rwlock, NULL, wake_nobody },
	{ "rwlock_write", DELAYS_NOBODY, 0, { NULL }, call_write, use_rwlock, NULL, wake_nobody },
	{ "rwlock_write behind a reader", DELAYS_WAITERS, 0, { stay_reading }, call_write, use_rwlock, NULL, wake_nobody },
	{ "rwlock_write behind three", DELAYS_NOBODY, 0, { stay_writing, read_lock, write_lock }, call_write, use_rwlock, NULL, wake_nobody },
	{ "rwlock_write_until, late", DELAYS_WAITERS, 1, { stay_writing, read_lock, write_lock }, call_write_late, use_rwlock, NULL, wake_nobody },
	{ "rwlock_unlock with two", DELAYS_WAITERS, 0, { NULL }, call_write_unlock, use_rwlock, NULL, wake_nobody },
	{ "barrier_wait, the first", DELAYS_NOBODY, 0, { NULL }, call_come, use_barrier, go_on_barrier, wake_barrier },
	{ "barrier_wait, the second", DELAYS_NOBODY, 0, { come }, call_come, use_barrier, NULL, wake_barrier },
	{ "barrier_wait, the last", DELAYS_WAITERS, 0, { come, come }, call_come, use_barrier, NULL, wake_barrier },
	{ "barrier_wait_until, late", DELAYS_WAITERS, 1, { come }, call_come_late, use_barrier, NULL, wake_barrier },
	{ "once", DELAYS_NOBODY, 0, { NULL }, run_it_once, use_once, NULL, wake_nobody },
	{ "once, two wait", DELAYS_WAITERS, 0, { NULL }, run_it_once_slowly, use_once, NULL, wake_nobody },
};

const size_t sync_call_count = sizeof(sync_calls) / sizeof(sync_calls[0]);
