/* SPDX-License-Identifier: MIT */
/* chan/cell.c - messages of more than a word: in cells, or on the heap */
#include "chan/cell.h"

#include <errno.h>
#include <stdlib.h>

struct wefti_stock wefti_cells[WEFTI_CELL_CLASSES] TABLE;

static _Atomic uint32_t *link_of_64(uint32_t index)
{
	return wefti_stock_link(&wefti_cells[WEFTI_CELL_64], 64, index + 1);
}

static _Atomic uint32_t *link_of_256(uint32_t index)
{
	return wefti_stock_link(&wefti_cells[WEFTI_CELL_256], 256, index + 1);
}

static _Atomic uint32_t *link_of_2048(uint32_t index)
{
	return wefti_stock_link(&wefti_cells[WEFTI_CELL_2048], 2048, index + 1);
}

static const struct {
	size_t bytes;
	wefti_depot_next_fn *link_of;
} kinds[] = {
	[WEFTI_CELL_64] = { 64, link_of_64 },
	[WEFTI_CELL_256] = { 256, link_of_256 },
	[WEFTI_CELL_2048] = { 2048, link_of_2048 },
};

static void *data(enum wefti_cell_class class, uint64_t word)
{
	if (class == WEFTI_CELL_HEAP)
		return (void *)(uintptr_t)word;
	return (char *)wefti_stock_at(&wefti_cells[class], kinds[class].bytes,
				      (uint32_t)word) + WEFTI_CELL_HEAD;
}

int wefti_message_pack_long(enum wefti_cell_class class, const void *elem,
		size_t bytes, struct wefti_vcpu *v, uint64_t *word)
{
	*word = class == WEFTI_CELL_HEAP ? (uintptr_t)malloc(bytes) :
		wefti_stock_get(&wefti_cells[class], kinds[class].bytes,
				kinds[class].link_of, v);
	if (unlikely(!*word))
		return -ENOMEM;
	wefti_message_copy(data(class, *word), elem, bytes);
	return 0;
}

void wefti_message_drop_long(enum wefti_cell_class class, struct wefti_vcpu *v,
			     uint64_t word)
{
	if (class == WEFTI_CELL_HEAP)
		free(data(class, word));
	else
		wefti_stock_put(&wefti_cells[class], kinds[class].bytes,
				kinds[class].link_of, v, (uint32_t)word);
}

void wefti_message_unpack_long(enum wefti_cell_class class, void *elem,
		size_t bytes, struct wefti_vcpu *v, uint64_t word)
{
	if (elem)
		wefti_message_copy(elem, data(class, word), bytes);
	wefti_message_drop_long(class, v, word);
}
