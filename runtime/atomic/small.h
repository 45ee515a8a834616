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

#endif
