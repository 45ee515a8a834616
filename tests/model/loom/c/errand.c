/* SPDX-License-Identifier: MIT */
/*
 * errand.c - scenarios: os/signal/errand.c; kernel threads have others call something
 *
 * Thread 0 is the one that looks, as the handler of the signal does: when it has been
 * signalled, or by chance. Each errand has its own argument, and what it gives back
 * depends on that; what the sender writes before and the errand writes are looked at.
 */
#include "model.h"

#include <errno.h>

#include "os/call/clock.h"
#include "os/call/futex.h"
#include "os/call/tid.h"
#include "os/signal/errand.h"
#include "os/signal/signal.h"

#define PLACE		5	/* the futex; below it, those that look */

static char gift[4], answer_of[4];
static int calls[4], lost[4];
static _Atomic uint32_t sent;	/* signals */

/* These are in os/signal/errand.c; loom.sh makes them known. */
extern _Atomic uint32_t place;
extern _Atomic int for_tid;
extern _Atomic(wefti_os_errand_fn *) function;
extern _Atomic(void *) argument;
extern _Atomic long answer;

struct wefti_thread *model_self(void)
{
	return NULL;
}

int64_t wefti_os_now_ns(void)
{
	return 1;
}

int wefti_os_gettid(void)
{
	return m_self();
}

int wefti_os_kthread_signal(int tid, int signal)
{
	(void)signal;
	m_check(tid == 0);
	fetch_add_relaxed(&sent, 1);
	return 0;
}

/* With a time it is over at once. */
int wefti_os_futex_wait(_Atomic uint32_t *w, uint32_t value, int64_t deadline)
{
	if (deadline != INT64_MAX)
		return -ETIMEDOUT;
	m_futex_wait(PLACE, w, value);
	return 0;
}

int wefti_os_futex_wake(_Atomic uint32_t *w, int count)
{
	(void)w;
	m_check(count == INT32_MAX);
	m_futex_wake(PLACE);
	return 1;
}

static void init(void)
{
	store_relaxed(&place, 0u);
	store_relaxed(&for_tid, 0);
	store_relaxed(&function, NULL);
	store_relaxed(&argument, NULL);
	store_relaxed(&answer, 0L);
	for (int i = 0; i < 4; i++) {
		m_data_write(&gift[i]);
		m_data_write(&answer_of[i]);
		calls[i] = lost[i] = 0;
	}
	store_relaxed(&sent, 0u);
}

/* On thread 0. */
static long run(void *arg)
{
	int who = (int)((char *)arg - gift);

	m_check(m_self() == 0);
	m_data_read(arg);
	m_data_write(&answer_of[who]);
	calls[who]++;
	return 100 + who;
}

static void send(void)
{
	int who = m_self();
	long result = 0;
	int error;

	m_data_write(&gift[who]);
	error = wefti_os_errand(0, run, &gift[who], 1, &result);
	if (error == 0) {
		m_check(result == 100 + who && calls[who] == 1);
		m_data_read(&answer_of[who]);
	} else {
		m_check(error == -ETIME && calls[who] == 0);
		lost[who] = 1;
	}
	/* Nobody has it any more. */
	m_data_write(&gift[who]);
}

/* Until it has been signalled. */
static void run_last(void)
{
	wefti_os_errand_run();
	while (load_relaxed(&sent) == 0)
		m_yield();
	wefti_os_errand_run();
}

static void check(void)
{
	for (int i = 1; i < 3; i++)
		m_check(calls[i] + lost[i] <= 1);
}

SCENARIO(errand) = { init, { run_last, send }, check };
SCENARIO(errand_two) = { init, { run_last, send, send }, check };
