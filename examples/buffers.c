/* SPDX-License-Identifier: MIT */
/*
 * buffers - more threads than buffers: those that are free lie on a stack
 *
 * Plain pthreads take a buffer, write a few numbers into it as text, add up
 * what they find there, and give it back. The one that was given back last is
 * taken first: it is still in the processor's cache. The runtime is not used.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft/stack.h>

#define CREW		4
#define BUFFERS		2
#define TURNS		20000u

struct buffer {
	struct weft_stack_node node;	/* first, so that a node is a buffer */
	char text[64];
};

static struct buffer buffers[BUFFERS];
static struct weft_stack idle = WEFT_STACK_INIT;

static struct buffer *take(void)
{
	struct weft_stack_node *node;

	while ((node = weft_stack_pop(&idle)) == NULL)
		sched_yield();
	return (struct buffer *)node;
}

static void *work(void *sum)
{
	for (unsigned long i = 1; i <= TURNS; i++) {
		struct buffer *b = take();

		snprintf(b->text, sizeof(b->text), "%lu", i);
		*(unsigned long *)sum += strtoul(b->text, NULL, 10);
		weft_stack_push(&idle, &b->node);
	}
	return NULL;
}

int main(void)
{
	unsigned long sum[CREW] = { 0 }, all = 0;
	pthread_t crew[CREW];
	int n = 0;

	for (int i = 0; i < BUFFERS; i++)
		weft_stack_push(&idle, &buffers[i].node);
	for (int i = 0; i < CREW; i++)
		if (pthread_create(&crew[i], NULL, work, &sum[i]))
			return 1;
	for (int i = 0; i < CREW; i++) {
		pthread_join(crew[i], NULL);
		all += sum[i];
	}
	while (weft_stack_pop(&idle))
		n++;
	printf("%d threads, %d buffers: %lu\n", CREW, n, all);
	return n != BUFFERS || all != CREW * (TURNS * (TURNS + 1UL) / 2);
}
