/* SPDX-License-Identifier: MIT */
/* wordtable.h - how often each word has been seen: a hash table */
#ifndef WEFT_EXAMPLES_WORDTABLE_H
#define WEFT_EXAMPLES_WORDTABLE_H

#include <stddef.h>
#include <stdint.h>

struct word {
	const char *text;	/* not ended by 0; NULL: a free place */
	uint32_t length;
	uint32_t hash;
	uint64_t count;
};

struct word_block;

/* Zero-filled is empty. For one thread at a time. */
struct word_table {
	struct word *place;
	size_t places;		/* a power of two, or 0 */
	size_t used;
	struct word_block *blocks;	/* of the texts, if it keeps them */
	int keeps;
};

uint32_t word_hash(const char *text, size_t length);

/*
 * Adds to a word's count. The table points to `text`, or to a copy of its own
 * if `keeps` is set. Returns 0, or -1: no memory.
 */
int word_table_add(struct word_table *table, const char *text, uint32_t length,
		   uint32_t hash, uint64_t count);

/*
 * Adds 1 for each word of a text, and to *words. A word is a run of letters,
 * digits and underscores that does not begin with a digit. Returns 0, or -1: no
 * memory.
 */
int word_table_count(struct word_table *table, const char *text, size_t size,
		     uint64_t *words);

void word_table_free(struct word_table *table);

/* Most frequent first, then in the order of their bytes; for qsort. */
int word_compare(const void *a, const void *b);

#endif
