/* SPDX-License-Identifier: MIT */
/*
 * destroyed.c - the last user of a counted object frees it; another still wants its lock
 *
 * The count is looked at behind the unlock, where another thread may have it at 0 too. With
 * -DFIXED the thread remembers the count that it made itself.
 */
#include <pthread.h>
#include <stdlib.h>

struct counted {
	pthread_mutex_t lock;
	int users;
};

static void *release(void *arg)
{
	struct counted *c = arg;
	int left;

	pthread_mutex_lock(&c->lock);
	left = --c->users;
	pthread_mutex_unlock(&c->lock);
#ifndef FIXED
	pthread_mutex_lock(&c->lock);
	left = c->users;
	pthread_mutex_unlock(&c->lock);
#endif
	if (left == 0) {
		pthread_mutex_destroy(&c->lock);
		free(c);
	}
	return NULL;
}

int main(void)
{
	struct counted *c = malloc(sizeof(*c));
	pthread_t thread;

	if (!c)
		return 2;
	pthread_mutex_init(&c->lock, NULL);
	c->users = 2;
	if (pthread_create(&thread, NULL, release, c) != 0)
		return 2;
	(void)release(c);
	return pthread_join(thread, NULL);
}
