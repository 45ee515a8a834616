/* SPDX-License-Identifier: MIT */
/* test_robust.c - robust mutexes after their owners end or are killed */
#include "compare.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static pthread_mutex_t m;

static void make(pthread_mutex_t *to, int type, int shared)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (shared)
		pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(to, &attr);
}

/* --- in one process ------------------------------------------------ */

static void *lock_and_end(void *arg)
{
	show("lock", pthread_mutex_lock(arg));
	return NULL;
}

static void *try_it(void *arg)
{
	int error = pthread_mutex_trylock(arg);

	if (!error)
		pthread_mutex_unlock(arg);
	return (void *)(long)error;
}

static void the_next_owner_is_told(void)
{
	for (int type = 0; type < 3; type++) {
		make(&m, type, 0);
		finish(start(lock_and_end, &m));
		show("dead", pthread_mutex_lock(&m));
		show("try", (int)(long)finish(start(try_it, &m)));
		show("consistent", pthread_mutex_consistent(&m));
		show("again", pthread_mutex_consistent(&m));
		show("unlock", pthread_mutex_unlock(&m));
		show("try", (int)(long)finish(start(try_it, &m)));
		show("destroy", pthread_mutex_destroy(&m));
	}
}

static void what_is_not_mended_is_lost(void)
{
	struct timespec at = soon(CLOCK_REALTIME, 1000);

	make(&m, PTHREAD_MUTEX_DEFAULT, 0);
	finish(start(lock_and_end, &m));
	show("try", pthread_mutex_trylock(&m));
	show("unlock", pthread_mutex_unlock(&m));
	show("lock", pthread_mutex_lock(&m));
	show("timed", pthread_mutex_timedlock(&m, &at));
	finish(start(lock_and_end, &m));
	show("consistent", pthread_mutex_consistent(&m));
	show("destroy", pthread_mutex_destroy(&m));
}

static void *use_it_wrongly(void *arg)
{
	struct timespec at = soon(CLOCK_REALTIME, 20);

	show("unlock", pthread_mutex_unlock(arg));
	show("timed", pthread_mutex_timedlock(arg, &at));
	return NULL;
}

static void types_are_kept(void)
{
	for (int type = 0; type < 3; type++) {
		make(&m, type, 0);
		show("unlock", pthread_mutex_unlock(&m));
		show("lock", pthread_mutex_lock(&m));
		show("try", pthread_mutex_trylock(&m));
		finish(start(use_it_wrongly, &m));
		show("unlock", pthread_mutex_unlock(&m));
		show("unlock", pthread_mutex_unlock(&m));
		show("try", (int)(long)finish(start(try_it, &m)));
	}
}

static int mended, counter;
static _Atomic int is_held;

static void *mend_and_count(void *arg)
{
	for (int i = 0; i < 500; i++) {
		int error = pthread_mutex_lock(arg);

		if (error == EOWNERDEAD) {
			mended++;
			pthread_mutex_consistent(arg);
		}
		counter++;
		if (i % 50 == 0)
			sched_yield();
		pthread_mutex_unlock(arg);
	}
	return NULL;
}

static void *hold_while_they_come(void *arg)
{
	pthread_mutex_lock(arg);
	is_held = 1;
	usleep(20000);
	return NULL;
}

static void one_of_those_who_wait_is_told(void)
{
	pthread_t t[9];

	make(&m, PTHREAD_MUTEX_DEFAULT, 0);
	t[0] = start(hold_while_they_come, &m);
	while (!is_held)
		sched_yield();
	for (int i = 1; i < 9; i++)
		t[i] = start(mend_and_count, &m);
	for (int i = 0; i < 9; i++)
		finish(t[i]);
	printf("%d mended, %d\n", mended, counter);
}

static pthread_key_t key;
static pthread_mutex_t second;

static void unlock_late(void *arg)
{
	show("late", pthread_mutex_unlock(arg));
}

static void *leave_it_to_the_key(void *unused)
{
	pthread_mutex_lock(&m);
	pthread_mutex_lock(&second);
	pthread_setspecific(key, &m);
	return unused;
}

static void a_destructor_may_unlock(void)
{
	make(&m, PTHREAD_MUTEX_DEFAULT, 0);
	make(&second, PTHREAD_MUTEX_DEFAULT, 0);
	pthread_key_create(&key, unlock_late);
	finish(start(leave_it_to_the_key, NULL));
	show("lock", pthread_mutex_lock(&m));
	show("second", pthread_mutex_lock(&second));
}

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int state;

static void *wait_with_it(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&m);
	state = 1;
	while (state != 2) {
		int error = pthread_cond_wait(&changed, &m);

		if (error)
			show("wait", error);
	}
	show("consistent", pthread_mutex_consistent(&m));
	show("unlock", pthread_mutex_unlock(&m));
	return NULL;
}

static void *signal_and_end(void *unused)
{
	pthread_mutex_lock(&m);
	state = 2;
	pthread_cond_signal(&changed);
	return unused;
}

static void a_condition_tells_who_waits(void)
{
	pthread_t t;

	make(&m, PTHREAD_MUTEX_DEFAULT, 0);
	show("not mine", pthread_cond_wait(&changed, &m));
	t = start(wait_with_it, NULL);
	for (int seen = 0; seen != 1;) {
		usleep(1000);
		pthread_mutex_lock(&m);
		seen = state;
		pthread_mutex_unlock(&m);
	}
	finish(start(signal_and_end, NULL));
	finish(t);
}

/* --- several processes --------------------------------------------- */

struct common {
	pthread_mutex_t m[3];
	pthread_cond_t changed;
	_Atomic int state;
	int counter;
};

/* An emulator's kernel has no such lists: nothing to compare. */
static struct common *make_common(int type)
{
	size_t bytes;
	void *head;
	struct common *c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_condattr_t attr;

	if (syscall(SYS_get_robust_list, 0, &head, &bytes) != 0)
		exit(puts("no robust lists here") < 0);
	for (int i = 0; i < 3; i++)
		make(&c->m[i], type, 1);
	pthread_condattr_init(&attr);
	pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&c->changed, &attr);
	return c;
}

static void until(struct common *c, int what)
{
	while (c->state != what)
		usleep(1000);
}

static void *go_about(void *arg)
{
	struct common *c = arg;

	while (c->state >= 0)
		sched_yield();
	return NULL;
}

/* Takes all, changes kernel threads if it can, and stays. */
static void *take_all(void *arg)
{
	struct common *c = arg;

	for (int i = 0; i < 3; i++)
		pthread_mutex_lock(&c->m[i]);
	pthread_mutex_unlock(&c->m[1]);
	for (int i = 0; i < 1000; i++)
		sched_yield();
	c->state = 1;
	for (;;)
		sched_yield();
	return NULL;
}

static pid_t child_that(void *(*does)(void *arg), struct common *c, int threads)
{
	pid_t child = fork();

	if (child != 0)
		return child;
	for (int i = 0; i < threads; i++)
		start(go_about, c);
	finish(start(does, c));
	_exit(0);
}

static void end_it(pid_t child, int signal)
{
	if (signal)
		kill(child, signal);
	if (waitpid(child, NULL, 0) != child)
		abort();
}

static void *look_at_all(void *arg)
{
	struct common *c = arg;

	for (int i = 0; i < 3; i++) {
		show("lock", pthread_mutex_lock(&c->m[i]));
		show("consistent", pthread_mutex_consistent(&c->m[i]));
		show("unlock", pthread_mutex_unlock(&c->m[i]));
	}
	return NULL;
}

static void a_process_may_be_killed_with_it(void)
{
	for (int type = 0; type < 3; type++) {
		struct common *c = make_common(type);
		pid_t child = child_that(take_all, c, 3);

		until(c, 1);
		end_it(child, SIGKILL);
		look_at_all(c);
		finish(start(look_at_all, c));
	}
}

static void *exit_with_all(void *arg)
{
	struct common *c = arg;

	for (int i = 0; i < 3; i++)
		pthread_mutex_lock(&c->m[i]);
	exit(0);
}

static void a_process_may_end_with_it(void)
{
	struct common *c = make_common(0);
	pid_t child;

	fflush(stdout);
	end_it(child_that(exit_with_all, c, 2), 0);
	look_at_all(c);
	child = fork();
	if (child == 0) {
		start(go_about, c);
		for (int i = 0; i < 3; i++)
			pthread_mutex_lock(&c->m[i]);
		execlp("true", "true", (char *)NULL);
	}
	end_it(child, 0);
	look_at_all(c);
}

static void *wait_for_it(void *arg)
{
	struct common *c = arg;

	show("lock", pthread_mutex_lock(&c->m[0]));
	return NULL;
}

static void a_waiter_for_a_killed_process_is_told(void)
{
	struct common *c = make_common(0);
	pid_t child = child_that(take_all, c, 0);
	pthread_t t;

	until(c, 1);
	t = start(wait_for_it, c);
	usleep(20000);
	end_it(child, SIGKILL);
	finish(t);
}

/* The first thread has them from before there were others. */
static void the_first_thread_is_like_others(void)
{
	struct common *c = make_common(0);
	pid_t child = fork();

	if (child == 0) {
		pthread_mutex_lock(&c->m[0]);
		pthread_mutex_lock(&c->m[1]);
		pthread_mutex_lock(&c->m[2]);
		start(go_about, c);
		pthread_mutex_unlock(&c->m[1]);
		c->state = 1;
		for (;;)
			sched_yield();
	}
	until(c, 1);
	end_it(child, SIGKILL);
	look_at_all(c);
}

static void *count_with_others(void *arg)
{
	struct common *c = arg;

	for (int i = 0; i < 400; i++) {
		int error = pthread_mutex_lock(&c->m[0]);

		if (error)
			show("lock", error);
		c->counter++;
		if (i % 40 == 0)
			sched_yield();
		pthread_mutex_unlock(&c->m[0]);
	}
	return NULL;
}

static void *count_by_four(void *arg)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		t[i] = start(count_with_others, arg);
	for (int i = 0; i < 4; i++)
		finish(t[i]);
	return NULL;
}

static void processes_exclude_each_other(void)
{
	for (int type = 0; type < 3; type++) {
		struct common *c = make_common(type);
		pid_t a = child_that(count_by_four, c, 0);
		pid_t b = child_that(count_by_four, c, 0);

		count_by_four(c);
		end_it(a, 0);
		end_it(b, 0);
		printf("%d\n", c->counter);
	}
}

static void play(struct common *c, int turn)
{
	pthread_mutex_lock(&c->m[0]);
	for (int i = 0; i < 100; i++) {
		while (c->counter % 2 != turn)
			pthread_cond_wait(&c->changed, &c->m[0]);
		c->counter++;
		pthread_cond_broadcast(&c->changed);
	}
	show("unlock", pthread_mutex_unlock(&c->m[0]));
	show("unlock", pthread_mutex_unlock(&c->m[0]));
}

static void *pass_the_ball(void *arg)
{
	return play(arg, 1), NULL;
}

static void *return_the_ball(void *arg)
{
	return play(arg, 0), NULL;
}

static void conditions_are_waited_for_between_processes(void)
{
	for (int type = 0; type < 3; type++) {
		struct common *c = make_common(type);
		pid_t child = child_that(pass_the_ball, c, 1);

		finish(start(return_the_ball, c));
		c->state = -1;
		end_it(child, 0);
		printf("%d\n", c->counter);
	}
}

/* What it has after a wait is as much its own as before. */
static void *wait_and_keep(void *arg)
{
	struct common *c = arg;
	struct timespec at = soon(CLOCK_REALTIME, 20);

	pthread_mutex_lock(&c->m[0]);
	while (pthread_cond_timedwait(&c->changed, &c->m[0], &at) == 0)
		;
	c->state = 1;
	for (;;)
		sched_yield();
	return NULL;
}

static void it_may_be_killed_after_a_wait(void)
{
	struct common *c = make_common(0);
	pid_t child = child_that(wait_and_keep, c, 2);

	until(c, 1);
	end_it(child, SIGKILL);
	look_at_all(c);
}

static const struct compare_case cases[] = {
	COMPARE(the_next_owner_is_told),
	COMPARE(what_is_not_mended_is_lost),
	COMPARE(types_are_kept),
	COMPARE(one_of_those_who_wait_is_told),
	COMPARE(a_destructor_may_unlock),
	COMPARE(a_condition_tells_who_waits),
	COMPARE(a_process_may_be_killed_with_it),
	COMPARE(a_process_may_end_with_it),
	COMPARE(a_waiter_for_a_killed_process_is_told),
	COMPARE(the_first_thread_is_like_others),
	COMPARE(processes_exclude_each_other),
	COMPARE(conditions_are_waited_for_between_processes),
	COMPARE(it_may_be_killed_after_a_wait),
};

COMPARE_MAIN(cases)
