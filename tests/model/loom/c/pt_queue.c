/* SPDX-License-Identifier: MIT */
/*
 * pt_queue.c - scenarios: pthread/signal/signal_queue.c; thread 0 ends
 *
 * The others send the first signals of the process, which they block. The list is a mask.
 * A bystander, which makes no step, lets all in, and has to be told at the end. A signal
 * that was for thread 0 is lost else.
 */
#include "pt.h"

#include "pthread/signal/signal_list.h"
#include "pthread/signal/signal_queue.h"
#include "pthread/signal/thread_timer.h"

#define BYSTANDER	THREADS		/* its slot */

static uint64_t listed;

uint32_t wefti_slot_limit(void)
{
	return THREADS + 1;
}

void wefti_preempt_insist(struct wefti_thread *t)
{
	(void)t;
}

int wefti_signal_list_put(struct wefti_thread *to, const siginfo_t *info, int is_received)
{
	m_check(!to && !is_received);
	m_data_write(&listed);
	listed |= WEFTI_SIGNAL_BIT(info->si_signo);
	return 0;
}

uint64_t wefti_signal_list_for_process(void)
{
	m_data_read(&listed);
	return listed;
}

void wefti_signal_list_end_thread(const struct wefti_thread *t)
{
	m_check(t->slot == 1);
}

void wefti_signals_run(void)
{
}

static void init(void)
{
	const void *const keys[] = { NULL };

	init_pt(0, keys);
	listed = 0;
	for (int i = 1; i <= THREADS; i++) {
		thread[i].tp = 1;
		store_relaxed(&thread[i].gen, 1u);
		store_relaxed(&pt[i].mask, i == 1 || i == BYSTANDER ? 0 : ~UINT64_C(0));
		store_relaxed(&pt[i].waited, UINT64_C(0));
		store_relaxed(&pt[i].ended, 0u);
		store_relaxed(&pt[i].outlives, 0u);
	}
	wefti_signal_queue_forget();
}

void wefti_signal_list_forget(void)
{
}

static void end(void)
{
	wefti_signals_thread_ends();
	store_seq_cst(&model_pt()->ended, 1u);
}

static void send(void)
{
	const siginfo_t info = { .si_signo = 1 + m_self() };

	m_check(wefti_signal_send(NULL, &info) == 0);
}

static void check(void)
{
	m_check(listed != 0);
	m_check(load_relaxed(&pt[BYSTANDER].urgent) & WEFTI_URGENT_SIGNAL);
}

SCENARIO(queue_end) = { init, { end, send }, check };
SCENARIO(queue_end_two) = { init, { end, send, send }, check };
