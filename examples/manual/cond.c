/* SPDX-License-Identifier: MIT */
/* cond.c - a queue of numbers with a mutex and a condition variable */
#include <stdio.h>
#include <weft.h>

#define NUMBERS	100

static struct weft_mutex mutex = WEFT_MUTEX_INIT;
static struct weft_cond changed = WEFT_COND_INIT;
static int queue[NUMBERS], length, is_over;	/* protected by mutex */

static void *add_up(void *arg)
{
	long *sum = arg;

	weft_mutex_lock(&mutex);
	for (;;) {
		while (length == 0 && !is_over)
			weft_cond_wait(&changed, &mutex);
		if (length == 0)
			break;
		*sum += queue[--length];
	}
	weft_mutex_unlock(&mutex);
	return NULL;
}

int main(void)
{
	long sum = 0;
	uint64_t id;

	if (weft_start(NULL) != 0 || weft_spawn(&id, NULL, add_up, &sum) != 0)
		return 1;
	for (int i = 1; i <= NUMBERS; i++) {
		weft_mutex_lock(&mutex);
		queue[length++] = i;
		weft_mutex_unlock(&mutex);
		weft_cond_signal(&changed);
	}
	weft_mutex_lock(&mutex);
	is_over = 1;
	weft_mutex_unlock(&mutex);
	weft_cond_broadcast(&changed);
	if (weft_join(id, NULL) != 0)
		return 1;
	printf("the sum is %ld\n", sum);
	return sum != 5050 || weft_cond_destroy(&changed) != 0 || weft_stop() != 0;
}
