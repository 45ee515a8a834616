/* SPDX-License-Identifier: MIT */
/* stack_index.c - the free places of a table, by their numbers */
#include <stdio.h>
#include <weft.h>

#define PLACES	4

struct place {
	uint32_t link;		/* the stack's */
	int value;
};

static struct place table[PLACES];
static struct weft_index_stack unused = WEFT_INDEX_STACK_INIT;

int main(void)
{
	uint32_t taken;
	int count = 0;

	for (uint32_t i = 0; i < PLACES; i++)
		weft_index_stack_push(&unused, &table[0].link, sizeof(table[0]), i);
	while ((taken = weft_index_stack_pop(&unused, &table[0].link,
					     sizeof(table[0]))) != WEFT_INDEX_NONE) {
		table[taken].value = ++count;
		printf("place %u has the value %d\n", taken, table[taken].value);
	}
	return count != PLACES || !weft_index_stack_is_empty(&unused);
}
