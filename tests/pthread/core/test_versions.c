/* SPDX-License-Identifier: MIT */
/*
 * test_versions.c - functions that a program was linked with in an older version
 *
 * libc keeps two condition variables under one name, in two versions: x86-64 has the
 * old ones, of 2.2.5. What comes in front of libc stands for both.
 */
#include "compare.h"

#ifdef __x86_64__
#define OLD(name, version)	__asm__(".symver " #name "," #name "@" version)
OLD(pthread_cond_init, "GLIBC_2.2.5");
OLD(pthread_cond_wait, "GLIBC_2.2.5");
OLD(pthread_cond_timedwait, "GLIBC_2.2.5");
OLD(pthread_cond_signal, "GLIBC_2.2.5");
OLD(pthread_cond_broadcast, "GLIBC_2.2.5");
OLD(pthread_cond_destroy, "GLIBC_2.2.5");
OLD(pthread_create, "GLIBC_2.2.5");
OLD(pthread_join, "GLIBC_2.2.5");
OLD(pthread_mutex_lock, "GLIBC_2.2.5");
OLD(pthread_mutex_unlock, "GLIBC_2.2.5");
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, made;
static int turn, turns;

static void *take_turns(void *arg)
{
	pthread_cond_t *cond = arg ? &made : &changed;

	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 100; i++) {
		while (turn != (arg == &made))
			pthread_cond_wait(&changed, &mutex);
		turn = !turn;
		turns++;
		pthread_cond_broadcast(&changed);
		pthread_cond_signal(cond);
	}
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void old_condition_variables_work(void)
{
	struct timespec past = { 0, 0 };
	pthread_t t[2];

	show("init", pthread_cond_init(&made, NULL));
	t[0] = start(take_turns, NULL);
	t[1] = start(take_turns, &made);
	finish(t[0]);
	finish(t[1]);
	pthread_mutex_lock(&mutex);
	show("past", pthread_cond_timedwait(&made, &mutex, &past));
	show("past", pthread_cond_timedwait(&changed, &mutex, &past));
	pthread_mutex_unlock(&mutex);
	show("destroy", pthread_cond_destroy(&made));
	printf("%d\n", turns);
}

static const struct compare_case cases[] = {
	COMPARE(old_condition_variables_work),
};

COMPARE_MAIN(cases)
