/* SPDX-License-Identifier: MIT */
/*
 * lockfree/coherence.h - each access is told to a model of caches, for a benchmark
 *
 * The program defines wefti_coherence_touch(): bench/coherence.
 */
#ifndef WEFT_LOCKFREE_COHERENCE_H
#define WEFT_LOCKFREE_COHERENCE_H

#include <stdint.h>

/* A place in the source that accesses shared memory. Each has one in static memory. */
struct wefti_coherence_site {
	const char *file, *what;	/* what: the address, as the source has it */
	unsigned line;
	unsigned is_write;
};

/* Called before the access. Returns p. */
void *wefti_coherence_touch(const struct wefti_coherence_site *site,
			    const volatile void *p);

#define coherence_touch_(p, text, is_write)				\
	((__typeof__(p))wefti_coherence_touch(__extension__({		\
		static const struct wefti_coherence_site site_ = {	\
			__FILE__, text, __LINE__, is_write };		\
		&site_; }), (p)))

/* A CAS that fails takes the line too, so it counts as a write. */
#define read_at_(p)		coherence_touch_(p, #p, 0)
#define written_at_(p)		coherence_touch_(p, #p, 1)

#endif
