/* SPDX-License-Identifier: MIT */
/*
 * atomic/small.c - atomic objects that one instruction can handle
 *
 * Writers
 *   at  words_cas
 */
#include "atomic/small.h"

#include <string.h>

#include "lockfree/atomic.h"
#include "wide.h"

/* The contents of the words, as bytes and as operands of instructions. */
union words {
	unsigned char byte[WEFTI_SMALL_MAX];
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	struct wefti_wide wide;
};

static int lies_in(uintptr_t at, size_t n, size_t bytes)
{
	return at % bytes + n <= bytes;
}

int wefti_small_find(struct wefti_small *s, const void *object, size_t n)
{
	uintptr_t at = (uintptr_t)object;
	size_t bytes;

	if (n > WEFTI_SMALL_MAX || n == 0)
		return 0;
	if ((n & (n - 1)) == 0 && at % n == 0)
		bytes = n;
	else if (lies_in(at, n, 8))
		bytes = 8;
	else if (lies_in(at, n, 16))
		bytes = 16;
	else
		return 0;
	if (bytes == 16 && !(wefti_arch_wide_can() & WEFTI_WIDE_CAS))
		return 0;
	s->at = (unsigned char *)(at - at % bytes);
	s->offset = (unsigned)(at % bytes);
	s->bytes = (unsigned)bytes;
	return 1;
}

static union words words_load(const struct wefti_small *s)
{
	union words w = { .wide = { 0, 0 } };
	void *at = s->at;

	switch (s->bytes) {
	case 1:
		w.u8 = load_seq_cst((_Atomic uint8_t *)at);
		break;
	case 2:
		w.u16 = load_seq_cst((_Atomic uint16_t *)at);
		break;
	case 4:
		w.u32 = load_seq_cst((_Atomic uint32_t *)at);
		break;
	case 8:
		w.u64 = load_seq_cst((_Atomic uint64_t *)at);
		break;
	default:
		w.wide = wefti_arch_wide_load(at);
	}
	return w;
}

static int words_cas(const struct wefti_small *s, union words *e,
		     const union words *d)
{
	void *at = s->at;

	switch (s->bytes) {
	case 1:
		return cas_seq_cst((_Atomic uint8_t *)at, &e->u8, d->u8);
	case 2:
		return cas_seq_cst((_Atomic uint16_t *)at, &e->u16, d->u16);
	case 4:
		return cas_seq_cst((_Atomic uint32_t *)at, &e->u32, d->u32);
	case 8:
		return cas_seq_cst((_Atomic uint64_t *)at, &e->u64, d->u64);
	default:
		return wefti_arch_wide_cas(at, &e->wide, d->wide);
	}
}

int wefti_small_cas(const struct wefti_small *s, void *expected,
		    const void *desired, size_t n)
{
	union words old, new;

	if (n == s->bytes) {
		memcpy(&old, expected, n);
		memcpy(&new, desired, n);
		if (words_cas(s, &old, &new))
			return 1;
		memcpy(expected, &old, n);
		return 0;
	}
	old = words_load(s);
	/* A neighbour may change while the object has the expected value. */
	while (memcmp(old.byte + s->offset, expected, n) == 0) {
		new = old;
		memcpy(new.byte + s->offset, desired, n);
		if (words_cas(s, &old, &new))
			return 1;
	}
	memcpy(expected, old.byte + s->offset, n);
	return 0;
}

void wefti_small_load(const struct wefti_small *s, void *to, size_t n)
{
	union words w = words_load(s);

	memcpy(to, w.byte + s->offset, n);
}

void wefti_small_exchange(const struct wefti_small *s, const void *from,
			  void *to, size_t n)
{
	union words old = words_load(s), new;

	do {
		new = old;
		memcpy(new.byte + s->offset, from, n);
	} while (!words_cas(s, &old, &new));
	memcpy(to, old.byte + s->offset, n);
}
