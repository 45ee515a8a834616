/* SPDX-License-Identifier: MIT */
/* wordtable.c - how often each word has been seen: a hash table */
#include "wordtable.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES	(64 * 1024)

struct word_block {
	struct word_block *next;
	size_t used, size;
	char text[];
};

/* FNV-1a: words are short, and we want nothing but a good spread. */
uint32_t word_hash(const char *text, size_t length)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash ^ hash >> 15;
}

static struct word *find(struct word *place, size_t places, const char *text,
			 uint32_t length, uint32_t hash)
{
	size_t i = hash & (places - 1);

	while (place[i].text && (place[i].hash != hash ||
				 place[i].length != length ||
				 memcmp(place[i].text, text, length)))
		i = (i + 1) & (places - 1);
	return &place[i];
}

static int grow(struct word_table *t)
{
	size_t places = t->places ? 2 * t->places : 256;
	struct word *place = calloc(places, sizeof(*place));

	if (!place)
		return -1;
	for (size_t i = 0; i < t->places; i++) {
		struct word *w = &t->place[i];

		if (w->text)
			*find(place, places, w->text, w->length, w->hash) = *w;
	}
	free(t->place);
	t->place = place;
	t->places = places;
	return 0;
}

static const char *keep(struct word_table *t, const char *text, size_t length)
{
	struct word_block *b = t->blocks;
	char *to;

	if (!b || b->size - b->used < length) {
		size_t size = length > BLOCK_BYTES ? length : BLOCK_BYTES;

		b = malloc(sizeof(*b) + size);
		if (!b)
			return NULL;
		b->next = t->blocks;
		b->used = 0;
		b->size = size;
		t->blocks = b;
	}
	to = b->text + b->used;
	b->used += length;
	return memcpy(to, text, length);
}

int word_table_add(struct word_table *t, const char *text, uint32_t length,
		   uint32_t hash, uint64_t count)
{
	struct word *w;

	if (4 * t->used >= 3 * t->places && grow(t))
		return -1;
	w = find(t->place, t->places, text, length, hash);
	if (!w->text) {
		if (t->keeps)
			text = keep(t, text, length);
		if (!text)
			return -1;
		w->text = text;
		w->length = length;
		w->hash = hash;
		t->used++;
	}
	w->count += count;
	return 0;
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       is_digit(c);
}

int word_table_count(struct word_table *t, const char *text, size_t size,
		     uint64_t *words)
{
	size_t i = 0;
	int err = 0;

	while (i < size) {
		size_t begin = i;

		while (i < size && is_word(text[i]))
			i++;
		if (i == begin) {
			i++;
			continue;
		}
		if (is_digit(text[begin]))
			continue;
		err |= word_table_add(t, text + begin, (uint32_t)(i - begin),
				      word_hash(text + begin, i - begin), 1);
		++*words;
	}
	return err;
}

void word_table_free(struct word_table *t)
{
	while (t->blocks) {
		struct word_block *next = t->blocks->next;

		free(t->blocks);
		t->blocks = next;
	}
	free(t->place);
	memset(t, 0, sizeof(*t));
}

int word_compare(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	uint32_t length = x->length < y->length ? x->length : y->length;
	int order;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	order = memcmp(x->text, y->text, length);
	if (order)
		return order;
	return (x->length > y->length) - (x->length < y->length);
}
