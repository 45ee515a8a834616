/* SPDX-License-Identifier: MIT */
/*
 * test_calls_listed.c - weft makes no system call that os/call/calls.h does not list
 *
 * The program sets a filter that ends it at any other call, but for those that libc
 * makes for its threads.
 */
#include "compare.h"

#include "own_filter.h"
#include "turns.h"

static const long own[] = {
	SYS_brk, SYS_getrandom, SYS_restart_syscall, SYS_rseq, SYS_sched_yield,
	SYS_set_robust_list,
};

static void shut_in(void)
{
	show_errno("filter", own_filter_set(OWN_LISTED_KILL, own,
					    sizeof(own) / sizeof(*own)));
	fflush(stdout);
}

static void the_runtime_starts_behind_a_filter(void)
{
	shut_in();
	printf("%ld turns\n", take_all_turns());
}

static void the_runtime_goes_on_behind_a_filter(void)
{
	printf("%ld turns\n", take_all_turns());
	shut_in();
	printf("%ld turns\n", take_all_turns());
}

static const struct compare_case cases[] = {
	COMPARE(the_runtime_starts_behind_a_filter),
	COMPARE(the_runtime_goes_on_behind_a_filter),
};

COMPARE_MAIN(cases)
