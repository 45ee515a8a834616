/* SPDX-License-Identifier: MIT */
/*
 * atomic/small.h - atomic objects that one instruction can do
 *
 * An object of 1, 2, 4 or 8 bytes that is aligned is done as compilers do it
 * inline; of 16, with what the CPU has for two words. Others, if they lie in an
 * aligned word or pair of words, are done by a CAS of all of that: the
 * neighbours are written with what they are, which no other access can tell.
 */
#ifndef WEFT_ATOMIC_SMALL_H
#define WEFT_ATOMIC_SMALL_H

#include <stddef.h>
#include <stdint.h>

#define WEFTI_SMALL_MAX	16

struct wefti_small {
	unsigned char *at;	/* the object, or the words that it lies in */
	unsigned offset;	/* of the object in them */
	unsigned bytes;		/* that are done at once: 1, 2, 4, 8 or 16 */
};

/* How the object is done. Returns 0 if no instruction can do it. */
int wefti_small_find(struct wefti_small *s, const void *object, size_t n);

/* Returns 1, or 0 with what the object was in *expected. n bytes each. */
int wefti_small_cas(const struct wefti_small *s, void *expected,
		    const void *desired, size_t n);
void wefti_small_load(const struct wefti_small *s, void *to, size_t n);
/* `to` may be `from`. */
void wefti_small_exchange(const struct wefti_small *s, const void *from,
			  void *to, size_t n);

#endif
