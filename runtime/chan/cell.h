/* SPDX-License-Identifier: MIT */
/*
 * chan/cell.h - where a message lies while it is in a buffer
 *
 * A buffer holds words. A message of up to 8 bytes is one. A longer one is copied
 * by its sender into a cell before it enters the buffer, and by the receiver out
 * of it after it has left, and the word is the cell's number: so nobody ever
 * waits for a copy. Messages of up to 2,040 bytes lie in the cell; of larger ones
 * the cell holds a pointer to the heap.
 */
#ifndef WEFT_CHAN_CELL_H
#define WEFT_CHAN_CELL_H

#include <string.h>

#include "chan/stock.h"

#define WEFTI_CELL_HEAD		8u	/* the stock's link, and padding */

enum wefti_cell_class {
	WEFTI_CELL_NONE,	/* the message is the word */
	WEFTI_CELL_16,		/* what holds pointers to the heap */
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

	return elem_bytes <= 8 ? WEFTI_CELL_NONE : bytes <= 64 ? WEFTI_CELL_64 :
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

/* memcpy(); pointers and numbers are the usual messages. */
static ALWAYS_INLINE void wefti_message_bytes(void *to, const void *from,
					      size_t bytes)
{
	if (likely(bytes == 8))
		memcpy(to, from, 8);
	else if (bytes == 4)
		memcpy(to, from, 4);
	else if (bytes)
		memcpy(to, from, bytes);
}

static ALWAYS_INLINE void wefti_message_copy(void *to, const void *from,
					     size_t bytes)
{
	m_data_read(from);
	m_data_write(to);
	wefti_message_bytes(to, from, bytes);
}

/* The word for a message. Returns 0 or -ENOMEM. Inside the runtime. */
static ALWAYS_INLINE int wefti_message_pack(enum wefti_cell_class class,
		const void *elem, size_t bytes, struct wefti_vcpu *v,
		uint64_t *word)
{
	*word = 0;
	if (likely(class == WEFTI_CELL_NONE)) {
		m_data_read(elem);
		wefti_message_bytes(word, elem, bytes);
		return 0;
	}
	*word = wefti_cell_get(class, bytes, v);
	if (unlikely(!*word))
		return -ENOMEM;
	wefti_message_copy(wefti_cell_data(class, (uint32_t)*word), elem,
			   bytes);
	return 0;
}

/* It was not sent, or nobody wants it. */
static ALWAYS_INLINE void wefti_message_drop(enum wefti_cell_class class,
		struct wefti_vcpu *v, uint64_t word)
{
	if (unlikely(class != WEFTI_CELL_NONE))
		wefti_cell_put(class, v, (uint32_t)word);
}

/* To elem, unless that is NULL; the word is used up. */
static ALWAYS_INLINE void wefti_message_unpack(enum wefti_cell_class class,
		void *elem, size_t bytes, struct wefti_vcpu *v, uint64_t word)
{
	if (likely(class == WEFTI_CELL_NONE)) {
		if (unlikely(elem == NULL))
			return;
		m_data_write(elem);
		wefti_message_bytes(elem, &word, bytes);
		return;
	}
	if (likely(elem != NULL))
		wefti_message_copy(elem, wefti_cell_data(class,
							 (uint32_t)word),
				   bytes);
	wefti_message_drop(class, v, word);
}

#endif
