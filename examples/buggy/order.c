/* SPDX-License-Identifier: MIT */
/*
 * order.c - a thread uses what its creator prepares only after the creation
 *
 * The pause hides it nearly always. With -DFIXED a semaphore says when all is prepared.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

static int *settings;
static sem_t is_prepared;

static void *serve(void *unused)
{
#ifdef FIXED
	sem_wait(&is_prepared);
#else
	usleep(10000);
#endif
	*settings += 1;
	return unused;
}

int main(void)
{
	pthread_t thread;

	sem_init(&is_prepared, 0, 0);
	if (pthread_create(&thread, NULL, serve, NULL) != 0)
		return 2;
	settings = calloc(1, sizeof(*settings));
	sem_post(&is_prepared);
	pthread_join(thread, NULL);
	free(settings);
	return 0;
}
