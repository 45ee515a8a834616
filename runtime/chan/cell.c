/* SPDX-License-Identifier: MIT */
/* chan/cell.c - the stocks of cells, one for each size */
#include "chan/cell.h"

#include <stdlib.h>

struct wefti_stock wefti_cell_16;
static struct wefti_stock cell_64, cell_256, cell_2048;

_Atomic uint32_t *wefti_cell_link_16(uint32_t index)
{
	return wefti_stock_link(&wefti_cell_16, 16, index + 1);
}

static _Atomic uint32_t *link_64(uint32_t index)
{
	return wefti_stock_link(&cell_64, 64, index + 1);
}

static _Atomic uint32_t *link_256(uint32_t index)
{
	return wefti_stock_link(&cell_256, 256, index + 1);
}

static _Atomic uint32_t *link_2048(uint32_t index)
{
	return wefti_stock_link(&cell_2048, 2048, index + 1);
}

/* The cell of a message on the heap, and in it the pointer. */
static void **pointer_of(uint32_t cell)
{
	return wefti_cell_data(WEFTI_CELL_16, cell);
}

static uint32_t get_heap(size_t bytes, struct wefti_vcpu *v)
{
	void *message = malloc(bytes);
	uint32_t cell;

	if (!message)
		return 0;
	cell = wefti_cell_get(WEFTI_CELL_16, sizeof(void *), v);
	if (cell)
		*pointer_of(cell) = message;
	else
		free(message);
	return cell;
}

uint32_t wefti_cell_get_large(enum wefti_cell_class class, size_t bytes,
			      struct wefti_vcpu *v)
{
	switch (class) {
	case WEFTI_CELL_64:
		return wefti_stock_get(&cell_64, 64, link_64, v);
	case WEFTI_CELL_256:
		return wefti_stock_get(&cell_256, 256, link_256, v);
	case WEFTI_CELL_2048:
		return wefti_stock_get(&cell_2048, 2048, link_2048, v);
	default:
		return get_heap(bytes, v);
	}
}

void wefti_cell_put_large(enum wefti_cell_class class, struct wefti_vcpu *v,
			  uint32_t cell)
{
	switch (class) {
	case WEFTI_CELL_64:
		wefti_stock_put(&cell_64, 64, link_64, v, cell);
		break;
	case WEFTI_CELL_256:
		wefti_stock_put(&cell_256, 256, link_256, v, cell);
		break;
	case WEFTI_CELL_2048:
		wefti_stock_put(&cell_2048, 2048, link_2048, v, cell);
		break;
	default:
		free(*pointer_of(cell));
		wefti_cell_put(WEFTI_CELL_16, v, cell);
	}
}

void *wefti_cell_data_large(enum wefti_cell_class class, uint32_t cell)
{
	switch (class) {
	case WEFTI_CELL_64:
		return (char *)wefti_stock_at(&cell_64, 64, cell) +
		       WEFTI_CELL_HEAD;
	case WEFTI_CELL_256:
		return (char *)wefti_stock_at(&cell_256, 256, cell) +
		       WEFTI_CELL_HEAD;
	case WEFTI_CELL_2048:
		return (char *)wefti_stock_at(&cell_2048, 2048, cell) +
		       WEFTI_CELL_HEAD;
	default:
		return *pointer_of(cell);
	}
}
