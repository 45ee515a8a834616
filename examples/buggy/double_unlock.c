/* SPDX-License-Identifier: MIT */
/*
 * double_unlock.c - the way out of an error unlocks what was unlocked already
 *
 * It comes there only if the other thread has closed the queue first. With -DFIXED each way
 * out unlocks once.
 */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_closed, length;

static int put(void)
{
	int error = 0;

	pthread_mutex_lock(&lock);
	if (is_closed) {
		error = -1;
#ifndef FIXED
		pthread_mutex_unlock(&lock);
#endif
	} else {
		length++;
	}
	pthread_mutex_unlock(&lock);
	return error;
}

static void *finish(void *unused)
{
	pthread_mutex_lock(&lock);
	is_closed = 1;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, finish, NULL) != 0)
		return 2;
	for (int i = 0; i < 3; i++)
		(void)put();
	return pthread_join(thread, NULL);
}
