/* SPDX-License-Identifier: MIT */
/*
 * pt_cancel.c - scenarios: pthread/signal/cancel.c; thread 0 is cancelled
 *
 * To act on it jumps back to the beginning of the thread. loom takes seq_cst accesses
 * as acquire and release only; where one of two must see the other, loom.sh puts
 * a fence between the two accesses, which is what C11 gives here besides.
 */
#include "pt.h"

#include <pthread.h>

#include "os/tls/tls_layout.h"
#include "pthread/core/real.h"
#include "pthread/signal/cancel.h"

struct wefti_real wefti_real;
struct wefti_tls_layout wefti_tls_layout;

static char key;
static int acted;
static void *begin[5];
static _Atomic uint32_t libcs[THREADS + 1];

struct wefti_thread *model_thread(unsigned long handle)
{
	return &thread[(unsigned long)handle];
}

void wefti_preempt_insist(struct wefti_thread *t)
{
	(void)t;
}

int wefti_pt_is_off(void)
{
	return 0;
}

/* libc's word of the thread, in which a cancellation is shown to libc. */
void *model_field(uintptr_t tp, unsigned long offset)
{
	(void)tp, (void)offset;
	return &libcs[m_self() + 1];
}

_Noreturn void pthread_exit(void *result)
{
	m_check(result == PTHREAD_CANCELED);
	m_check(m_self() == 0 && !acted);
	m_check(!load_relaxed(&model_pt()->cancel_disabled));
	acted = 1;
	wefti_cancel_end();
	__builtin_longjmp(begin, 1);
}

static void init(void)
{
	const void *const keys[] = { &key, NULL };

	init_pt(0, keys);
	acted = 0;
	wefti_tls_layout.pthread_cancelhandling = 1;	/* it is known */
	for (int i = 0; i <= THREADS; i++) {
		store_relaxed(&libcs[i], 16u);	/* EXITING */
		pt[i].cancel_shown = pt[i].exiting = 0;
	}
}

static void wait_it(void)
{
	const struct wefti_lot_wait w = {
		.key = &key, .deadline = INT64_MAX,
		.urgent = WEFTI_URGENT_CANCEL, .why = WEFTI_WHY_SEM,
	};

	m_check(wefti_lot_wait(&w) == WEFTI_LOT_INTERRUPTED);
	pthread_testcancel();
	m_fail("its wait has ended for nothing");
}

static void wait_until_cancelled(void)
{
	if (__builtin_setjmp(begin) == 0)
		wait_it();
}

static void compute(void)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_testcancel();
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	pthread_testcancel();
}

static void disable_and_enable(void)
{
	if (__builtin_setjmp(begin) == 0)
		compute();
}

static void cancel(void)
{
	m_check(pthread_cancel((pthread_t)1) == 0);
}

/* At the next point, if it has not acted yet. */
static void check_acts(void)
{
	if (!acted && __builtin_setjmp(begin) == 0)
		pthread_testcancel();
	m_check(acted);
}

static void check_acted(void)
{
	m_check(acted);
}

SCENARIO(cancel_wait) = { init, { wait_until_cancelled, cancel }, check_acted };
SCENARIO(cancel_state) = { init, { disable_and_enable, cancel }, check_acts };
