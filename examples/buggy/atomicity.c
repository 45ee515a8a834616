/* SPDX-License-Identifier: MIT */
/*
 * atomicity.c - two threads take the last ticket: one lock to look, another to take
 *
 * With -DFIXED a thread looks and takes under one lock.
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int tickets = 1;

static void *buy(void *unused)
{
	int are_left;

	pthread_mutex_lock(&lock);
	are_left = tickets > 0;
#ifndef FIXED
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
#endif
	if (are_left)
		tickets--;
	assert(tickets >= 0);
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, buy, NULL) != 0)
			return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
