/* SPDX-License-Identifier: MIT */
/*
 * atomic/names.h - the names by which compilers call these functions
 *
 * A compiler knows these functions itself and does not allow a definition in C. So ours
 * have names of their own in C, and the compiler's names in the object file.
 */
#ifndef WEFT_ATOMIC_NAMES_H
#define WEFT_ATOMIC_NAMES_H

#include <stddef.h>

#define EXPORT_AS(name)	__asm__(name) __attribute__((visibility("default")))

/* The orders are ignored: all are seq_cst. */
void wefti_atomic_load(size_t n, const void *object, void *to, int order)
	EXPORT_AS("__atomic_load");
void wefti_atomic_store(size_t n, void *object, const void *from, int order)
	EXPORT_AS("__atomic_store");
void wefti_atomic_exchange(size_t n, void *object, const void *from, void *to,
			   int order)
	EXPORT_AS("__atomic_exchange");
/* Returns 1; or 0, with the value found in *expected. */
_Bool wefti_atomic_compare_exchange(size_t n, void *object, void *expected,
				    const void *desired, int success,
				    int failure)
	EXPORT_AS("__atomic_compare_exchange");
/* Would an object of n bytes there, or at its natural alignment, need no lock? */
_Bool wefti_atomic_is_lock_free(size_t n, const void *object)
	EXPORT_AS("__atomic_is_lock_free");

#endif
