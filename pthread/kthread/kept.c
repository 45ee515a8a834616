/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/kept.c - equal values are stored once, and never freed
 *
 * For attributes of a thread that are large, and of which a program uses only a few: its
 * CPUs, its memory policy. So a thread has only a pointer to its value. The files that have
 * a list name wefti_keep() as its writer.
 */
#include "pthread/kthread/kept.h"

#include <stdlib.h>
#include <string.h>

#include "lockfree/atomic.h"

struct wefti_kept {
	struct wefti_kept *next;
	unsigned long value[];
};

const void *wefti_keep(_Atomic(struct wefti_kept *) *list, const void *value, size_t bytes)
{
	struct wefti_kept *first = load_seq_cst(list), *k;

	for (k = first; k; k = k->next)
		if (memcmp(k->value, value, bytes) == 0)
			return k->value;
	k = malloc(sizeof(*k) + bytes);
	if (!k)
		return NULL;
	memcpy(k->value, value, bytes);
	k->next = first;	/* two threads may store equal values: no harm */
	while (!cas_seq_cst(list, &first, k))
		k->next = first;
	return k->value;
}
