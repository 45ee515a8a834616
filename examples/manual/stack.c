/* SPDX-License-Identifier: MIT */
/* stack.c - a pool of buffers: threads take one, use it, and put it back */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <weft.h>

struct buffer {
	struct weft_stack_node node;
	int uses;
	char data[100];
};

static struct weft_stack pool = WEFT_STACK_INIT;

static void *use_buffers(void *unused)
{
	for (int i = 0; i < 1000; i++) {
		struct weft_stack_node *node;
		struct buffer *buffer;

		while (!(node = weft_stack_pop(&pool)))
			sched_yield();		/* others use them all */
		buffer = (struct buffer *)((char *)node - offsetof(struct buffer, node));
		buffer->uses++;
		weft_stack_push(&pool, node);
	}
	return unused;
}

int main(void)
{
	static struct buffer buffer[2];
	pthread_t thread[3];
	int uses = 0;

	if (weft_stack_set_back_off(&pool, 16) != 0)
		return 1;
	for (int i = 0; i < 2; i++)
		weft_stack_push(&pool, &buffer[i].node);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread[i], NULL, use_buffers, NULL) != 0)
			return 1;
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < 2; i++)
		uses += buffer[i].uses;
	printf("%d uses\n", uses);
	return uses != 3000 || weft_stack_is_empty(&pool);
}
