/* SPDX-License-Identifier: MIT */
/*
 * steps.c - stops one kernel thread before its n-th atomic operation
 *
 * In plain C11: lockfree/atomic.h would call us.
 */
#include "steps.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lockfree/perturb.h"

#define ARMED		(-1)

static atomic_int victim;		/* tid; 0: nobody */
static atomic_int stopped;		/* the victim that was, for go_to */
static atomic_int stops;
static atomic_size_t taken, target;
static atomic_int gate;			/* futex: ARMED, which stop lasts, 0 */
static _Thread_local int held;
static _Thread_local atomic_size_t own;	/* written by its own alone */

static int tid(void)
{
	return (int)syscall(SYS_gettid);
}

void steps_begin(size_t n)
{
	atomic_store(&taken, 0);
	atomic_store(&target, n);
	atomic_store(&gate, ARMED);
	atomic_store(&victim, tid());
}

void steps_end(void)
{
	int armed = ARMED;

	atomic_store(&victim, 0);
	atomic_compare_exchange_strong(&gate, &armed, 0);
}

int steps_stopped(void)
{
	return atomic_load(&gate) > 0;
}

size_t steps_taken(void)
{
	return atomic_load(&taken);
}

size_t steps_own(void)
{
	return atomic_load_explicit(&own, memory_order_relaxed);
}

_Atomic size_t *steps_own_place(void)
{
	return &own;
}

static void wake(void)
{
	syscall(SYS_futex, &gate, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void steps_go_to(size_t n)
{
	atomic_store(&target, n);
	atomic_store(&victim, atomic_load(&stopped));
	atomic_store(&gate, ARMED);
	wake();
}

void steps_release(void)
{
	atomic_store(&victim, 0);
	atomic_store(&gate, 0);
	wake();
}

void steps_hold(void)
{
	held++;
}

void steps_go_on(void)
{
	held--;
}

void wefti_perturb(void)
{
	int who = atomic_load(&victim), armed = ARMED;

	atomic_store_explicit(&own, steps_own() + 1, memory_order_relaxed);
	if (!who || held || who != tid())
		return;
	if (atomic_fetch_add(&taken, 1) + 1 != atomic_load(&target))
		return;
	atomic_store(&stopped, who);
	atomic_store(&victim, 0);

	/* A number, so that it is not held by a stop after its own. */
	int mine = atomic_fetch_add(&stops, 1) + 1;

	/* Not if the count was ended meanwhile: nobody would let it go. */
	if (!atomic_compare_exchange_strong(&gate, &armed, mine))
		return;
	while (atomic_load(&gate) == mine)
		syscall(SYS_futex, &gate, FUTEX_WAIT_PRIVATE, mine, NULL, NULL,
			0);
}
