/* SPDX-License-Identifier: MIT */
/*
 * chan/cell.h - where a message is kept while it is in a buffer
 *
 * A buffer holds words. A message of up to 8 bytes is a word. A longer message is
 * copied by its sender before it enters the buffer, and by the receiver after it has
 * left. So no thread ever waits for a copy. A message of up to 2,040 bytes is copied
 * into a cell, and the word is the cell's number. A longer one is copied to the heap,
 * and the word points to it.
 */
#ifndef WEFT_CHAN_CELL_H
#define WEFT_CHAN_CELL_H

#include <string.h>

#include "sync/stock.h"

#define WEFTI_CELL_HEAD		8u	/* the stock's link, and padding */

enum wefti_cell_class {
	WEFTI_CELL_64,
	WEFTI_CELL_256,
	WEFTI_CELL_2048,
	WEFTI_CELL_CLASSES,
	WEFTI_CELL_HEAP = WEFTI_CELL_CLASSES,
	WEFTI_CELL_NONE,	/* the word is the message */
};

extern struct wefti_stock wefti_cells[WEFTI_CELL_CLASSES];

static inline enum wefti_cell_class wefti_cell_class(size_t elem_bytes)
{
	size_t bytes = elem_bytes + WEFTI_CELL_HEAD;

	return elem_bytes <= 8 ? WEFTI_CELL_NONE : bytes <= 64 ? WEFTI_CELL_64 :
	       bytes <= 256 ? WEFTI_CELL_256 :
	       bytes <= 2048 ? WEFTI_CELL_2048 : WEFTI_CELL_HEAP;
}

#ifdef WEFT_MODEL
/* For the model checker: a race for a message is a violation. */
void m_data_read(const void *p);
void m_data_write(const void *p);
#else
#define m_data_read(p)	((void)0)
#define m_data_write(p)	((void)0)
#endif

/* memcpy(). The usual messages are pointers and numbers. */
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

/* The three functions below, for messages that are not words. */
MUST_USE int wefti_message_pack_long(enum wefti_cell_class class,
		const void *elem, size_t bytes, struct wefti_vcpu *v,
		uint64_t *word);
void wefti_message_drop_long(enum wefti_cell_class class, struct wefti_vcpu *v,
			     uint64_t word);
void wefti_message_unpack_long(enum wefti_cell_class class, void *elem,
		size_t bytes, struct wefti_vcpu *v, uint64_t word);

static ALWAYS_INLINE void wefti_message_copy(void *to, const void *from,
					     size_t bytes)
{
	m_data_read(from);
	m_data_write(to);
	wefti_message_bytes(to, from, bytes);
}

/* Makes the word for a message. Returns 0 or -ENOMEM. Called inside the runtime. */
static ALWAYS_INLINE int wefti_message_pack(enum wefti_cell_class class,
		const void *elem, size_t bytes, struct wefti_vcpu *v,
		uint64_t *word)
{
	if (unlikely(class != WEFTI_CELL_NONE))
		return wefti_message_pack_long(class, elem, bytes, v, word);
	*word = 0;
	m_data_read(elem);
	wefti_message_bytes(word, elem, bytes);
	return 0;
}

/* Frees a message that was not sent, or that no thread wants. */
static ALWAYS_INLINE void wefti_message_drop(enum wefti_cell_class class,
		struct wefti_vcpu *v, uint64_t word)
{
	if (unlikely(class != WEFTI_CELL_NONE))
		wefti_message_drop_long(class, v, word);
}

/* Copies the message to elem, unless elem is NULL; frees the word. */
static ALWAYS_INLINE void wefti_message_unpack(enum wefti_cell_class class,
		void *elem, size_t bytes, struct wefti_vcpu *v, uint64_t word)
{
	if (unlikely(class != WEFTI_CELL_NONE)) {
		wefti_message_unpack_long(class, elem, bytes, v, word);
	} else if (likely(elem != NULL)) {
		m_data_write(elem);
		wefti_message_bytes(elem, &word, bytes);
	}
}

#endif
