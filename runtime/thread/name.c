/* SPDX-License-Identifier: MIT */
/*
 * thread/name.c - the names that threads get while they live
 *
 * Structure
 *   A table that never shrinks, with 8 words, a cache line, for each slot. A word is
 *   gen:32 | four bytes of the name. A word counts only with the generation of the
 *   thread in question, so no spawn has to clear anything.
 *
 * Writers
 *   name.word  set_word, wefti_name_set
 *
 * Invariants
 *   I1  A word's generation does not go back. So a late call for a thread that has
 *       ended does not change the name of the next thread in the slot.
 *
 * Linearization
 *   A name that no other call changes meanwhile: at the last CAS of its words. If two
 *   calls name one thread at once, parts of both names may stay. A reader during a call
 *   may get parts of two names.
 *
 * Progress
 *   get: wait-free. set: a failed CAS is another call's success, for the same thread or
 *   a later one; except for the kernel's part of a new chunk.
 *
 * ABA and reclamation
 *   Nothing is freed. A generation comes again after 2^32 threads in one slot.
 *
 * Pairs
 *   None: the bytes are in the words themselves.
 *
 * Source
 *   Ours. Rejected: a pointer to a separate name, which would have to be freed while
 *   others read it.
 */
#include "thread/name.h"

#include <errno.h>
#include <string.h>

#include "mem/dense.h"
#include "thread/bare.h"

#define WORDS	(WEFTI_NAME_BYTES / 4)

struct name {
	_Atomic uint64_t word[WORDS];
};

_Static_assert(sizeof(struct name) == CACHE_LINE, "a line");

static struct wefti_dense names TABLE;

const void *wefti_name_table(void)
{
	return &names;
}

static struct name *name_of(uint64_t id)
{
	return wefti_dense_at(&names, sizeof(struct name), (uint32_t)id);
}

/* The same; makes it if needed. NULL: no memory. */
static struct name *make_name(uint64_t id)
{
	struct name *n;
	uint32_t first;

	while (!(n = name_of(id)))
		if (wefti_dense_grow(&names, sizeof(*n), WEFTI_DENSE_CHUNK,
				     &first) != 0)
			return NULL;
	return n;
}

/* Returns 0 if a later thread has the slot. */
static int set_word(_Atomic uint64_t *word, uint32_t gen, uint32_t bytes)
{
	uint64_t w = load_relaxed(word);

	do {
		if ((int32_t)((uint32_t)(w >> 32) - gen) > 0)
			return 0;	/* I1 */
	} while (!cas_weak_relaxed(word, &w, (uint64_t)gen << 32 | bytes));
	return 1;
}

int wefti_name_set(uint64_t id, const char *name)
{
	char bytes[WEFTI_NAME_BYTES] = { 0 };
	struct name *n = wefti_thread_find(id) ? make_name(id) : NULL;
	uint32_t part;

	if (!n)
		return wefti_thread_find(id) ? -ENOMEM : -ESRCH;
	strncat(bytes, name, sizeof(bytes) - 1);
	for (unsigned i = 0; i < WORDS; i++) {
		memcpy(&part, bytes + 4 * i, sizeof(part));
		if (!set_word(&n->word[i], (uint32_t)(id >> 32), part))
			break;
	}
	return wefti_thread_find(id) ? 0 : -ESRCH;
}

int wefti_name_get(uint64_t id, char name[WEFTI_NAME_BYTES])
{
	struct name *n = name_of(id);
	uint64_t w = n ? load_relaxed(&n->word[0]) : 0;
	uint32_t part;

	if (!n || w >> 32 != id >> 32)
		return 0;
	memset(name, 0, WEFTI_NAME_BYTES);
	for (unsigned i = 0; i < WORDS; i++) {
		w = load_relaxed(&n->word[i]);
		part = w >> 32 == id >> 32 ? (uint32_t)w : 0;
		memcpy(name + 4 * i, &part, sizeof(part));
	}
	name[WEFTI_NAME_BYTES - 1] = 0;
	return 1;
}
