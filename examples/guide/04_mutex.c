/* SPDX-License-Identifier: MIT */
/* 04_mutex - a queue with a mutex and two condition variables */
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

#define ROOM		8
#define PRODUCERS	3
#define EACH		100

static struct {
	struct weft_mutex mutex;	/* protects all that follows */
	struct weft_cond not_empty, not_full;
	int number[ROOM];
	int first, count;
} queue;				/* zero-filled is ready for use */

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, weft_strerror(error));
		exit(1);
	}
}

static void put(int number)
{
	weft_mutex_lock(&queue.mutex);
	while (queue.count == ROOM)
		weft_cond_wait(&queue.not_full, &queue.mutex);
	queue.number[(queue.first + queue.count++) % ROOM] = number;
	weft_cond_signal(&queue.not_empty);
	weft_mutex_unlock(&queue.mutex);
}

static int take(void)
{
	int number;

	weft_mutex_lock(&queue.mutex);
	while (queue.count == 0)
		weft_cond_wait(&queue.not_empty, &queue.mutex);
	number = queue.number[queue.first];
	queue.first = (queue.first + 1) % ROOM;
	queue.count--;
	weft_cond_signal(&queue.not_full);
	weft_mutex_unlock(&queue.mutex);
	return number;
}

static void *produce(void *unused)
{
	for (int i = 1; i <= EACH; i++)
		put(i);
	return unused;
}

int main(void)
{
	uint64_t id[PRODUCERS];
	int sum = 0;

	must(weft_start(NULL), "start");
	for (int i = 0; i < PRODUCERS; i++)
		must(weft_spawn(&id[i], NULL, produce, NULL), "spawn");
	for (int i = 0; i < PRODUCERS * EACH; i++)
		sum += take();
	printf("%d numbers, their sum is %d\n", PRODUCERS * EACH, sum);
	for (int i = 0; i < PRODUCERS; i++)
		must(weft_join(id[i], NULL), "join");
	must(weft_stop(), "stop");
	return 0;
}
