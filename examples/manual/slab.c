/* SPDX-License-Identifier: MIT */
/* slab.c - nodes of a list, allocated from a set of this process */
#include <errno.h>
#include <stdio.h>
#include <weft.h>

struct node {
	struct node *next;
	int number;
};

static int add(void *object, void *arg)
{
	*(int *)arg += ((struct node *)object)->number;
	return 0;	/* go on with the next object */
}

int main(void)
{
	struct weft_slab_attr attr = { .limit = 1000, .object_bytes = sizeof(struct node) };
	struct weft_slab_info info;
	struct node *first = NULL;
	struct weft_slab *slab;
	int error, sum = 0;

	if (weft_slab_create(&slab, &attr) != 0)
		return 1;
	for (int i = 1; i <= 10; i++) {
		struct node *node = weft_slab_alloc(slab, &error);

		if (!node) {
			fprintf(stderr, "no node: %s\n", weft_strerror(error));
			return 1;
		}
		*node = (struct node){ .next = first, .number = i };
		first = node;
	}
	if (weft_slab_free(slab, first) != 0)	/* the 10 */
		return 1;
	weft_slab_each(slab, add, &sum);
	weft_slab_info(slab, &info);
	printf("%llu nodes, their sum is %d\n", (unsigned long long)info.live, sum);
	weft_slab_leave(slab);		/* others can have this thread's free objects */
	weft_slab_close(slab);
	return info.live != 9 || sum != 45;
}
