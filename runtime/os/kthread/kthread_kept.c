/* SPDX-License-Identifier: MIT */
/*
 * os/kthread/kthread_kept.c - a kernel thread that waits for its work
 *
 * States
 *   NONE	there is none, or it has its work
 *   FIRST	it runs first()
 *   WAITS	it waits for its work
 *   CLAIMED	a caller is writing the work down
 *   GIVEN	the work is written down
 *
 *   NONE --keep--> FIRST --itself--> WAITS --take, unkeep, again--> CLAIMED
 *   CLAIMED --take, unkeep--> GIVEN --itself--> NONE
 *   CLAIMED --again--> FIRST
 *
 * The child of a fork has none: there the state stays as it was.
 *
 * Writers
 *   state  claim, give, kept_main, run_first, wefti_os_kthread_keep, wefti_os_kthread_kept_again
 *   thread  kept_main, unmap
 */
#include "os/kthread/kthread_kept.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "os/call/futex.h"
#include "os/call/vm.h"
#include "os/libc/real.h"
#include "os/signal/signal.h"

enum { NONE, FIRST, WAITS, CLAIMED, GIVEN };

static _Atomic uint32_t state;

/* Written before it is made. */
static char *mapping;
static size_t mapping_bytes;
static pid_t process;
static void (*first)(void *arg, char *stack, size_t bytes);
static void *first_arg;

static _Atomic uintptr_t thread;	/* 0: there is none to join */

/* Written by the caller that claimed it. */
static void *(*work)(void *arg);
static void *work_arg;

static void run_first(void)
{
	size_t guard = wefti_os_page_size();

	first(first_arg, mapping + guard, mapping_bytes - guard);
	store_seq_cst(&state, WAITS);			/* FIRST -> WAITS */
	wefti_os_futex_wake(&state, 1);
}

static void *kept_main(void *arg)
{
	void *(*run)(void *arg);
	uint32_t seen;

	store_seq_cst(&thread, (uintptr_t)pthread_self());
	while ((seen = load_seq_cst(&state)) != GIVEN)
		if (seen == FIRST)
			run_first();
		else
			wefti_os_futex_wait(&state, seen, INT64_MAX);
	run = work;
	arg = work_arg;
	store_seq_cst(&state, NONE);			/* GIVEN -> NONE */
	return run ? run(arg) : NULL;
}

static int reserve(size_t bytes)
{
	size_t guard = wefti_os_page_size();

	mapping_bytes = guard + bytes;
	mapping = wefti_os_vm_reserve(mapping_bytes);
	if (!mapping)
		return -ENOMEM;
	if (wefti_os_vm_guard(mapping, guard) != 0)
		(void)!wefti_os_vm_forbid(mapping, guard);
	return 0;
}

static void unmap(void)
{
	store_seq_cst(&thread, 0);
	wefti_os_vm_unmap(mapping, mapping_bytes);
}

static int create(void)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
		    void *) =
		(int (*)(pthread_t *, const pthread_attr_t *,
			 void *(*)(void *), void *))
		wefti_os_real("pthread_create");
	size_t guard = wefti_os_page_size();
	pthread_attr_t attr;
	pthread_t made;
	uint64_t mask;
	int error;

	error = real ? pthread_attr_init(&attr) : EAGAIN;
	if (error)
		return -error;
	mask = wefti_os_signals_own();	/* it inherits the mask */
	error = pthread_attr_setstack(&attr, mapping + guard,
				      mapping_bytes - guard);
	if (!error)
		error = real(&made, &attr, kept_main, NULL);
	wefti_os_signals_restore(mask);
	pthread_attr_destroy(&attr);
	return error ? -EAGAIN : 0;
}

static void wait_for_first(void)
{
	while (load_seq_cst(&state) == FIRST)
		wefti_os_futex_wait(&state, FIRST, INT64_MAX);
}

int wefti_os_kthread_keep(size_t bytes,
			  void (*run)(void *arg, char *stack, size_t bytes),
			  void *arg)
{
	int error = reserve(bytes);

	if (error)
		return error;
	process = getpid();
	first = run;
	first_arg = arg;
	store_seq_cst(&state, FIRST);			/* NONE -> FIRST */
	error = create();
	if (error) {
		store_seq_cst(&state, NONE);
		unmap();
		return error;
	}
	wait_for_first();
	return 0;
}

/* WAITS -> CLAIMED */
static int claim(void)
{
	uint32_t seen = WAITS;

	return load_seq_cst(&state) == WAITS && getpid() == process &&
	       cas_seq_cst(&state, &seen, CLAIMED);
}

/* CLAIMED -> GIVEN */
static void give(void *(*run)(void *arg), void *arg)
{
	work = run;
	work_arg = arg;
	store_seq_cst(&state, GIVEN);
	wefti_os_futex_wake(&state, 1);
}

int wefti_os_kthread_kept_again(void (*run)(void *arg, char *stack, size_t bytes),
				void *arg)
{
	if (!claim())
		return 0;
	first = run;
	first_arg = arg;
	store_seq_cst(&state, FIRST);			/* CLAIMED -> FIRST */
	wefti_os_futex_wake(&state, 1);
	wait_for_first();
	return 1;
}

int wefti_os_kthread_kept_take(struct wefti_os_kthread *k, size_t stack_bytes,
			       void *(*run)(void *k))
{
	if (load_seq_cst(&state) != WAITS ||
	    stack_bytes > mapping_bytes - wefti_os_page_size() || !claim())
		return 0;
	k->pthread = load_seq_cst(&thread);
	give(run, k);
	return 1;
}

void wefti_os_kthread_kept_joined(uintptr_t pthread)
{
	if (pthread == load_seq_cst(&thread))
		unmap();
}

void wefti_os_kthread_unkeep(void)
{
	int (*join)(pthread_t, void **) =
		(int (*)(pthread_t, void **))wefti_os_real("pthread_join");

	if (!claim())
		return;
	give(NULL, NULL);
	join((pthread_t)load_seq_cst(&thread), NULL);
	unmap();
}
