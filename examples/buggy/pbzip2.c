/* SPDX-License-Identifier: MIT */
/*
 * pbzip2.c - the bug of pbzip2 0.9.4: the queue is deleted while a thread still uses it
 *
 * The first thread puts blocks into a queue, from which threads take and compress them. It
 * waits for the blocks, and not for the threads: a thread that finds the queue empty and
 * everything done may still have the mutex when the first thread deletes the queue. pbzip2
 * 0.9.5 joins the threads before, as -DFIXED does here.
 */
#include <pthread.h>
#include <stdlib.h>

#define BLOCKS		3
#define THREADS		2

static struct queue {
	pthread_mutex_t mutex;
	pthread_cond_t not_empty;
	int count, is_done;
} *queue;

static pthread_mutex_t done_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t block_done = PTHREAD_COND_INITIALIZER;
static int compressed;

static void count_block(void)
{
	pthread_mutex_lock(&done_mutex);
	compressed++;
	pthread_cond_signal(&block_done);
	pthread_mutex_unlock(&done_mutex);
}

static void *compress(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&queue->mutex);
		while (queue->count == 0 && !queue->is_done)
			pthread_cond_wait(&queue->not_empty, &queue->mutex);
		if (queue->count == 0)
			break;
		queue->count--;
		pthread_mutex_unlock(&queue->mutex);
		count_block();
	}
	pthread_mutex_unlock(&queue->mutex);
	return unused;
}

static void queue_init(void)
{
	queue = calloc(1, sizeof(*queue));
	if (!queue)
		exit(2);
	pthread_mutex_init(&queue->mutex, NULL);
	pthread_cond_init(&queue->not_empty, NULL);
}

static void queue_delete(void)
{
	pthread_mutex_destroy(&queue->mutex);
	pthread_cond_destroy(&queue->not_empty);
	free(queue);
	queue = NULL;
}

static void queue_blocks(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		pthread_mutex_lock(&queue->mutex);
		queue->count++;
		pthread_cond_signal(&queue->not_empty);
		pthread_mutex_unlock(&queue->mutex);
	}
	pthread_mutex_lock(&queue->mutex);
	queue->is_done = 1;
	pthread_cond_broadcast(&queue->not_empty);
	pthread_mutex_unlock(&queue->mutex);
}

int main(void)
{
	pthread_t thread[THREADS];

	queue_init();
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, compress, NULL) != 0)
			return 2;
	queue_blocks();
	pthread_mutex_lock(&done_mutex);
	while (compressed < BLOCKS)
		pthread_cond_wait(&block_done, &done_mutex);
	pthread_mutex_unlock(&done_mutex);
#ifdef FIXED
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
#endif
	queue_delete();
	return 0;
}
