/* SPDX-License-Identifier: MIT */
/* test_create.c - threads begin, end, are joined and are detached */
#include "compare.h"

#include <fcntl.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void *give_back(void *arg)
{
	return arg;
}

static void *wait_here(void *arg)
{
	pthread_mutex_lock(arg);
	pthread_mutex_unlock(arg);
	return NULL;
}

static void results_come_back(void)
{
	pthread_t t[100];
	long sum = 0;

	for (long i = 0; i < 100; i++)
		t[i] = start(give_back, (void *)i);
	for (int i = 0; i < 100; i++)
		sum += (long)finish(t[i]);
	printf("%ld\n", sum);
}

static void ids_differ_until_the_join(void)
{
	pthread_t t[200];
	int same = 0;

	for (int i = 0; i < 200; i++)
		t[i] = start(give_back, NULL);
	for (int i = 0; i < 200; i++)
		for (int k = 0; k < i; k++)
			same += pthread_equal(t[i], t[k]) != 0;
	for (int i = 0; i < 200; i++)
		finish(t[i]);
	printf("same: %d\n", same);
}

static pthread_t told;

static void *look_at_told(void *arg)
{
	(void)arg;
	return (void *)(long)pthread_equal(told, pthread_self());
}

static void own_id_is_there_when_it_begins(void)
{
	void *result;

	pthread_create(&told, NULL, look_at_told, NULL);
	pthread_join(told, &result);
	printf("%ld\n", (long)result);
}

static void joins_that_fail_say_why(void)
{
	/* The detached one may have it still when this has returned. */
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	struct timespec at = soon(CLOCK_REALTIME, 20);
	pthread_attr_t attr;
	pthread_t t, detached;

	pthread_mutex_lock(&m);
	t = start(wait_here, &m);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_create(&detached, &attr, wait_here, &m);
	show("join of itself", pthread_join(pthread_self(), NULL));
	show("try", pthread_tryjoin_np(t, NULL));
	show("timed", pthread_timedjoin_np(t, NULL, &at));
	show("detached", pthread_join(detached, NULL));
	show("detach twice", pthread_detach(detached));
	pthread_mutex_unlock(&m);
	show("join", pthread_join(t, NULL));
}

static void *do_nothing(void *arg)
{
	return arg;
}

static void what_has_ended_is_not_joined_again(void)
{
	pthread_t t = start(do_nothing, NULL);
	pthread_attr_t attr;

	finish(t);
	show("join", pthread_join(t, NULL));
	show("try", pthread_tryjoin_np(t, NULL));
	show("detach", pthread_detach(t));
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_create(&t, &attr, do_nothing, NULL);
	show("detached", pthread_join(t, NULL));
}

static pthread_key_t key;
static int destroyed;

static void destroy(void *value)
{
	destroyed += (int)(long)value;
}

/* No compiler sees that it does not return. */
static void (*volatile end)(void *result) = pthread_exit;

static void leave(int depth)
{
	if (depth > 0)
		leave(depth - 1);
	else
		end((void *)77);
}

static void note(void *arg)
{
	printf("cleanup %s\n", (const char *)arg);
}

static void *exit_from_below(void *arg)
{
	pthread_setspecific(key, (void *)5);
	pthread_cleanup_push(note, "outer");
	pthread_cleanup_push(note, "inner");
	leave(10);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return arg;
}

static void exit_runs_handlers_and_destructors(void)
{
	pthread_key_create(&key, destroy);
	printf("%ld\n", (long)finish(start(exit_from_below, NULL)));
	printf("destroyed %d\n", destroyed);
}

static sem_t left;

static void *print_later(void *arg)
{
	while (sem_wait(&left) != 0)
		;
	usleep(20000);		/* most likely main is gone by now */
	printf("still here %s\n", (const char *)arg);
	return NULL;
}

static void tell(void *sem)
{
	sem_post(sem);
}

static void main_may_leave_first(void)
{
	sem_init(&left, 0, 0);
	start(print_later, "after main");
	pthread_cleanup_push(tell, &left);
	pthread_cleanup_push(note, "of main");
	pthread_exit(NULL);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
}

/* If the main thread does not wait for it, the process has ended meanwhile. */
static void tell_end(void *whose)
{
	usleep(2000);
	printf("destroyed: %s\n", (char *)whose);
	sem_post(&left);
}

static void *have_a_key_and_end(void *whose)
{
	while (sem_wait(&left) != 0)
		;
	pthread_setspecific(key, whose);
	return NULL;
}

static void the_end_waits_for_destructors(void)
{
	sem_init(&left, 0, 0);
	pthread_key_create(&key, tell_end);
	pthread_setspecific(key, "main's");
	pthread_detach(start(have_a_key_and_end, "the last one's"));
	pthread_exit(NULL);
}

static void *fork_and_have_a_key(void *arg)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		pthread_setspecific(key, "the child's");
		return arg;
	}
	waitpid(child, &status, 0);
	printf("%d %d\n", WIFEXITED(status), WEXITSTATUS(status));
	return arg;
}

static void a_child_runs_destructors_too(void)
{
	pthread_key_create(&key, tell_end);
	finish(start(fork_and_have_a_key, NULL));
}

static void *end_the_process(void *arg)
{
	(void)arg;
	printf("ends\n");
	exit(7);
}

static void any_thread_may_end_the_process(void)
{
	start(end_the_process, NULL);
	for (;;)
		pause();
}

static void *measure(void *arg)
{
	pthread_attr_t attr;
	void *low;
	size_t bytes = 0;
	char here;

	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return NULL;
	pthread_attr_getstack(&attr, &low, &bytes);
	*(size_t *)arg = bytes;
	return (void *)(long)(&here > (char *)low &&
			      &here < (char *)low + bytes);
}

static void stack_is_as_large_as_asked(void)
{
	pthread_attr_t attr;
	size_t bytes = 0;
	void *result;
	pthread_t t;

	pthread_attr_init(&attr);
	show("set", pthread_attr_setstacksize(&attr, 1 << 20));
	pthread_create(&t, &attr, measure, &bytes);
	pthread_join(t, &result);
	printf("inside %ld, enough %d\n", (long)result,
	       bytes >= (1 << 20) - 8192);
	printf("main: inside %ld\n", (long)measure(&bytes));
}

static __thread int mine = 3;

static void *change_mine(void *arg)
{
	int before = mine;

	errno = 0;
	mine = (int)(long)arg;
	for (int i = 0; i < 20; i++) {
		sched_yield();
		usleep(100);
		if (mine != (int)(long)arg)
			return (void *)-1;
	}
	return (void *)(long)before;
}

static void each_has_its_own_variables(void)
{
	pthread_t t[20];
	long sum = 0;

	for (long i = 0; i < 20; i++)
		t[i] = start(change_mine, (void *)(i + 10));
	for (int i = 0; i < 20; i++)
		sum += (long)finish(t[i]);
	printf("%ld %d\n", sum, mine);
}

static _Atomic int flag;

static void *spin(void *arg)
{
	while (!flag)
		;
	return arg;
}

static void *raise_flag(void *arg)
{
	flag = 1;
	return arg;
}

static void spinners_do_not_keep_others_from_running(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		t[i] = start(spin, NULL);
	finish(start(raise_flag, NULL));
	for (int i = 0; i < 4; i++)
		finish(t[i]);
	printf("done\n");
}

static void names_are_kept(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	char name[16] = "";
	pthread_t t;

	pthread_mutex_lock(&m);
	t = start(wait_here, &m);
	show("set", pthread_setname_np(t, "a name"));
	show("too long", pthread_setname_np(t, "0123456789abcdef"));
	show("get", pthread_getname_np(t, name, sizeof(name)));
	show("short", pthread_getname_np(t, name, 4));
	printf("%s\n", name);
	pthread_mutex_unlock(&m);
	finish(t);
}

/* Returns when the stack has given that many bytes, if it does. */
static __attribute__((noinline)) long go_down(const char *top, long bytes)
{
	volatile char here[256];

	here[0] = (char)bytes;
	if (top - (const char *)here >= bytes)
		return 1;
	return go_down(top, bytes) + here[0] * 0;
}

static void *overflow(void *arg)
{
	char top = 0;

	printf("filled %ld\n", go_down(&top, *(long *)arg));
	return NULL;
}

static void a_least_stack_overflows_within_its_size(void)
{
	/* weft has the frame of a signal below what was asked for. */
	const long sizes[] = { sysconf(_SC_THREAD_STACK_MIN) / 2,
			       sysconf(_SC_THREAD_STACK_MIN) +
			       (long)getauxval(AT_MINSIGSTKSZ) };
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	show("size", pthread_attr_setstacksize(
		&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN)));
	for (int i = 0; i < 2; i++) {
		struct rlimit no_core = { 0, 0 };
		int status;
		pthread_t t;
		pid_t child;

		fflush(stdout);
		child = fork();
		if (child == 0) {
			setrlimit(RLIMIT_CORE, &no_core);
			dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
			if (pthread_create(&t, &attr, overflow,
					   (void *)(uintptr_t)&sizes[i]) != 0)
				abort();
			finish(t);
			exit(0);
		}
		waitpid(child, &status, 0);
		printf("%d %d\n", WIFSIGNALED(status), status);
	}
}

static void *be_on_given_stack(void *arg)
{
	char here, *low = arg;
	pthread_attr_t attr;
	void *lowest = NULL;
	size_t bytes = 0;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &lowest, &bytes);
	for (int i = 0; i < 50; i++)
		usleep(100);
	end((void *)(long)(&here > low && &here < low + (1 << 18) &&
			   lowest == low && bytes == 1 << 18));
	return NULL;
}

static void given_stack_is_used(void)
{
	char *low = aligned_alloc(4096, 1 << 18);
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	show("set", pthread_attr_setstack(&attr, low, 1 << 18));
	for (int i = 0; i < 3; i++) {
		show("create", pthread_create(&t, &attr, be_on_given_stack,
					      low));
		printf("%ld\n", (long)finish(t));
	}
	free(low);
}

static void show_schedule(pthread_t t)
{
	struct sched_param param;
	int policy;

	pthread_getschedparam(t, &policy, &param);
	printf("%d %d\n", policy, param.sched_priority);
}

static void policies_are_checked_and_kept(void)
{
	struct sched_param param = { .sched_priority = 3 };
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_attr_t attr;
	pthread_t t;

	pthread_mutex_lock(&m);
	pthread_attr_init(&attr);
	t = start(wait_here, &m);
	show_schedule(t);
	show("high", pthread_setschedparam(t, SCHED_OTHER, &param));
	show("none", pthread_setschedparam(t, 77, &param));
	param.sched_priority = 0;
	show("low", pthread_setschedparam(t, SCHED_FIFO, &param));
	show("batch", pthread_setschedparam(t, SCHED_BATCH, &param));
	show_schedule(t);
	pthread_mutex_unlock(&m);
	finish(t);
}

static void *fork_and_exit(void *arg)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		end(arg);
	waitpid(child, &status, 0);
	printf("%d %d\n", WIFEXITED(status), WEXITSTATUS(status));
	return NULL;
}

static void exit_of_the_only_thread_of_a_child_ends_it(void)
{
	finish(start(fork_and_exit, NULL));
}

static const struct compare_case cases[] = {
	COMPARE(given_stack_is_used),
	COMPARE(a_least_stack_overflows_within_its_size),
	COMPARE(policies_are_checked_and_kept),
	COMPARE(exit_of_the_only_thread_of_a_child_ends_it),
	COMPARE(results_come_back),
	COMPARE(ids_differ_until_the_join),
	COMPARE(own_id_is_there_when_it_begins),
	COMPARE(joins_that_fail_say_why),
	WEFT_ONLY(what_has_ended_is_not_joined_again,
		  "join: ESRCH\ntry: ESRCH\ndetach: ESRCH\ndetached: EINVAL\n"),
	COMPARE(exit_runs_handlers_and_destructors),
	COMPARE(main_may_leave_first),
	COMPARE(the_end_waits_for_destructors),
	COMPARE(a_child_runs_destructors_too),
	ENDS_WITH(7, any_thread_may_end_the_process),
	COMPARE(stack_is_as_large_as_asked),
	COMPARE(each_has_its_own_variables),
	COMPARE(spinners_do_not_keep_others_from_running),
	COMPARE(names_are_kept),
};

COMPARE_MAIN(cases)
