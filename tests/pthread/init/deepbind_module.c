/* SPDX-License-Identifier: MIT */
/* deepbind_module.c - a plug-in that has locks, threads and descriptors of the program's */
#include "deepbind.h"

#include <unistd.h>

static int (*const lock)(pthread_mutex_t *m) = pthread_mutex_lock;

void plug_in_add(pthread_mutex_t *m, long *n, long times)
{
	for (long i = 0; i < times; i++) {
		if (i & 1)
			pthread_mutex_lock(m);
		else
			lock(m);	/* an address in data */
		++*n;
		pthread_mutex_unlock(m);
	}
}

void plug_in_wait(pthread_mutex_t *m, pthread_cond_t *c, const int *go)
{
	pthread_mutex_lock(m);
	while (!*go)
		pthread_cond_wait(c, m);
	pthread_mutex_unlock(m);
}

static void *double_it(void *arg)
{
	*(long *)arg *= 2;
	return arg;
}

long plug_in_thread(long n)
{
	pthread_t t;

	if (pthread_create(&t, NULL, double_it, &n) != 0 ||
	    pthread_join(t, NULL) != 0)
		return -1;
	return n;
}

int plug_in_read(int fd)
{
	char byte = 0;

	return read(fd, &byte, 1) == 1 ? byte : -1;
}
