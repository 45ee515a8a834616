/* SPDX-License-Identifier: MIT */
/*
 * test_calls_listed.c - weft makes no system call that os/call/calls.h does not list
 *
 * The program sets a filter that ends it at any other call, but for those that libc
 * makes for its threads.
 */
#include "compare.h"

#include "refused.h"

static const long own[] = {
	SYS_brk, SYS_getrandom, SYS_restart_syscall, SYS_rseq, SYS_sched_yield,
	SYS_set_robust_list,
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long turn, turns;

static void *take_turns(void *arg)
{
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&mutex);
		while (turn != (long)arg)
			pthread_cond_wait(&cond, &mutex);
		turn = !turn;
		turns++;
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

static void shut_in(void)
{
	show_errno("filter", refused_all_but(own, sizeof(own) / sizeof(*own),
					     SECCOMP_RET_KILL_PROCESS));
	fflush(stdout);
}

static void take_all_turns(void)
{
	pthread_t t[2];

	for (long i = 0; i < 2; i++)
		t[i] = start(take_turns, (void *)i);
	for (int i = 0; i < 2; i++)
		finish(t[i]);
	printf("%ld turns\n", turns);
}

static void the_runtime_starts_behind_a_filter(void)
{
	shut_in();
	take_all_turns();
}

static void the_runtime_goes_on_behind_a_filter(void)
{
	take_all_turns();
	shut_in();
	take_all_turns();
}

static const struct compare_case cases[] = {
	COMPARE(the_runtime_starts_behind_a_filter),
	COMPARE(the_runtime_goes_on_behind_a_filter),
};

COMPARE_MAIN(cases)
