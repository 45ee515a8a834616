/* SPDX-License-Identifier: MIT */
/*
 * os/libc/exports.c - the functions and objects that a library exports
 *
 * No function of libc's may be called here: os/libc/libc.c says why.
 */
#include "os/libc/exports.h"

#include <stddef.h>

#include "os/libc/dynamic.h"

#define NOT_DEFAULT	0x8000	/* in the table of versions: an older definition */
#define SYMBOL_BINDING(info)	((unsigned char)(info) >> 4)

struct wefti_exports wefti_exports_read(uintptr_t base, const ElfW(Dyn) *dynamic)
{
	const char *strings = wefti_dynamic_table(base, dynamic, DT_STRTAB);
	const uintptr_t soname = wefti_dynamic_number(dynamic, DT_SONAME);

	return (struct wefti_exports){
		.base = base,
		.hash = wefti_dynamic_table(base, dynamic, DT_GNU_HASH),
		.symbols = wefti_dynamic_table(base, dynamic, DT_SYMTAB),
		.strings = strings,
		.versions = wefti_dynamic_table(base, dynamic, DT_VERSYM),
		.soname = strings && soname ? strings + soname : "",
	};
}

static int is_same(const char *a, const char *b)
{
	for (; *a && *a == *b; a++)
		b++;
	return *a == *b;
}

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	while (*name)
		h = h * 33 + (unsigned char)*name++;
	return h;
}

static int is_it(const struct wefti_exports *e, uint32_t i, const char *name)
{
	const ElfW(Sym) *s = &e->symbols[i];

	return s->st_shndx != SHN_UNDEF &&
	       SYMBOL_BINDING(s->st_info) != STB_LOCAL &&
	       (!e->versions || !(e->versions[i] & NOT_DEFAULT)) &&
	       is_same(e->strings + s->st_name, name);
}

/*
 * The GNU hash table: four numbers, a filter, the first symbol of each bucket, and the
 * hashes of the symbols from `from` on. The lowest bit ends a bucket.
 */
const ElfW(Sym) *wefti_exports_find(const struct wefti_exports *e, const char *name)
{
	const uint32_t hash = hash_of(name);
	uint32_t count, from, i;
	const uint32_t *buckets, *hashes;

	if (!e->hash || !e->symbols || !e->strings)
		return NULL;
	count = e->hash[0];
	from = e->hash[1];
	buckets = e->hash + 4 + e->hash[2] * (sizeof(ElfW(Addr)) / 4);
	hashes = buckets + count;
	i = count ? buckets[hash % count] : 0;
	for (; i >= from && i != 0; i++) {
		if ((hashes[i - from] | 1) == (hash | 1) && is_it(e, i, name))
			return &e->symbols[i];
		if (hashes[i - from] & 1)
			break;
	}
	return NULL;
}
