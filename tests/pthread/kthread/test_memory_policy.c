/* SPDX-License-Identifier: MIT */
/*
 * test_memory_policy.c - the memory policy of a thread, as libnuma sets it
 *
 * Where the kernel or a filter has no memory policies, both sides print that.
 */
#include "compare.h"

#include <linux/mempolicy.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define BITS	1025

static unsigned long nodes[16];

static void set(const char *what, int mode, unsigned long mask)
{
	nodes[0] = mask;
	show_errno(what, syscall(SYS_set_mempolicy, mode, mask ? nodes : NULL, BITS));
}

static void tell(const char *whose)
{
	unsigned long told[16] = { 0 };
	int mode = -1;

	show_errno(whose, syscall(SYS_get_mempolicy, &mode, told, BITS, NULL, 0));
	printf("mode %x nodes %lx\n", (unsigned)mode, told[0]);
}

static void *tell_own(void *arg)
{
	tell(arg);
	return arg;
}

static void tell_in_a_thread(const char *whose)
{
	pthread_t t;

	if (pthread_create(&t, NULL, tell_own, (void *)(long)whose) != 0)
		abort();
	pthread_join(t, NULL);
}

static void tell_in_a_child(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		tell("child");
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void *set_each(void *arg)
{
	tell("at first");
	set("preferred", MPOL_PREFERRED, 1);
	tell("preferred");
	set("local", MPOL_LOCAL, 0);
	tell("local");
	set("bound", MPOL_BIND | MPOL_F_STATIC_NODES, 1);
	tell("bound");
	set("interleaved", MPOL_INTERLEAVE, 1);
	tell("interleaved");
	tell_in_a_thread("its thread");
	tell_in_a_child();
	set("default", MPOL_DEFAULT, 0);
	tell("default");
	return arg;
}

static void a_thread_has_the_policy_that_it_sets(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, set_each, NULL) != 0)
		abort();
	pthread_join(t, NULL);
	tell("main");
	set("main", MPOL_INTERLEAVE, 1);
	tell("main");
	tell_in_a_thread("main's thread");
}

static void *set_wrong(void *arg)
{
	int mode = -1;

	set("interleaved", MPOL_INTERLEAVE, 1);
	set("unknown", 99, 0);
	set("no nodes", MPOL_BIND, 0);
	set("nodes with the default", MPOL_DEFAULT, 1);
	show_errno("bad address", syscall(SYS_set_mempolicy, MPOL_BIND, 8L, BITS));
	show_errno("too few bits", syscall(SYS_get_mempolicy, NULL, nodes, 0L, NULL, 0));
	show_errno("nowhere", syscall(SYS_get_mempolicy, 8L, NULL, 0L, NULL, 0));
	show_errno("unknown flags", syscall(SYS_get_mempolicy, NULL, NULL, 0L, NULL,
					    1024));
	show_errno("of an address", syscall(SYS_get_mempolicy, &mode, NULL, 0L, nodes,
					    MPOL_F_ADDR));
	show_errno("nodes allowed", syscall(SYS_get_mempolicy, NULL, nodes, BITS, NULL,
					    MPOL_F_MEMS_ALLOWED));
	tell("unchanged");
	return arg;
}

static void a_wrong_policy_changes_nothing(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, set_wrong, NULL) != 0)
		abort();
	pthread_join(t, NULL);
}

/* What a thread sets stays with it when it goes on to another kernel thread. */
static void *set_and_move(void *arg)
{
	int same = 0;

	nodes[0] = 1;
	if ((long)arg % 2)
		same += syscall(SYS_set_mempolicy, MPOL_INTERLEAVE, nodes, BITS) == 0;
	for (int i = 0; i < 100; i++) {
		int mode = -1;

		if (syscall(SYS_get_mempolicy, &mode, NULL, 0L, NULL, 0) == 0)
			same += mode == ((long)arg % 2 ? MPOL_INTERLEAVE : MPOL_DEFAULT);
		sched_yield();
	}
	return (void *)(long)same;
}

static void each_thread_has_its_own(void)
{
	pthread_t t[8];
	void *same;

	for (long i = 0; i < 8; i++)
		if (pthread_create(&t[i], NULL, set_and_move, (void *)i) != 0)
			abort();
	for (int i = 0; i < 8; i++) {
		pthread_join(t[i], &same);
		printf("%ld\n", (long)same);
	}
}

static const struct compare_case cases[] = {
	COMPARE(a_thread_has_the_policy_that_it_sets),
	COMPARE(a_wrong_policy_changes_nothing),
	COMPARE(each_thread_has_its_own),
};

COMPARE_MAIN(cases)
