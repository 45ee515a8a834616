/* SPDX-License-Identifier: MIT */
/*
 * explore/pieces.c - memory in small pieces, which are given back by their size
 *
 * The program's malloc() is to do the same in each run. Lists by powers of two.
 */
#include "race.h"

#define LEAST		16u
#define CLASSES		40u
#define BLOCK		(UINT64_C(1) << 18)

struct piece {
	struct piece *next;
};

static struct piece *back[CLASSES];
static char *block;
static size_t left;

static unsigned class_of(size_t *bytes)
{
	size_t size = LEAST;
	unsigned c = 0;

	for (; size < *bytes; size *= 2)
		c++;
	*bytes = size;
	return c;
}

void *wefti_ex_pieces(size_t bytes)
{
	const unsigned c = class_of(&bytes);
	struct piece *p = back[c];
	char *new;

	if (p) {
		back[c] = p->next;
		return p;
	}
	if (bytes >= BLOCK / 8)
		return wefti_ex_memory(bytes);
	if (left < bytes) {
		block = wefti_ex_memory(BLOCK);
		left = BLOCK;
	}
	new = block;
	block += bytes;
	left -= bytes;
	return new;
}

void wefti_ex_pieces_back(void *piece, size_t bytes)
{
	const unsigned c = class_of(&bytes);
	struct piece *p = piece;

	p->next = back[c];
	back[c] = p;
}
