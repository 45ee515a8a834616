/* SPDX-License-Identifier: MIT */
/* os/tls/tls_malloc.c - malloc's arenas, and moving its words between blocks */
#include "os/tls/tls_malloc.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

struct wefti_tls_malloc {
	struct wefti_tls_malloc *next;
	uintptr_t words[MALLOC_WORDS_MAX];
};

static struct wefti_tls_malloc *kept;

void wefti_tls_malloc_arenas(unsigned most)
{
	const char *tunables = getenv("GLIBC_TUNABLES");

	if (getenv("MALLOC_ARENA_MAX") ||
	    (tunables && strstr(tunables, "glibc.malloc.arena_max")))
		return;
	(void)mallopt(M_ARENA_MAX, (int)most);
}

struct wefti_tls_malloc *wefti_tls_malloc_of(uintptr_t tp)
{
	struct wefti_tls_malloc *left;
	uintptr_t any = 0;

	for (unsigned i = 0; i < wefti_tls_layout.malloc_words; i++)
		any |= *wefti_tls_malloc_word(tp, i) ^
		       wefti_tls_layout.malloc_none[i];
	left = any ? malloc(sizeof(*left)) : NULL;
	if (!left)
		return NULL;
	for (unsigned i = 0; i < wefti_tls_layout.malloc_words; i++)
		left->words[i] = *wefti_tls_malloc_word(tp, i);
	return left;
}

void wefti_tls_malloc_none(uintptr_t tp)
{
	for (unsigned i = 0; i < wefti_tls_layout.malloc_words; i++)
		*wefti_tls_malloc_word(tp, i) = wefti_tls_layout.malloc_none[i];
}

void wefti_tls_malloc_keep(struct wefti_tls_malloc *left)
{
	if (!left)
		return;
	left->next = kept;
	kept = left;
}

struct wefti_tls_malloc *wefti_tls_malloc_kept(void)
{
	struct wefti_tls_malloc *first = kept;

	if (first)
		kept = first->next;
	return first;
}

void wefti_tls_malloc_adopt(uintptr_t tp, struct wefti_tls_malloc *left)
{
	if (left)
		for (unsigned i = 0; i < wefti_tls_layout.malloc_words; i++)
			*wefti_tls_malloc_word(tp, i) = left->words[i];
	free(left);
}
