/* SPDX-License-Identifier: MIT */
/*
 * spare.c - scenarios: kernel threads without a VCPU, and the monitor that gives them
 * one; the signal that is sent again (sched/again.c)
 *
 * Thread 0 is the monitor. A VCPU stands for what its owner writes without atomics:
 * the monitor before it gives the VCPU, and the kernel thread that has got it.
 */
#include "model.h"

#include <stdalign.h>
#include <stdarg.h>

#include "os/call/futex.h"
#include "os/call/tid.h"
#include "sched/loop.h"
#include "sched/preempt.h"
#include "sched/seat.h"
#include "sched/spare.h"

#define KTHREADS	2

struct wefti_runtime wefti_rt;
struct wefti_dense wefti_slots;
_Thread_local struct wefti_thread *wefti_tls_self;
struct wefti_thread wefti_aside;

static struct wefti_kthread kthread[KTHREADS + 1];	/* by thread */
static struct wefti_vcpu vcpu[2];
static int gets[2], signals[KTHREADS + 1];

struct wefti_thread *model_self(void)
{
	return NULL;
}

static int futex_of(const _Atomic uint32_t *w)
{
	for (int i = 1; i <= KTHREADS; i++)
		if (w == &kthread[i].wake)
			return i;
	m_fail("no futex of a spare");
	return 0;
}

int wefti_os_futex_wait(_Atomic uint32_t *w, uint32_t value, int64_t deadline)
{
	m_check(deadline == INT64_MAX);
		m_futex_wait(futex_of(w), w, value);
	return 0;
}

int wefti_os_futex_wake(_Atomic uint32_t *w, int count)
{
	m_check(count == 1);
		m_futex_wake_one(futex_of(w));
	return 0;
}

static void init(void)
{
	store_relaxed(&wefti_rt.spares, NULL);
	store_relaxed(&wefti_rt.spare_count, 0u);
	store_relaxed(&wefti_rt.again, NULL);
	store_relaxed(&wefti_rt.monitor_asleep, 0u);	/* it looks by itself */
	store_relaxed(&wefti_rt.state, (uint32_t)WEFTI_RT_ON);
	/* No kernel thread is made here: there are all that may be. */
	store_relaxed(&wefti_rt.kthread_count, (uint32_t)KTHREADS);
	wefti_rt.vcpu_count = KTHREADS;
	wefti_rt.settings.spare_max = 0;
	wefti_rt.cap_reported = 1;
	for (int i = 1; i <= KTHREADS; i++) {
		struct wefti_kthread *k = &kthread[i];

		k->number = (uint32_t)i;
		k->tid = i;
		store_relaxed(&k->wake, 0u);
		store_relaxed(&k->given, NULL);
		store_relaxed(&k->adopt, NULL);
		store_relaxed(&k->ends, 0u);
		store_relaxed(&k->reserved, 0u);
		store_relaxed(&k->listed, 0u);
		store_relaxed(&k->again, 0u);
		m_data_write(&k->spare_next);
		m_data_write(&k->again_next);
		signals[i] = 0;
	}
	for (int i = 0; i < 2; i++) {
		m_data_write(&vcpu[i]);
		gets[i] = 0;
	}
}

static struct wefti_kthread *reserve(void)
{
	struct wefti_kthread *k;

	while (!(k = wefti_spare_reserve()))
		m_yield();
	return k;
}

static void give(struct wefti_vcpu *v)
{
	struct wefti_kthread *k = reserve();

	m_data_write(v);
	wefti_spare_give(k, v);
}

static void carry(void)
{
	struct wefti_vcpu *v = wefti_spare_wait(&kthread[m_self()]);

	m_check(v == &vcpu[0] || v == &vcpu[1]);
	m_data_write(v);
	gets[v - vcpu]++;
}

static void give_two(void)
{
	give(&vcpu[0]);
	give(&vcpu[1]);
}

static void give_one(void)
{
	give(&vcpu[0]);
}

/* It is not needed after all: an ordinary spare again. */
static void give_back_first(void)
{
	wefti_spare_give(reserve(), NULL);
	give_one();
}

static void check_empty(void)
{
	m_check(load_relaxed(&wefti_rt.spares) == NULL);
	m_check(load_relaxed(&wefti_rt.spare_count) == 0);
	for (int i = 1; i <= KTHREADS; i++)
		m_check(!load_relaxed(&kthread[i].reserved));
}

static void check_one(void)
{
	m_check(gets[0] == 1);
	check_empty();
}

static void check_two(void)
{
	m_check(gets[0] == 1 && gets[1] == 1);
	check_empty();
}

SCENARIO(spare) = { init, { give_one, carry }, check_one };
SCENARIO(spare_back) = { init, { give_back_first, carry }, check_one };
SCENARIO(spare_two) = { init, { give_two, carry, carry }, check_two };

/* The stack of those that are to get the signal once more. */

int wefti_os_gettid(void)
{
	return m_self();
}

int wefti_os_kthread_signal(int tid, int signal)
{
	(void)signal;
	signals[tid]++;
	return 0;
}

static void ask(void)
{
	wefti_again_ask(&kthread[m_self()]);
}

static void ask_twice(void)
{
	ask();
	ask();
}

static void look(void)
{
	wefti_again_signal_all();
}

static void look_again(void)
{
	while (!load_relaxed(&wefti_rt.again))
		m_yield();
	look();
	look();
}

/* The last one that asks is answered, if not by this look then by the next. */
static void check_asked(void)
{
	look();
	m_check(load_relaxed(&wefti_rt.again) == NULL);
	for (int i = 1; i <= KTHREADS; i++) {
		m_check(load_relaxed(&kthread[i].again) == 0);
		m_check(signals[i] >= 1 && signals[i] <= 2);
	}
}

SCENARIO(again) = { init, { look_again, ask_twice, ask_twice }, check_asked };

/* A thread is wanted (P1 of sched/preempt.c) while its VCPU is taken. */

static struct wefti_thread wanted;
static struct wefti_cold body;

static void init_wanted(void)
{
	init();
	wefti_rt.vcpu_count = 0;	/* no VCPU has it any more */
	wanted.tp = 1;
	wanted.cold = &body;
	store_relaxed(&wanted.attention, WEFTI_SEAT_HELD);
	store_relaxed(&body.preempt_insists, 0u);
	store_relaxed(&body.carrier_tid, 1u);
}

static void insist(void)
{
	wefti_preempt_insist(&wanted);
}

/* As sched/seat.c, which is no part of this. */
static void take(void)
{
	store_seq_cst(&wanted.attention, WEFTI_SEAT_TAKEN);
	wefti_preempt_taken(&wanted);
}

static void check_wanted(void)
{
	m_check(signals[1] >= 1);
}

SCENARIO(insist) = { init_wanted, { take, insist }, check_wanted };
