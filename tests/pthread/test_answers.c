/* SPDX-License-Identifier: MIT */
/* test_answers.c - what calls return that are used wrongly, or at the edge */
#include "compare.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>

static pthread_mutex_t made(int type, int protocol)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutex_init(&m, &attr);
	return m;
}

static void *unlock_it(void *arg)
{
	return (void *)(long)pthread_mutex_unlock(arg);
}

static void *try_it(void *arg)
{
	int error = pthread_mutex_trylock(arg);

	if (!error)
		pthread_mutex_unlock(arg);
	return (void *)(long)error;
}

static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *wait_without(void *mutex)
{
	struct timespec at = soon(CLOCK_REALTIME, 20);

	return (void *)(long)pthread_cond_timedwait(&never, mutex, &at);
}

/* What is not checked is not tried: that would be undefined. */
static void a_condition_wants_ones_own_mutex(void)
{
	const int types[] = { PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK };

	for (int i = 0; i < 2; i++) {
		pthread_mutex_t m = made(types[i], PTHREAD_PRIO_NONE);

		show("free", (int)(long)finish(start(wait_without, &m)));
		show("left alone", (int)(long)finish(start(try_it, &m)));
		pthread_mutex_lock(&m);
		show("another's", (int)(long)finish(start(wait_without, &m)));
		show("own", (int)(long)wait_without(&m));
		show("unlock", pthread_mutex_unlock(&m));
	}
}

static void a_mutex_that_inherits_is_its_owners(void)
{
	const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
			      PTHREAD_MUTEX_ERRORCHECK,
			      PTHREAD_MUTEX_ADAPTIVE_NP };

	for (int i = 0; i < 4; i++) {
		pthread_mutex_t m = made(types[i], PTHREAD_PRIO_INHERIT);

		finish(start(try_it, &m));
		show("free", pthread_mutex_unlock(&m));
		show("lock", pthread_mutex_lock(&m));
		show("own", pthread_mutex_trylock(&m));
		show("another's", (int)(long)finish(start(unlock_it, &m)));
		show("still taken", (int)(long)finish(start(try_it, &m)));
		show("unlock", pthread_mutex_unlock(&m));
	}
}

static const struct timespec bad = { 0, -1 };

static void wrong_times_are_told_of(void)
{
	pthread_mutex_t m = made(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE);
	sem_t sem;

	finish(start(try_it, &m));
	pthread_mutex_lock(&m);
	show("own", pthread_mutex_timedlock(&m, &bad));
	pthread_mutex_unlock(&m);
	show("free", pthread_mutex_timedlock(&m, &bad));
	sem_init(&sem, 0, 1);
	show_errno("semaphore", sem_timedwait(&sem, &bad));
	show_errno("is left", sem_trywait(&sem));
}

static void *lock_by_zero(void *arg)
{
	const struct timespec zero = { 0, 0 };

	return (void *)(long)pthread_mutex_clocklock(arg, CLOCK_MONOTONIC,
						     &zero);
}

static void a_time_of_zero_is_over(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &attr);
	finish(start(try_it, &m));
	pthread_mutex_lock(&m);
	show("robust", (int)(long)finish(start(lock_by_zero, &m)));
	pthread_mutex_unlock(&m);
}

/* --- times that are none, and other arguments ---------------------- */

static const struct timespec wrong[] = { { -1, 0 }, { 0, -1 },
					 { 0, 1000000000 } };

static void *sleep_wrongly(void *arg)
{
	const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME };

	for (int i = 0; i < 3; i++) {
		for (int c = 0; c < 2; c++)
			for (int flags = 0; flags <= TIMER_ABSTIME; flags++)
				show("sleep", clock_nanosleep(clocks[c], flags,
							      &wrong[i], NULL));
		show_errno("sleep", nanosleep(&wrong[i], NULL));
	}
	return arg;
}

static void sleeps_look_at_their_times(void)
{
	finish(start(sleep_wrongly, NULL));
}

static _Atomic int awake;

static void *sleep_long(void *arg)
{
	unsigned left;

	errno = 0;
	left = sleep(1000);
	awake = 1;
	show("sleep", errno);
	printf("some are left: %d\n", left <= 1000 && left > 0);
	return arg;
}

static void ignore(int signal)
{
	(void)signal;
}

static void a_sleeper_that_is_awakened_is_told_what_is_left(void)
{
	pthread_t t;

	signal(SIGUSR1, ignore);
	for (t = start(sleep_long, NULL); !awake; usleep(10000))
		pthread_kill(t, SIGUSR1);
	finish(t);
}

static void *use_queue(void *arg)
{
	const mqd_t q = *(mqd_t *)arg;
	char text[8] = "";

	for (int i = 0; i < 3; i++) {
		show_errno("send", mq_timedsend(q, text, 1, 0, &wrong[i]));
		show_errno("receive", mq_timedreceive(q, text, 8, NULL,
						      &wrong[i]));
		show_errno("no queue", mq_timedsend(-1, text, 1, 0, &wrong[i]));
	}
	show_errno("send", mq_send(q, text, 1, 0));
	show_errno("receive", mq_timedreceive(q, text, 8, NULL, &wrong[0]));
	return arg;
}

static void queues_look_at_their_times_first(void)
{
	struct mq_attr attr = { .mq_maxmsg = 2, .mq_msgsize = 8 };
	char name[32];
	mqd_t q;

	snprintf(name, sizeof(name), "/weft-answers-%d", getpid());
	q = mq_open(name, O_CREAT | O_RDWR, 0600, &attr);
	mq_unlink(name);
	finish(start(use_queue, &q));
}

static _Atomic unsigned words[2];

static long call_futex(int op, unsigned value, const void *time)
{
	return syscall(SYS_futex, words, op | FUTEX_PRIVATE_FLAG, value, time,
		       &words[1], -1);
}

static void *use_futex(void *arg)
{
	char *const askew = (char *)words + 1;
	const struct timespec zero = { 0, 0 };

	for (int i = 0; i < 3; i++) {
		show_errno("wait", call_futex(FUTEX_WAIT, 0, &wrong[i]));
		show_errno("bits", call_futex(FUTEX_WAIT_BITSET, 0, &wrong[i]));
	}
	show_errno("clock", call_futex(FUTEX_WAIT | FUTEX_CLOCK_REALTIME, 0,
				       &zero));
	show_errno("zero", call_futex(FUTEX_WAIT_BITSET, 0, &zero));
	show_errno("wakes", call_futex(FUTEX_REQUEUE, -1u, (void *)1));
	show_errno("moves", call_futex(FUTEX_REQUEUE, 1, (void *)(long)-1));
	show_errno("askew", syscall(SYS_futex, askew, FUTEX_WAIT_PRIVATE, 0,
				    &zero, NULL, 0));
	show_errno("askew", syscall(SYS_futex, askew, FUTEX_WAKE_PRIVATE, 1,
				    NULL, NULL, 0));
	return arg;
}

static void futexes_look_at_their_arguments(void)
{
	finish(start(use_futex, NULL));
}

/* --- what is told of threads --------------------------------------- */

static void *do_nothing(void *arg)
{
	return arg;
}

static void an_ended_thread_answers_nothing(void)
{
	pthread_t t = start(do_nothing, NULL);
	struct sched_param param = { .sched_priority = 0 };
	char name[16];
	int policy;

	while (pthread_getschedparam(t, &policy, &param) == 0)
		usleep(1000);
	show("get", pthread_getschedparam(t, &policy, &param));
	show("set", pthread_setschedparam(t, SCHED_OTHER, &param));
	show("priority", pthread_setschedprio(t, 0));
	show("name", pthread_setname_np(t, "name"));
	show("named", pthread_getname_np(t, name, sizeof(name)));
	show("join", pthread_join(t, NULL));
}

static void *tell_attributes(void *arg)
{
	int inherits = -1, policy = -1, detached = -1;
	struct sched_param param = { .sched_priority = -1 };
	pthread_attr_t attr;
	size_t guard = 1;
	cpu_set_t set;

	show("attributes", pthread_getattr_np(pthread_self(), &attr));
	pthread_attr_getinheritsched(&attr, &inherits);
	pthread_attr_getschedpolicy(&attr, &policy);
	pthread_attr_getschedparam(&attr, &param);
	pthread_attr_getdetachstate(&attr, &detached);
	pthread_attr_getguardsize(&attr, &guard);
	CPU_ZERO(&set);
	show("CPUs", pthread_attr_getaffinity_np(&attr, sizeof(set), &set));
	printf("%d %d %d %d %d %zu\n", inherits, policy, param.sched_priority,
	       detached, CPU_COUNT(&set), guard);
	pthread_attr_destroy(&attr);
	return arg;
}

static void tell_of(const pthread_attr_t *attr)
{
	pthread_t t;
	int error = pthread_create(&t, attr, tell_attributes, NULL);

	if (!error)
		finish(t);
	show("create", error);
}

static char stack[1 << 17] __attribute__((aligned(4096)));

static void attributes_are_told(void)
{
	struct sched_param param = { .sched_priority = 0 };
	pthread_attr_t attr;
	cpu_set_t set, one;

	tell_of(NULL);
	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_BATCH);
	pthread_attr_setschedparam(&attr, &param);
	tell_of(&attr);
	pthread_attr_setschedpolicy(&attr, SCHED_RR);
	param.sched_priority = 5;
	pthread_attr_setschedparam(&attr, &param);
	tell_of(&attr);
	pthread_attr_init(&attr);
	sched_getaffinity(0, sizeof(set), &set);
	CPU_ZERO(&one);
	for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
		if (CPU_ISSET(cpu, &set))
			CPU_SET(cpu, &one);
	pthread_attr_setaffinity_np(&attr, sizeof(one), &one);
	tell_of(&attr);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, sizeof(stack));
	tell_of(&attr);
}

static void tell_state(void *unused)
{
	int old = -1;

	(void)unused;
	show("deferred", pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old));
	printf("was deferred: %d\n", old == PTHREAD_CANCEL_DEFERRED);
	show("disable", pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old));
	printf("was enabled: %d\n", old == PTHREAD_CANCEL_ENABLE);
	show("enable", pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old));
	printf("was enabled: %d\n", old == PTHREAD_CANCEL_ENABLE);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	printf("goes on\n");
}

static pthread_key_t key;

static void *exit_with_key(void *arg)
{
	pthread_setspecific(key, &key);
	pthread_exit(arg);
}

static void *exit_without_points(void *arg)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	return exit_with_key(arg);
}

/* libc may set both at the exit. */
static void destructors_see_the_state_that_was_set(void)
{
	pthread_key_create(&key, tell_state);
	finish(start(exit_with_key, NULL));
	finish(start(exit_without_points, NULL));
}

static pthread_mutex_t used;
static pthread_cond_t changed;
static _Atomic int is_waiting;
static int may_go;

static void *wait_with_it(void *arg)
{
	pthread_mutex_lock(&used);
	is_waiting = 1;
	while (!may_go)
		pthread_cond_wait(&changed, &used);
	pthread_mutex_unlock(&used);
	return arg;
}

static void make_used(int type, int protocol, int shared)
{
	pthread_mutexattr_t attr;
	pthread_condattr_t cond;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutexattr_setpshared(&attr, shared);
	show("init", pthread_mutex_init(&used, &attr));
	pthread_condattr_init(&cond);
	pthread_condattr_setpshared(&cond, shared);
	pthread_cond_init(&changed, &cond);
}

/* libc counts those that wait for a condition with it. */
static void destroy_used(int type, int protocol, int shared)
{
	pthread_t t;

	printf("type %d protocol %d shared %d\n", type, protocol, shared);
	make_used(type, protocol, shared);
	pthread_mutex_lock(&used);
	show("locked", pthread_mutex_destroy(&used));
	pthread_mutex_unlock(&used);
	is_waiting = may_go = 0;
	t = start(wait_with_it, NULL);
	while (!is_waiting)
		usleep(1000);
	pthread_mutex_lock(&used);
	show("locked", pthread_mutex_destroy(&used));
	pthread_mutex_unlock(&used);
	show("waited with", pthread_mutex_destroy(&used));
	pthread_mutex_lock(&used);
	may_go = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&used);
	finish(t);
	show("free", pthread_mutex_destroy(&used));
}

static void a_mutex_in_use_is_not_destroyed(void)
{
	for (int type = 0; type < 4; type++)
		for (int shared = 0; shared < 2; shared++) {
			destroy_used(type, PTHREAD_PRIO_NONE, shared);
			destroy_used(type, PTHREAD_PRIO_INHERIT, shared);
		}
}

static const struct compare_case cases[] = {
	COMPARE(a_condition_wants_ones_own_mutex),
	COMPARE(a_mutex_that_inherits_is_its_owners),
	COMPARE(wrong_times_are_told_of),
	COMPARE(a_time_of_zero_is_over),
	COMPARE(sleeps_look_at_their_times),
	COMPARE(a_sleeper_that_is_awakened_is_told_what_is_left),
	COMPARE(queues_look_at_their_times_first),
	COMPARE(an_ended_thread_answers_nothing),
	COMPARE(attributes_are_told),
	COMPARE(destructors_see_the_state_that_was_set),
	COMPARE(futexes_look_at_their_arguments),
	COMPARE(a_mutex_in_use_is_not_destroyed),
};

COMPARE_MAIN(cases)
