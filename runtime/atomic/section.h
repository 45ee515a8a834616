/* SPDX-License-Identifier: MIT */
/*
 * atomic/section.h - atomic accesses to objects that no instruction can handle
 *
 * Structure
 *   A table of entries, each in cache lines of its own: a lock (lockfree/lock.h) and a
 *   version. An object belongs to the entry to which its address hashes, whatever its
 *   size; many objects share an entry. Writers hold the lock. Readers copy the object
 *   without the lock and check that the version has not changed.
 *
 * States of an entry
 *   STILL(v) version = 2v: no thread writes
 *   WRITING(v)	version = 2v + 1: the owner of the lock writes
 *
 *   STILL(v) --open--> WRITING(v) --close--> STILL(v + 1)
 *
 * Writers
 *   atomic_entry.version  child_of_fork, wefti_atomic_close, wefti_atomic_open
 *
 * Invariants
 *   I1  Only the owner of the lock writes version. (The child of a fork has no owners:
 *       section.c.)
 *   I2  An object is written only in WRITING.
 *   I3  An object is accessed by whole words where it is aligned to them, so a copy
 *       that is thrown away is no data race.
 *
 * Linearization
 *   A write: at its store of version in close. A read: at the first of its two loads of
 *   the version, which found the same even value; under the lock, at that of the lock.
 *
 * Progress
 *   All are blocking: a writer that stops in its section stops all others of its entry,
 *   which sleep. A read takes no lock and writes nothing unless writers come in between
 *   three times.
 *
 * ABA and reclamation
 *   A reader that stops between its loads for exactly 2^63 writes would get a wrong
 *   value. The table is static.
 *
 * Pairs
 *   P1  close's store of version -> a reader's first load of it: the object
 *   P2  put's store into the object -> a reader's load of it: version was odd
 *	 before, so the reader's second load of it differs
 *   P3  put's store into the object -> the next owner's load of it; the lock
 *	 (lock.h) orders them anyway
 *
 *   seq_cst: on all CPUs a read does what the compilers' seq_cst load does. That is a
 *   plain load on x86-64, and on riscv64 a load between two fences. On AArch64 it is ldar,
 *   which stays behind an stlr and, by P2, pairs with ours. Every write ends with the RMW
 *   that unlocks. So every order that a caller can ask for is given.
 *
 * Source
 *   The locks: J. Gustedt, INRIA RR-8818, 2015. The version: C. Lameter,
 *   "Effective synchronization on Linux/NUMA systems", 2005; its orders in C11:
 *   H. Boehm, "Can seqlocks get along with programming language memory
 *   models?", MSPC 2012. GCC's libatomic locks for reads too.
 */
#ifndef WEFT_ATOMIC_SECTION_H
#define WEFT_ATOMIC_SECTION_H

#include <stdalign.h>
#include <string.h>
#include <weft/lock.h>

#include "lockfree/lock.h"

struct wefti_atomic_entry {
	alignas(CACHE_LINE) _Atomic uint32_t lock;
	_Atomic uint64_t version;	/* written by the owner of the lock */
};

/* They take 16 KiB. */
#define WEFTI_ATOMIC_ENTRY_BITS	8
#define WEFTI_ATOMIC_READ_TRIES	3
#define WEFTI_ATOMIC_WORD	sizeof(uint64_t)

extern struct wefti_atomic_entry
	wefti_atomic_table[1u << WEFTI_ATOMIC_ENTRY_BITS];

/* The entry that this thread has, or is about to take: section.c. */
extern _Thread_local struct wefti_atomic_entry *volatile wefti_atomic_own;

/*
 * libweft has these, if it is loaded and the runtime is to know of the sections. If
 * not, the linker gives them the address 0.
 */
#pragma weak weft_preempt_off
#pragma weak weft_preempt_on

static inline struct wefti_atomic_entry *wefti_atomic_entry_of(
		const void *object)
{
	/* Fibonacci hashing: neighbours in an array get different entries. */
	uint64_t h = (uintptr_t)object / WEFTI_ATOMIC_WORD *
		     UINT64_C(0x9e3779b97f4a7c15);

	return &wefti_atomic_table[h >> (64 - WEFTI_ATOMIC_ENTRY_BITS)];
}

/* A writer's section: begin, copy, put, end. */
struct wefti_atomic_section {
	struct wefti_atomic_entry *entry;
	void *held;			/* the result of the runtime's hook */
};

static inline struct wefti_atomic_section wefti_atomic_begin(
		const void *object)
{
	struct wefti_atomic_section s = { wefti_atomic_entry_of(object), NULL };

	if (weft_preempt_off)
		s.held = weft_preempt_off();
	wefti_atomic_own = s.entry;
	wefti_lock_lock(&s.entry->lock, WEFTI_LOCK_PRIVATE);
	return s;
}

static inline void wefti_atomic_end(const struct wefti_atomic_section *s)
{
	wefti_lock_unlock(&s->entry->lock, WEFTI_LOCK_PRIVATE);
	wefti_atomic_own = NULL;
	if (weft_preempt_on)
		weft_preempt_on(s->held);
}

/* How many of n bytes are in whole words. */
static inline size_t wefti_atomic_whole(const void *object, size_t n)
{
	if ((uintptr_t)object % WEFTI_ATOMIC_WORD != 0)
		return 0;
	return n / WEFTI_ATOMIC_WORD * WEFTI_ATOMIC_WORD;
}

/*
 * Copies the object. For the section's owner this is its value (P3); for others it may
 * be a mix of two values.
 */
static inline void wefti_atomic_copy(void *to, const void *object, size_t n)
{
	const unsigned char *o = object;
	unsigned char *t = to;
	size_t i = 0, whole = wefti_atomic_whole(object, n);

	for (; i < whole; i += WEFTI_ATOMIC_WORD) {
		const _Atomic uint64_t *word = (const void *)(o + i);
		uint64_t v = load_seq_cst(word);	/* P2, P3: a put */

		memcpy(t + i, &v, sizeof(v));
	}
	for (; i < n; i++) {
		const _Atomic unsigned char *byte = (const void *)(o + i);

		t[i] = load_seq_cst(byte);		/* P2, P3: a put */
	}
}

/*
 * Is the object equal to what is at `with`? Exact for the section's owner (P3).
 * Compares word by word: a comparison of a copy as a whole would wait for the stores
 * that made it.
 */
static inline int wefti_atomic_is_equal(const void *object, const void *with,
					size_t n)
{
	const unsigned char *o = object, *e = with;
	size_t i = 0, whole = wefti_atomic_whole(object, n);

	for (; i < whole; i += WEFTI_ATOMIC_WORD) {
		const _Atomic uint64_t *word = (const void *)(o + i);
		uint64_t v;

		memcpy(&v, e + i, sizeof(v));
		if (load_seq_cst(word) != v)		/* P2, P3: a put */
			return 0;
	}
	for (; i < n; i++) {
		const _Atomic unsigned char *byte = (const void *)(o + i);

		if (load_seq_cst(byte) != e[i])		/* P2, P3: a put */
			return 0;
	}
	return 1;
}

/* Called between open and close by the section's owner. */
static inline void wefti_atomic_put(void *object, const void *from, size_t n)
{
	const unsigned char *f = from;
	unsigned char *o = object;
	size_t i = 0, whole = wefti_atomic_whole(object, n);

	for (; i < whole; i += WEFTI_ATOMIC_WORD) {
		_Atomic uint64_t *word = (void *)(o + i);
		uint64_t v;

		memcpy(&v, f + i, sizeof(v));
		store_release(word, v);			/* P2, P3: to a copy */
	}
	for (; i < n; i++) {
		_Atomic unsigned char *byte = (void *)(o + i);

		store_release(byte, f[i]);		/* P2, P3: to a copy */
	}
}

/*
 * The same for three whole words, the most frequent size (a pointer with a tag and a
 * count): without loops.
 */
#define WEFTI_ATOMIC_THREE	(3 * WEFTI_ATOMIC_WORD)

static inline int wefti_atomic_is_three(const void *object, size_t n)
{
	return n == WEFTI_ATOMIC_THREE &&
		(uintptr_t)object % WEFTI_ATOMIC_WORD == 0;
}

/*
 * One word at a time: a load of a whole that a caller has just stored by words waits
 * for those stores.
 */
static inline uint64_t wefti_atomic_word(const void *from, unsigned i)
{
	uint64_t v;

	memcpy(&v, (const unsigned char *)from + i * WEFTI_ATOMIC_WORD,
	       sizeof(v));
	return v;
}

static inline void wefti_atomic_set_word(void *to, unsigned i, uint64_t v)
{
	memcpy((unsigned char *)to + i * WEFTI_ATOMIC_WORD, &v, sizeof(v));
}

static inline void wefti_atomic_copy_three(void *to, const void *object)
{
	const _Atomic uint64_t *word = object;

	wefti_atomic_set_word(to, 0, load_seq_cst(&word[0]));	/* P2, P3 */
	wefti_atomic_set_word(to, 1, load_seq_cst(&word[1]));	/* P2, P3 */
	wefti_atomic_set_word(to, 2, load_seq_cst(&word[2]));	/* P2, P3 */
}

static inline int wefti_atomic_is_equal_three(const void *object,
					      const void *with)
{
	const _Atomic uint64_t *word = object;

	/* P2, P3: a put */
	return load_seq_cst(&word[0]) == wefti_atomic_word(with, 0) &&
		load_seq_cst(&word[1]) == wefti_atomic_word(with, 1) &&
		load_seq_cst(&word[2]) == wefti_atomic_word(with, 2);
}

static inline void wefti_atomic_put_three(void *object, const void *from)
{
	_Atomic uint64_t *word = object;

	store_release(&word[0], wefti_atomic_word(from, 0));	/* P2, P3 */
	store_release(&word[1], wefti_atomic_word(from, 1));	/* P2, P3 */
	store_release(&word[2], wefti_atomic_word(from, 2));	/* P2, P3 */
}

/* STILL -> WRITING */
static inline void wefti_atomic_open(const struct wefti_atomic_section *s)
{
	_Atomic uint64_t *version = &s->entry->version;	/* own (I1) */

	store_relaxed(version, load_relaxed(version) + 1);
}

/* WRITING -> STILL */
static inline void wefti_atomic_close(const struct wefti_atomic_section *s)
{
	_Atomic uint64_t *version = &s->entry->version;

	store_release(version, load_relaxed(version) + 1);	/* P1: readers */
}

/* Copies without the lock. Returns 1 if the copy is of a single moment. */
static inline int wefti_atomic_peek(const struct wefti_atomic_entry *e,
				    void *to, const void *object, size_t n)
{
	uint64_t v = load_seq_cst(&e->version);		/* P1: a close */

	if (unlikely(v % 2 != 0))
		return 0;
	wefti_atomic_copy(to, object, n);
	return load_relaxed(&e->version) == v;		/* behind P2's loads */
}

static inline int wefti_atomic_peek_three(const struct wefti_atomic_entry *e,
					  void *to, const void *object)
{
	uint64_t v = load_seq_cst(&e->version);		/* P1: a close */

	if (unlikely(v % 2 != 0))
		return 0;
	wefti_atomic_copy_three(to, object);
	return load_relaxed(&e->version) == v;		/* behind P2's loads */
}

#endif
