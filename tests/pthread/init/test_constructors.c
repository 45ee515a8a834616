/* SPDX-License-Identifier: MIT */
/* test_constructors.c - threads before main, and after it has returned */
#include "compare.h"

#include <sched.h>
#include <semaphore.h>

static __thread int mine = 3;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;
static int asked, answered, ended, created;
static sem_t posted;
static pthread_t server, short_lived;
static long early_sum;

static void count_end(void *value)
{
	ended += value != NULL;
}

/* It lives on into main, and answers until it is asked for nothing. */
static void *serve(void *arg)
{
	pthread_setspecific(key, arg);
	pthread_mutex_lock(&mutex);
	for (;;) {
		while (asked == answered)
			pthread_cond_wait(&cond, &mutex);
		if (asked < 0)
			break;
		answered = asked;
		mine++;
		pthread_cond_broadcast(&cond);
	}
	pthread_mutex_unlock(&mutex);
	return (void *)(long)mine;
}

static void *add(void *arg)
{
	for (int i = 0; i < 100; i++) {
		mine++;
		sched_yield();
	}
	return (void *)((long)arg + mine);
}

/* Before all constructors, those of the program's libraries too. */
static void before_all(void)
{
	created = pthread_create(&short_lived, NULL, add, (void *)1000);
}

__attribute__((section(".preinit_array"), used))
static void (*const first)(void) = before_all;

__attribute__((constructor)) static void construct(void)
{
	pthread_t t[4];
	void *result;

	pthread_key_create(&key, count_end);
	sem_init(&posted, 0, 0);
	for (long i = 0; i < 4; i++)
		t[i] = start(add, (void *)i);
	for (int i = 0; i < 4; i++)
		early_sum += (long)finish(t[i]);
	if (created == 0 && pthread_join(short_lived, &result) == 0)
		early_sum += (long)result;
	server = start(serve, &key);
}

static void ask(int times)
{
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < times; i++) {
		asked++;
		pthread_cond_broadcast(&cond);
		while (answered != asked)
			pthread_cond_wait(&cond, &mutex);
	}
	pthread_mutex_unlock(&mutex);
}

static void threads_of_constructors_live_on(void)
{
	printf("%d, %ld, %d\n", created, early_sum, mine);
	ask(50);
	pthread_mutex_lock(&mutex);
	asked = -1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
	printf("%ld, ", (long)finish(server));
	printf("%d\n", ended);
}

/* --- when main has returned ---------------------------------------- */

static int ends[2];

static void *post(void *arg)
{
	sem_post(&posted);
	(void)!write(ends[1], "x", 1);
	return arg;
}

static void at_the_end(void)
{
	pthread_t t;
	char c = 0;

	ask(3);		/* of the thread that was made first */
	t = start(post, NULL);
	sem_wait(&posted);
	printf("%zd", read(ends[0], &c, 1));
	printf(" %c %d\n", c, finish(t) == NULL);
}

static void *exit_here(void *arg)
{
	exit((int)(long)arg);
}

static void functions_at_exit_may_wait_and_make_threads(void)
{
	if (pipe(ends) != 0)
		abort();
	atexit(at_the_end);
	finish(start(exit_here, (void *)7));
}

static void functions_at_exit_run_when_main_has_returned(void)
{
	if (pipe(ends) != 0)
		abort();
	atexit(at_the_end);
}

static const struct compare_case cases[] = {
	COMPARE(threads_of_constructors_live_on),
	ENDS_WITH(7, functions_at_exit_may_wait_and_make_threads),
	COMPARE(functions_at_exit_run_when_main_has_returned),
};

COMPARE_MAIN(cases)
