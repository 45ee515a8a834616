/* SPDX-License-Identifier: MIT */
/*
 * life/key.c - values that each thread has of its own
 *
 * A key is an index and a generation, which is odd while the key is in use. A thread's
 * table keeps the generation beside the value. So a new key with the same index does
 * not show the values of the old one.
 *
 * Writers
 *   key.destroy  weft_key_create
 *   key.gen  weft_key_create, weft_key_delete
 */
#include <errno.h>
#include <stdlib.h>

#include "life/life.h"
#include "sched/sanitizer.h"
#include "sched/seat.h"
#include "weft/key.h"

#define ROUNDS	4	/* as PTHREAD_DESTRUCTOR_ITERATIONS */

struct key {
	_Atomic uint32_t gen;			/* odd: in use */
	_Atomic(void (*)(void *)) destroy;
};

struct value {
	void *value;
	uint32_t gen;
};

static struct key keys[WEFT_KEYS_MAX] TABLE;

int weft_key_create(unsigned *key, void (*destroy)(void *value))
{
	for (unsigned i = 0; i < WEFT_KEYS_MAX; i++) {
		uint32_t gen = load_relaxed(&keys[i].gen);

		if (gen & 1 || !cas_seq_cst(&keys[i].gen, &gen, gen + 1))
			continue;
		store_seq_cst(&keys[i].destroy, destroy);
		*key = i;
		return 0;
	}
	return -EAGAIN;
}

int weft_key_delete(unsigned key)
{
	uint32_t gen;

	if (key >= WEFT_KEYS_MAX)
		return -EINVAL;
	gen = load_relaxed(&keys[key].gen);
	if (!(gen & 1))
		return -EINVAL;
	/* destroy stays: after the CAS it may be the next key's (see below). */
	return cas_seq_cst(&keys[key].gen, &gen, gen + 1) ? 0 : -EINVAL;
}

/*
 * Does one round; returns whether a destructor was called. The destructor is loaded
 * before the generation. If it is the destructor of the next key with this index, that
 * key's generation is seen too, and no value of the last key has it.
 */
static int destroy_round(struct value *table)
{
	int called = 0;

	for (unsigned i = 0; i < WEFT_KEYS_MAX; i++) {
		void (*destroy)(void *) = load_seq_cst(&keys[i].destroy);
		void *value = table[i].value;

		table[i].value = NULL;
		if (!value || !destroy ||
		    table[i].gen != load_seq_cst(&keys[i].gen))
			continue;
		destroy(value);
		called = 1;
	}
	return called;
}

void wefti_keys_destroy(struct wefti_thread *self)
{
	struct value *table = self->cold->keys;

	for (int round = 0; round < ROUNDS; round++)
		if (!destroy_round(table))
			break;
	free(table);
	self->cold->keys = NULL;
}

int weft_key_set(unsigned key, void *value)
{
	struct wefti_thread *self = wefti_known_self();
	struct value *table = self->cold->keys;
	uint32_t gen;

	if (key >= WEFT_KEYS_MAX || !((gen = load_seq_cst(&keys[key].gen)) & 1))
		return -EINVAL;
	if (!table) {
		table = calloc(WEFT_KEYS_MAX, sizeof(*table));
		if (!table)
			return -ENOMEM;
		wefti_sanitizer_keep(table);
		self->cold->keys = table;
		self->cold->keys_end = wefti_keys_destroy;
	}
	table[key] = (struct value){ value, gen };
	return 0;
}

void *weft_key_get(unsigned key)
{
	struct value *table = wefti_known_self()->cold->keys;

	if (key >= WEFT_KEYS_MAX || !table ||
	    table[key].gen != load_seq_cst(&keys[key].gen))
		return NULL;
	return table[key].value;
}
