/* SPDX-License-Identifier: MIT */
/*
 * smoke_shared.c - as smoke.c: what threads of two processes share, and files
 *
 *	smoke_shared CASE	prints what it finds, the same with any threads
 *	smoke_shared		names the cases
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS	50

/* What two processes share: a semaphore, and a mutex that lends priorities. */
struct between {
	sem_t asks, is_held, lets_go;
	pthread_mutex_t m;
};

static void init_shared_mutex(pthread_mutex_t *m)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	if (pthread_mutex_init(m, &attr) != 0)
		exit(1);
}

/* Once too late, and once in time. */
static void *lock_in_time(void *between)
{
	struct between *b = between;
	struct timespec soon;
	int error;

	clock_gettime(CLOCK_REALTIME, &soon);
	error = pthread_mutex_timedlock(&b->m, &soon);
	sem_post(&b->lets_go);
	soon.tv_sec += 100;
	return (void *)(long)(error == ETIMEDOUT ?
			      pthread_mutex_timedlock(&b->m, &soon) : EPROTO);
}

static void *ask(void *b)
{
	return (void *)(long)(sem_post(&((struct between *)b)->asks) != 0 ||
			      sem_wait(&((struct between *)b)->is_held) != 0);
}

static void shared(void)
{
	struct between *b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	void *asked = NULL, *locked = NULL;
	pthread_t t;
	pid_t child;

	if (b == MAP_FAILED || sem_init(&b->asks, 1, 0) != 0 ||
	    sem_init(&b->is_held, 1, 0) != 0 || sem_init(&b->lets_go, 1, 0) != 0)
		exit(1);
	init_shared_mutex(&b->m);
	child = fork();
	if (child == 0) {
		sem_wait(&b->asks);
		pthread_mutex_lock(&b->m);
		sem_post(&b->is_held);
		sem_wait(&b->lets_go);
		_exit(pthread_mutex_unlock(&b->m));
	}
	pthread_create(&t, NULL, ask, b);
	pthread_join(t, &asked);
	pthread_create(&t, NULL, lock_in_time, b);
	pthread_join(t, &locked);
	printf("asked %ld, locked %ld, child %d\n", (long)asked, (long)locked,
	       waitpid(child, NULL, 0) == child);
}

static void *read_there(void *fd)
{
	char text[6] = "";

	return (void *)(long)(pread((int)(long)fd, text, 5, 3) != 5 ||
			      strcmp(text, "45678") != 0);
}

static void files(void)
{
	pthread_t t[THREADS];
	FILE *f = tmpfile();
	void *result;
	long wrong = 0;

	if (!f || fputs("123456789\n", f) < 0 || fflush(f) != 0)
		exit(1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, read_there, (void *)(long)fileno(f));
	for (int i = 0; i < THREADS; i++)
		wrong += pthread_join(t[i], &result) != 0 || result;
	printf("wrong %ld\n", wrong);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		printf("shared\nfiles\n");
	else if (strcmp(argv[1], "shared") == 0)
		shared();
	else
		files();
	return 0;
}
