/* SPDX-License-Identifier: MIT */
/*
 * control_pthread.c - threads at a mutex, a semaphore and a condition variable, for a
 * libweft-pthread.so that is made wrong
 *
 * It ends with 0; or with 1, or never, if the library loses a unit or a wake-up.
 */
#include <pthread.h>
#include <semaphore.h>

#define CREW	4
#define ROUNDS	8

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int turns;

static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		turns++;
		pthread_cond_broadcast(&moved);
		pthread_mutex_unlock(&mutex);
		sem_post(&sem);
		sem_wait(&sem);
	}
	return unused;
}

int main(void)
{
	pthread_t id[CREW];
	int left;

	if (sem_init(&sem, 0, 0) != 0)
		return 3;
	for (int i = 0; i < CREW; i++)
		if (pthread_create(&id[i], NULL, work, NULL) != 0)
			return 3;
	pthread_mutex_lock(&mutex);
	while (turns < CREW * ROUNDS)
		pthread_cond_wait(&moved, &mutex);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < CREW; i++)
		if (pthread_join(id[i], NULL) != 0)
			return 3;
	return sem_getvalue(&sem, &left) != 0 || left != 0;
}
