/* SPDX-License-Identifier: MIT */
/*
 * chan/cell.h - where a message lies while it is in a buffer
 *
 * A sender copies its message into a cell of its own before it enters the
 * buffer, and a receiver out of it after it has left: so nobody ever waits for
 * a copy. Messages of up to 2,040 bytes lie in the cell; of larger ones the
 * cell holds a pointer to the heap.
 */
#ifndef WEFT_CHAN_CELL_H
#define WEFT_CHAN_CELL_H

#include <string.h>

#include "chan/stock.h"

#define WEFTI_CELL_HEAD		8u	/* the stock's link, and padding */

enum wefti_cell_class {
	WEFTI_CELL_16,
	WEFTI_CELL_64,
	WEFTI_CELL_256,
	WEFTI_CELL_2048,
	WEFTI_CELL_HEAP,	/* the message is too large for a cell */
};

extern struct wefti_stock wefti_cell_16;

_Atomic uint32_t *wefti_cell_link_16(uint32_t index);

static inline enum wefti_cell_class wefti_cell_class(size_t elem_bytes)
{
	size_t bytes = elem_bytes + WEFTI_CELL_HEAD;

	return bytes <= 16 ? WEFTI_CELL_16 : bytes <= 64 ? WEFTI_CELL_64 :
	       bytes <= 256 ? WEFTI_CELL_256 :
	       bytes <= 2048 ? WEFTI_CELL_2048 : WEFTI_CELL_HEAP;
}

uint32_t wefti_cell_get_large(enum wefti_cell_class class, size_t bytes,
			      struct wefti_vcpu *v);
void wefti_cell_put_large(enum wefti_cell_class class, struct wefti_vcpu *v,
			  uint32_t cell);
void *wefti_cell_data_large(enum wefti_cell_class class, uint32_t cell);

/* A cell for a message of `bytes`; 0: no memory. Inside the runtime. */
static ALWAYS_INLINE uint32_t wefti_cell_get(enum wefti_cell_class class,
		size_t bytes, struct wefti_vcpu *v)
{
	if (likely(class == WEFTI_CELL_16))
		return wefti_stock_get(&wefti_cell_16, 16, wefti_cell_link_16,
				       v);
	return wefti_cell_get_large(class, bytes, v);
}

static ALWAYS_INLINE void wefti_cell_put(enum wefti_cell_class class,
		struct wefti_vcpu *v, uint32_t cell)
{
	if (likely(class == WEFTI_CELL_16))
		wefti_stock_put(&wefti_cell_16, 16, wefti_cell_link_16, v,
				cell);
	else
		wefti_cell_put_large(class, v, cell);
}

static ALWAYS_INLINE void *wefti_cell_data(enum wefti_cell_class class,
					   uint32_t cell)
{
	if (likely(class == WEFTI_CELL_16))
		return (char *)wefti_stock_at(&wefti_cell_16, 16, cell) +
		       WEFTI_CELL_HEAD;
	return wefti_cell_data_large(class, cell);
}

#ifdef WEFT_MODEL
/* Of the checker: a race for a message is a violation. */
void m_data_read(const void *p);
void m_data_write(const void *p);
#else
#define m_data_read(p)	((void)0)
#define m_data_write(p)	((void)0)
#endif

/* memcpy() of a message; pointers and numbers are the usual ones. */
static ALWAYS_INLINE void wefti_message_copy(void *to, const void *from,
					     size_t bytes)
{
	m_data_read(from);
	m_data_write(to);
	if (likely(bytes == 8))
		memcpy(to, from, 8);
	else if (bytes == 4)
		memcpy(to, from, 4);
	else if (bytes)
		memcpy(to, from, bytes);
}

#endif
