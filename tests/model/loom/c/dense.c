/* SPDX-License-Identifier: MIT */
/* dense.c - scenarios: mem/dense.c; two grow a table, and its items are found */
#include "model.h"

#include "mem/dense.h"
#include "os/call/vm.h"

#define BYTES	8			/* of an item */

static struct wefti_dense table;
static char chunk[3];			/* one for each maker; zeros if new */
static int made, freed;
static _Atomic uint32_t told;		/* index + 1, in an order of its own */

size_t wefti_os_page_size(void)
{
	return 4096;
}

void *wefti_os_vm_reserve(size_t bytes)
{
	(void)bytes;
	made++;
	m_data_write(&chunk[m_self()]);
	return &chunk[m_self()];
}

void wefti_os_vm_unmap(void *p, size_t bytes)
{
	(void)bytes;
	freed++;
	m_data_write(p);
}

void wefti_os_vm_nohugepage(void *p, size_t bytes)
{
	(void)p, (void)bytes;
}

static void init(void)
{
	store_relaxed(&table.next, 0);
	store_relaxed(&table.chunk[0], NULL);
	store_relaxed(&told, 0);
	made = freed = 0;
}

static void use(uint32_t index)
{
	char *p = wefti_dense_at(&table, BYTES, index);

	if (p)
		m_data_read(p - index * BYTES);
}

static void grow(void)
{
	uint32_t first;

	m_check(wefti_dense_grow(&table, BYTES, 2, &first) == 0);
	use(first);
	store_relaxed(&told, first + 1);
}

static void use_what_is_told(void)
{
	uint32_t n = load_relaxed(&told);

	if (n)
		use(n - 1);
}

/* The chunk of an index below the limit is made. */
static void use_the_last(void)
{
	uint32_t n = wefti_dense_limit(&table);

	if (n)
		m_check(wefti_dense_at(&table, BYTES, n - 1) != NULL);
}

static void check_one_chunk(void)
{
	m_check(made == freed + 1);
}

static void check_two(void)
{
	check_one_chunk();
	m_check(wefti_dense_limit(&table) == 4);
}

SCENARIO(dense) = { init, { grow, grow }, check_two };
SCENARIO(dense_told) = { init, { grow, use_what_is_told }, check_one_chunk };
SCENARIO(dense_limit) = { init, { grow, use_the_last }, check_one_chunk };
