/* SPDX-License-Identifier: MIT */
/* os/object/cfi_bytes.h - DWARF's encodings of numbers, of memory that may be wrong */
#ifndef WEFT_OS_OBJECT_CFI_BYTES_H
#define WEFT_OS_OBJECT_CFI_BYTES_H

#include "os/object/cfi.h"

/* Reads forward. After a failure it reads zeros, and is at its end. */
struct wefti_bytes {
	uintptr_t at, end;
	int failed;
};

static inline int wefti_bytes_left(const struct wefti_bytes *b)
{
	return !b->failed && b->at < b->end;
}

/* Up to 8 bytes, low ones first. */
static inline uint64_t wefti_bytes_take(struct wefti_bytes *b, size_t bytes)
{
	uint64_t value = 0;

	if (b->failed || b->at > b->end || b->end - b->at < bytes ||
	    !wefti_os_unwind_read(&value, b->at, bytes)) {
		b->failed = 1;
		return 0;
	}
	b->at += bytes;
	return value;
}

/* The same, the highest bit being the sign. */
static inline int64_t wefti_bytes_signed(struct wefti_bytes *b, size_t bytes)
{
	const unsigned unused = 64 - 8 * (unsigned)bytes;

	return (int64_t)(wefti_bytes_take(b, bytes) << unused) >> unused;
}

static inline uint64_t wefti_bytes_leb(struct wefti_bytes *b, unsigned *bits)
{
	uint64_t value = 0, byte;

	*bits = 0;
	do {
		byte = wefti_bytes_take(b, 1);
		if (*bits < 64)
			value |= (byte & 0x7f) << *bits;
		*bits += 7;
	} while (byte & 0x80);
	return value;
}

static inline uint64_t wefti_bytes_uleb(struct wefti_bytes *b)
{
	unsigned bits;

	return wefti_bytes_leb(b, &bits);
}

static inline int64_t wefti_bytes_sleb(struct wefti_bytes *b)
{
	unsigned bits;
	uint64_t value = wefti_bytes_leb(b, &bits);

	if (bits < 64 && value >> (bits - 1) & 1)
		value |= ~UINT64_C(0) << bits;
	return (int64_t)value;
}

#endif
