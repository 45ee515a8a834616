/* SPDX-License-Identifier: MIT */
/*
 * lost_wakeup.c - a thread looks whether it must wait, and then locks to wait
 *
 * Between the two the signal may come, to no waiting thread. With -DFIXED it looks while it
 * has the lock.
 */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_done_now = PTHREAD_COND_INITIALIZER;
static atomic_int is_done;

static void *work(void *unused)
{
	pthread_mutex_lock(&lock);
	is_done = 1;
	pthread_cond_signal(&is_done_now);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void wait_for_work(void)
{
#ifdef FIXED
	pthread_mutex_lock(&lock);
	while (!is_done)
		pthread_cond_wait(&is_done_now, &lock);
	pthread_mutex_unlock(&lock);
#else
	if (is_done)
		return;
	pthread_mutex_lock(&lock);
	pthread_cond_wait(&is_done_now, &lock);
	pthread_mutex_unlock(&lock);
#endif
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL) != 0)
		return 2;
	wait_for_work();
	return pthread_join(thread, NULL);
}
