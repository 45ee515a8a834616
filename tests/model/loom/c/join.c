/* SPDX-License-Identifier: MIT */
/*
 * join.c - scenarios: a thread ends, and others join or detach it
 *
 * Thread 0 of the scenario ends: life/exit.c's post-switch action runs in it.
 * loom.sh marks where the result is read, and where the struct is given to its next
 * user, which writes it.
 */
#include "model.h"

#include <errno.h>
#include <stdalign.h>

#include "life/life.h"
#include "os/tls/tp.h"
#include "parks.h"
#include "thread/bare.h"
#include "weft/thread.h"

#define LATER	INT64_C(1000)
#define SPAWNED	7		/* thread 2 runs; the slots are below */

struct wefti_runtime wefti_rt;
struct wefti_dense wefti_slots;
_Thread_local struct wefti_thread *wefti_tls_self;
struct wefti_thread wefti_aside;

static alignas(128) struct wefti_thread thread[MODEL_THREADS + 1];
static struct wefti_cold cold[MODEL_THREADS + 1];
static struct wefti_vcpu vcpu[MODEL_THREADS + 1];
_Atomic uint32_t wefti_tp_is_plain;

static uint64_t id;
static char value;
static int joined, detached;
static _Atomic int has_ended;	/* thread 2, nearly */

/* These are in life/exit.c; loom.sh makes them known. */
void post_exit(struct wefti_thread *t);
int wait_all(struct wefti_thread *self, int64_t deadline);

void wefti_membarrier_heavy(void)
{
	fence_seq_cst();
}

struct wefti_thread *model_self(void)
{
	return &thread[m_self() + 1];
}

enum wefti_cause wefti_park(struct wefti_thread *self, int64_t deadline)
{
	if (deadline != WEFT_FOREVER && wefti_wait_cause(self) == WEFTI_CAUSE_NONE)
		time_out(self);
	return model_park(self);
}

static void init(void)
{
	store_relaxed(&wefti_slots.chunk[0], (char *)thread);
	store_relaxed(&wefti_rt.main_waits, (uint64_t)0);
	for (uint32_t i = 0; i <= MODEL_THREADS; i++) {
		struct wefti_thread *t = &thread[i];

		*t = (struct wefti_thread){ .slot = i, .kind = WEFTI_KIND_GREEN };
		t->vcpu = &vcpu[i];
		t->cold = &cold[i];
		store_relaxed(&t->wait, (uint64_t)0);
		store_relaxed(&t->in_runtime, 0u);
		store_relaxed(&t->attention, 0u);
		store_relaxed(&t->cancel, 0);
		store_relaxed(&t->node_lent, 0);
		store_relaxed(&t->depot_next, 0u);
		store_relaxed(&t->gen, 1u);
		store_relaxed(&t->join, wefti_join_word(1, WEFTI_JOIN_NONE));
		store_relaxed(&vcpu[i].stat_released, (uint64_t)0);
		store_relaxed(&vcpu[i].stat_ended, (uint64_t)0);
		vcpu[i].slots.top = NULL;
		vcpu[i].slots.count = 0;
	}
	thread[1].cold = NULL;	/* it has nothing to give back */
	thread[1].keep = 1;
	m_data_write(&thread[1]);
	m_data_write(&value);
	id = UINT64_C(1) << 32 | 1;
	joined = detached = 0;
}

static void end(void)
{
	m_data_write(&thread[1]);
	m_data_write(&value);
	thread[1].result = &value;
	post_exit(&thread[1]);
}

static void count(int error, void *result)
{
	m_check(error == 0 || error == -ESRCH || error == -EINVAL);
	if (error)
		return;
	joined++;
	m_check(result == &value);
	m_data_read(&value);
}

static void join(void)
{
	void *result = NULL;

	int error = weft_join(id, &result);

	count(error, result);
}

static void join_in_time(void)
{
	void *result = NULL;
	int error = weft_join_until(id, &result, LATER);

	if (error != -ETIMEDOUT)
		count(error, result);
}

/* If its time is over it comes back, and gets it, unless another does. */
static void join_at_last(void)
{
	join_in_time();
	if (!joined)
		join();
}

static void detach(void)
{
	int error = weft_detach(id);

	m_check(error == 0 || error == -ESRCH || error == -EINVAL);
	detached += error == 0;
}

static void check_released(void)
{
	uint64_t released = 0;

	for (int i = 1; i <= MODEL_THREADS; i++)
		released += load_relaxed(&vcpu[i].stat_released);
	m_check(released == 1);
	m_check(joined + detached == 1);
	m_check(load_relaxed(&thread[1].gen) == 2);
}

/* Two threads end, and main waits for the last. */
static void init_alive(void)
{
	init();
	store_relaxed(&wefti_rt.foreign_made, (uint64_t)0);
	store_relaxed(&wefti_rt.foreign_released, (uint64_t)0);
	wefti_rt.vcpu_count = 2;
	for (int i = 1; i <= 2; i++) {
		wefti_rt.vcpu[i - 1] = &vcpu[i];
		store_relaxed(&vcpu[i].stat_made, (uint64_t)1);
		thread[i].cold = NULL;
		thread[i].keep = 1;
		m_data_write(&thread[i]);
	}
}

static void end_1(void)
{
	post_exit(&thread[1]);
}

static void end_2(void)
{
	post_exit(&thread[2]);
}

/* Thread 1 spawns thread 2 on VCPU 1, and ends on VCPU 2. */
static void init_spawns(void)
{
	init_alive();
	store_relaxed(&vcpu[2].stat_made, (uint64_t)0);
	store_relaxed(&has_ended, 0);
	thread[1].vcpu = &vcpu[2];
	thread[2].vcpu = &vcpu[1];
}

static void spawn_and_end(void)
{
	store_relaxed(&vcpu[1].stat_made, (uint64_t)2);
	m_unblock(SPAWNED);
	end_1();
}

static void be_spawned_and_end(void)
{
	m_block(SPAWNED);
	store_relaxed(&has_ended, 1);
	post_exit(&thread[2]);
}

static void main_exits(void)
{
	wefti_exit_awaits_all();
}

/* If its time is over, it waits again, for as long as it takes. */
static void main_waits_in_time(void)
{
	int error = wait_all(&thread[3], LATER);

	m_check(error == 0 || error == -ETIMEDOUT);
	m_check(load_relaxed(&wefti_rt.main_waits) == 0);
	if (error)
		m_check(wait_all(&thread[3], WEFT_FOREVER) == 0);
}

static void main_exits_last(void)
{
	main_exits();
	m_check(load_relaxed(&has_ended));
}

static void check_dead(void)
{
	m_check(load_relaxed(&vcpu[1].stat_ended) +
		load_relaxed(&vcpu[2].stat_ended) == 2);
	m_check(load_relaxed(&wefti_rt.main_waits) == 0);
}

SCENARIO(join_main) = {
	init_alive, { end_1, end_2, main_exits }, check_dead,
};
SCENARIO(join_main_in_time) = {
	init_alive, { end_1, end_2, main_waits_in_time }, check_dead,
};
SCENARIO(join_main_spawns) = {
	init_spawns, { spawn_and_end, be_spawned_and_end, main_exits_last }, check_dead,
};
SCENARIO(join) = { init, { end, join }, check_released };
SCENARIO(join_two) = { init, { end, join, join }, check_released };
SCENARIO(join_detach) = { init, { end, join, detach }, check_released };
SCENARIO(detach) = { init, { end, detach }, check_released };
SCENARIO(join_timed) = { init, { end, join_at_last }, check_released };
SCENARIO(join_timed_two) = { init, { end, join_at_last, join }, check_released };
