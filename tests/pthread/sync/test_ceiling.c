/* SPDX-License-Identifier: MIT */
/*
 * test_ceiling.c - mutexes with a priority ceiling (PTHREAD_PRIO_PROTECT)
 *
 * Each answer is libc's, and so is the priority in force: sched_getparam() tells that,
 * pthread_getschedparam() the thread's own. Where real-time policies are refused, both
 * sides take the path of threads without priorities.
 */
#include "compare.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define OWN	4

static pthread_mutex_t m, other;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int *volatile no_place;
static long counter;
static _Atomic int flag;

static void make(pthread_mutex_t *to, int type, int ceiling, int shared)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	show("setprotocol", pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT));
	if (ceiling)
		show("setprioceiling",
		     pthread_mutexattr_setprioceiling(&attr, ceiling));
	if (shared)
		pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	show("init", pthread_mutex_init(to, &attr));
	pthread_mutexattr_destroy(&attr);
}

static void be_fifo(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	(void)!pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
}

static void show_priorities(const char *when)
{
	struct sched_param own = { 0 }, in_force = { 0 };
	int policy;

	show("own", pthread_getschedparam(pthread_self(), &policy, &own));
	show_errno("in force", sched_getparam(0, &in_force));
	printf("%s: policy %d, own %d, in force %d\n", when, policy,
	       own.sched_priority, in_force.sched_priority);
}

static void show_ceiling(pthread_mutex_t *of)
{
	int ceiling = -1;

	show("getprioceiling", pthread_mutex_getprioceiling(of, &ceiling));
	printf("ceiling %d\n", ceiling);
}

static void *do_nothing(void *arg)
{
	return arg;
}

static void *try_it(void *arg)
{
	be_fifo(OWN);
	int error = pthread_mutex_trylock(arg);

	if (!error)
		pthread_mutex_unlock(arg);
	return (void *)(long)error;
}

/* --- by one thread --------------------------------------------------- */

/* A thread of SCHED_OTHER: the first call fails, by libc's own book-keeping. */
static void *lock_without_priority(void *unused)
{
	int old = -1;

	make(&m, PTHREAD_MUTEX_DEFAULT, 0, 0);
	show_ceiling(&m);
	show("trylock", pthread_mutex_trylock(&m));
	show("lock", pthread_mutex_lock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	show("setprioceiling", pthread_mutex_setprioceiling(&m, 7, &old));
	printf("old %d\n", old);
	show_ceiling(&m);
	show("lock", pthread_mutex_lock(&m));
	show("lock", pthread_mutex_lock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	show_priorities("then");
	return unused;
}

static void without_a_thread_it_locks(void)
{
	lock_without_priority(NULL);
}

static void the_first_thread_locks_it(void)
{
	finish(start(do_nothing, NULL));
	lock_without_priority(NULL);
}

static void a_thread_locks_it(void)
{
	finish(start(lock_without_priority, NULL));
}

static void lock_each_way(int type, int shared)
{
	const struct timespec past = { 0, 0 }, none = { 0, -1 };

	printf("type %d shared %d\n", type, shared);
	make(&m, type, 6, shared);
	show("lock", pthread_mutex_lock(&m));
	show_priorities("locked");
	show("trylock", pthread_mutex_trylock(&m));
	if (type == PTHREAD_MUTEX_ERRORCHECK) {
		show("timed", pthread_mutex_timedlock(&m, &past));
		show("clock", pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &past));
	}
	show("clock", pthread_mutex_clocklock(&m, CLOCK_PROCESS_CPUTIME_ID, &past));
	show("another", (int)(long)finish(start(try_it, &m)));
	show("unlock", pthread_mutex_unlock(&m));
	if (type == PTHREAD_MUTEX_RECURSIVE)
		show("unlock", pthread_mutex_unlock(&m));
	show_priorities("unlocked");
	if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK)
		show("unlock", pthread_mutex_unlock(&m));
	show("timed", pthread_mutex_timedlock(&m, &none));
	show("destroy", pthread_mutex_destroy(&m));
	show("unlock", pthread_mutex_unlock(&m));
	show("another", (int)(long)finish(start(try_it, &m)));
	show("destroy", pthread_mutex_destroy(&m));
}

static void *lock_all_types(void *unused)
{
	static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
				     PTHREAD_MUTEX_ERRORCHECK,
				     PTHREAD_MUTEX_ADAPTIVE_NP };

	be_fifo(OWN);
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		for (int shared = 0; shared < 2; shared++)
			lock_each_way(types[i], shared);
	return unused;
}

static void types_are_kept(void)
{
	finish(start(lock_all_types, NULL));
}

static void types_are_kept_by_the_first_thread(void)
{
	finish(start(do_nothing, NULL));
	lock_all_types(NULL);
}

/* The highest that is held counts, in whatever order they are given back. */
static void *hold_several(void *unused)
{
	be_fifo(OWN);
	make(&m, PTHREAD_MUTEX_DEFAULT, 6, 0);
	make(&other, PTHREAD_MUTEX_DEFAULT, 8, 0);
	show_priorities("first");
	pthread_mutex_lock(&m);
	show_priorities("6");
	pthread_mutex_lock(&other);
	show_priorities("6 and 8");
	pthread_mutex_unlock(&m);
	show_priorities("8");
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&other);
	show_priorities("6");
	be_fifo(5);
	show_priorities("5 and 6");
	show("prio", pthread_setschedprio(pthread_self(), 7));
	show_priorities("7 and 6");
	show("prio", pthread_setschedprio(pthread_self(), 3));
	show_priorities("3 and 6");
	pthread_mutex_unlock(&m);
	show_priorities("last");
	return unused;
}

static void priorities_are_raised(void)
{
	finish(start(hold_several, NULL));
}

static void priorities_are_raised_of_the_first_thread(void)
{
	finish(start(do_nothing, NULL));
	hold_several(NULL);
}

static void *be_above(void *unused)
{
	const struct timespec past = { 0, 0 };

	be_fifo(7);
	make(&m, PTHREAD_MUTEX_DEFAULT, 6, 0);
	show("lock", pthread_mutex_lock(&m));
	show("trylock", pthread_mutex_trylock(&m));
	show("timed", pthread_mutex_timedlock(&m, &past));
	be_fifo(6);
	show("lock", pthread_mutex_lock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	return unused;
}

static void above_the_ceiling_it_is_refused(void)
{
	finish(start(be_above, NULL));
}

static void change_ceiling(int type)
{
	int old = -1;

	be_fifo(OWN);
	make(&m, type, 6, 0);
	show("too low", pthread_mutex_setprioceiling(&m, 0, &old));
	show("too high", pthread_mutex_setprioceiling(&m, 100, &old));
	show("change", pthread_mutex_setprioceiling(&m, 8, &old));
	printf("old %d\n", old);
	show("lock", pthread_mutex_lock(&m));
	show_priorities("locked");
	if (type != PTHREAD_MUTEX_DEFAULT) {
		show("change", pthread_mutex_setprioceiling(&m, 9, no_place));
		show_priorities("changed");
	}
	show("unlock", pthread_mutex_unlock(&m));
	show_priorities("unlocked");
	show_ceiling(&m);
	show("lower", pthread_mutex_setprioceiling(&m, 3, &old));
	show("lock", pthread_mutex_lock(&m));
}

static void *change_ceilings(void *unused)
{
	pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
	int old;

	show("of none", pthread_mutex_setprioceiling(&plain, 6, &old));
	show("of none", pthread_mutex_getprioceiling(&plain, &old));
	change_ceiling(PTHREAD_MUTEX_DEFAULT);
	change_ceiling(PTHREAD_MUTEX_RECURSIVE);
	change_ceiling(PTHREAD_MUTEX_ERRORCHECK);
	return unused;
}

static void ceilings_change(void)
{
	finish(start(change_ceilings, NULL));
}

/* --- by several ------------------------------------------------------ */

static void *count_up(void *rounds)
{
	be_fifo(OWN);
	for (long i = 0; i < (long)rounds; i++) {
		if (pthread_mutex_lock(&m) != 0)
			abort();
		counter++;
		if (i % 64 == 0)
			sched_yield();
		if (pthread_mutex_unlock(&m) != 0)
			abort();
	}
	return NULL;
}

static void one_at_a_time(void)
{
	const long rounds = scaled(5000);

	for (int shared = 0; shared < 2; shared++) {
		pthread_t threads[4];

		counter = 0;
		make(&m, PTHREAD_MUTEX_DEFAULT, 6, shared);
		for (int i = 0; i < 4; i++)
			threads[i] = start(count_up, (void *)rounds);
		for (int i = 0; i < 4; i++)
			finish(threads[i]);
		printf("counted %d\n", counter == 4 * rounds);
		show("destroy", pthread_mutex_destroy(&m));
	}
}

static void *wait_in_time(void *unused)
{
	struct timespec at = soon(CLOCK_REALTIME, 20);

	be_fifo(OWN);
	show("timed", pthread_mutex_timedlock(&m, &at));
	at = soon(CLOCK_MONOTONIC, 20);
	show("clock", pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &at));
	flag = 1;
	show("lock", pthread_mutex_lock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	return unused;
}

static void waits_end_in_time(void)
{
	for (int shared = 0; shared < 2; shared++) {
		pthread_t t;

		flag = 0;
		be_fifo(OWN);
		make(&m, PTHREAD_MUTEX_DEFAULT, 6, shared);
		show("lock", pthread_mutex_lock(&m));
		t = start(wait_in_time, NULL);
		while (!flag)
			usleep(1000);
		pthread_mutex_unlock(&m);
		finish(t);
	}
}

/* A waiting thread finds another ceiling, and its priority follows. */
static void *wait_for_change(void *unused)
{
	be_fifo(OWN);
	flag = 1;
	show("lock", pthread_mutex_lock(&m));
	show_priorities("locked");
	show("unlock", pthread_mutex_unlock(&m));
	show_priorities("unlocked");
	return unused;
}

static void a_ceiling_changes_under_a_wait(void)
{
	pthread_t t;

	be_fifo(OWN);
	make(&m, PTHREAD_MUTEX_RECURSIVE, 6, 0);
	show("lock", pthread_mutex_lock(&m));
	flag = 0;
	t = start(wait_for_change, NULL);
	while (!flag)
		usleep(1000);
	usleep(1000);
	show("change", pthread_mutex_setprioceiling(&m, 9, no_place));
	pthread_mutex_unlock(&m);
	finish(t);
	show_ceiling(&m);
}

static _Atomic int waits;

static void *wait_for_flag(void *unused)
{
	be_fifo(OWN);
	pthread_mutex_lock(&m);
	waits = 1;
	while (!flag)
		show("wait", pthread_cond_wait(&cond, &m));
	show_priorities("has it");
	pthread_mutex_unlock(&m);
	show_priorities("has not");
	return unused;
}

static void condition_variables_give_it_back(void)
{
	pthread_t t;

	be_fifo(OWN);
	make(&m, PTHREAD_MUTEX_ERRORCHECK, 6, 0);
	show("wait", pthread_cond_wait(&cond, &m));
	t = start(wait_for_flag, NULL);
	while (!waits)
		usleep(1000);
	pthread_mutex_lock(&m);
	flag = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&m);
	finish(t);
}

/* The thread that is made first finds the mutex locked; the priority goes down again. */
static void it_is_locked_before_the_first_thread(void)
{
	be_fifo(OWN);
	make(&m, PTHREAD_MUTEX_RECURSIVE, 6, 0);
	show("lock", pthread_mutex_lock(&m));
	show("another", (int)(long)finish(start(try_it, &m)));
	show_priorities("locked");
	show("again", pthread_mutex_lock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	show_priorities("unlocked");
	show("another", (int)(long)finish(start(try_it, &m)));
}

static void processes_share_it(void)
{
	struct shared {
		pthread_mutex_t m;
		_Atomic int tried;
	} *place = mmap(NULL, sizeof(*place), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutex_t *shared = &place->m;
	int status;

	be_fifo(OWN);
	make(shared, PTHREAD_MUTEX_DEFAULT, 6, 1);
	finish(start(do_nothing, NULL));
	show("lock", pthread_mutex_lock(shared));
	fflush(stdout);
	if (fork() == 0) {
		int busy = (int)(long)finish(start(try_it, shared)), error;

		place->tried = 1;
		error = pthread_mutex_lock(shared);
		_exit(busy == EBUSY && !error && !pthread_mutex_unlock(shared));
	}
	while (!place->tried)
		usleep(1000);
	usleep(20000);		/* most likely the child waits */
	show("unlock", pthread_mutex_unlock(shared));
	wait(&status);
	printf("child %d\n", WEXITSTATUS(status));
	show("lock", pthread_mutex_lock(shared));
	show("unlock", pthread_mutex_unlock(shared));
}

static void robust_ones_are_refused(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	show("protocol", pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT));
	show("robust", pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST));
	show("init", pthread_mutex_init(&m, &attr));
}

static const struct compare_case cases[] = {
	COMPARE(without_a_thread_it_locks),
	COMPARE(the_first_thread_locks_it),
	COMPARE(a_thread_locks_it),
	COMPARE(types_are_kept),
	COMPARE(types_are_kept_by_the_first_thread),
	COMPARE(priorities_are_raised),
	COMPARE(priorities_are_raised_of_the_first_thread),
	COMPARE(above_the_ceiling_it_is_refused),
	COMPARE(ceilings_change),
	COMPARE(one_at_a_time),
	COMPARE(waits_end_in_time),
	COMPARE(a_ceiling_changes_under_a_wait),
	COMPARE(condition_variables_give_it_back),
	COMPARE(it_is_locked_before_the_first_thread),
	COMPARE(processes_share_it),
	COMPARE(robust_ones_are_refused),
};

COMPARE_MAIN(cases)
