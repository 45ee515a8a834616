/* SPDX-License-Identifier: MIT */
/*
 * atomic/small.h - atomic objects that one instruction can handle
 *
 * An aligned object of 1, 2, 4 or 8 bytes is handled as compilers do it inline; one of
 * 16 bytes, by the CPU's operations on two words. Other objects, if they are inside an
 * aligned word or pair of words, are handled by a CAS of all of that. The neighbours
 * are written with their own values, which no other access can notice.
 */
#ifndef WEFT_ATOMIC_SMALL_H
#define WEFT_ATOMIC_SMALL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "wide.h"

#define WEFTI_SMALL_MAX	16

struct wefti_small {
	unsigned char *at;	/* the object, or the words that contain it */
	unsigned offset;	/* of the object in these words */
	unsigned bytes;		/* handled at once: 1, 2, 4, 8 or 16 */
};

/* Finds out how the object is handled. Returns 0 if no instruction can do it. */
int wefti_small_find(struct wefti_small *s, const void *object, size_t n);

/* Returns 1; or 0, with the object's value in *expected. n bytes each. */
int wefti_small_cas(const struct wefti_small *s, void *expected,
		    const void *desired, size_t n);
void wefti_small_load(const struct wefti_small *s, void *to, size_t n);
/* `to` may be `from`. */
void wefti_small_exchange(const struct wefti_small *s, const void *from,
			  void *to, size_t n);

/*
 * Does the object have 16 bytes, and can the CPU handle them at once? Callers look at
 * this first: all else is longer than the access itself.
 */
static inline int wefti_small_is_pair(const void *object, size_t n)
{
	return n == WEFTI_SMALL_MAX && (uintptr_t)object % WEFTI_SMALL_MAX == 0 &&
	       likely(wefti_arch_wide_can() & WEFTI_WIDE_CAS);
}

/* Word by word, as they were most likely just written. */
static inline struct wefti_wide wefti_pair_from(const void *from)
{
	struct wefti_wide w;

	memcpy(&w.lo, from, sizeof(w.lo));
	memcpy(&w.hi, (const unsigned char *)from + sizeof(w.lo), sizeof(w.hi));
	return w;
}

static inline void wefti_pair_to(void *to, struct wefti_wide w)
{
	memcpy(to, &w.lo, sizeof(w.lo));
	memcpy((unsigned char *)to + sizeof(w.lo), &w.hi, sizeof(w.hi));
}

static inline void wefti_pair_load(const void *object, void *to)
{
	wefti_pair_to(to, wefti_arch_wide_load(object));
}

static inline int wefti_pair_cas(void *object, void *expected, const void *desired)
{
	struct wefti_wide old = wefti_pair_from(expected);

	if (likely(wefti_arch_wide_cas(object, &old, wefti_pair_from(desired))))
		return 1;
	wefti_pair_to(expected, old);
	return 0;
}

/* `to` may be `from`. */
static inline void wefti_pair_exchange(void *object, const void *from, void *to)
{
	struct wefti_wide new = wefti_pair_from(from), old = wefti_arch_wide_load(object);

	while (!wefti_arch_wide_cas(object, &old, new))
		;
	wefti_pair_to(to, old);
}

#endif
