/* SPDX-License-Identifier: MIT */
/* test_stock.c - sync/stock: a VCPU's list, what is beyond it, and no memory */
#include "sync/stock.h"

#include <stdlib.h>
#include <string.h>

#include "no_memory.h"
#include "support.h"

struct item {
	_Atomic uint32_t link;
	uint32_t mark;
	char rest[248];
};

#define BYTES		sizeof(struct item)
#define LOCAL_MOST	(WEFTI_STOCK_LOCAL / BYTES)
#define MANY		(4 * LOCAL_MOST)

static struct wefti_stock stocks[4], *stock;	/* one a case */
static unsigned begun;
static struct wefti_vcpu *vcpu[2];
static uint32_t got[MANY];

static _Atomic uint32_t *link_of(uint32_t index)
{
	return wefti_stock_link(stock, BYTES, index + 1);
}

static uint32_t get(struct wefti_vcpu *v)
{
	return wefti_stock_get(stock, BYTES, link_of, v);
}

static void put(struct wefti_vcpu *v, uint32_t number)
{
	wefti_stock_put(stock, BYTES, link_of, v, number);
}

static struct item *item(uint32_t number)
{
	return wefti_stock_at(stock, BYTES, number);
}

static void begin(void)
{
	stock = &stocks[begun++];
	for (unsigned i = 0; i < 2; i++) {
		vcpu[i] = aligned_alloc(CACHE_LINE, sizeof(*vcpu[i]));
		CU_ASSERT_PTR_NOT_NULL_FATAL(vcpu[i]);
		memset(vcpu[i], 0, sizeof(*vcpu[i]));
		vcpu[i]->index = i * (WEFTI_VCPUS_MAX - 1);
	}
	no_memory = 0;
	grown = 0;
}

static void end(void)
{
	free(vcpu[0]);
	free(vcpu[1]);
}

static void a_batch_is_made_for_who_asks(void)
{
	unsigned char seen[WEFTI_STOCK_BATCH + 1] = { 0 };

	begin();
	for (unsigned i = 0; i < WEFTI_STOCK_BATCH; i++) {
		got[i] = get(i % 2 ? vcpu[0] : NULL);
		if (i == 0)	/* without a VCPU the rest stays in common */
			CU_ASSERT_EQUAL(stock->local[0].count, 0);
		CU_ASSERT_TRUE_FATAL(got[i] > 0 &&
				     got[i] <= WEFTI_STOCK_BATCH);
		CU_ASSERT_FALSE(seen[got[i]]);
		seen[got[i]] = 1;
	}
	CU_ASSERT_EQUAL(grown, 1);
	CU_ASSERT_EQUAL(get(vcpu[1]), WEFTI_STOCK_BATCH + 1);
	CU_ASSERT_EQUAL(grown, 2);
	/* The others of that batch are the VCPU's, and nobody else's. */
	CU_ASSERT_EQUAL(stock->local[vcpu[1]->index].count,
			WEFTI_STOCK_BATCH - 1);
	CU_ASSERT_TRUE(wefti_depot_is_empty(&stock->depot));
	end();
}

static void an_item_keeps_what_was_left_in_it(void)
{
	uint32_t a, b;

	begin();
	a = get(vcpu[0]);
	b = get(vcpu[0]);
	CU_ASSERT_EQUAL(item(a)->mark, 0);	/* new */
	item(a)->mark = 7;
	item(b)->mark = 8;
	put(vcpu[0], a);
	put(vcpu[0], b);
	CU_ASSERT_EQUAL(get(vcpu[0]), b);	/* the last is the first */
	CU_ASSERT_EQUAL(get(vcpu[0]), a);
	CU_ASSERT_EQUAL(item(a)->mark, 7);
	CU_ASSERT_EQUAL(item(b)->mark, 8);
	put(NULL, a);
	CU_ASSERT_EQUAL(get(NULL), a);		/* by the depot */
	CU_ASSERT_EQUAL(item(a)->mark, 7);
	end();
}

static void half_of_a_full_list_goes_to_the_others(void)
{
	struct wefti_stock_local *local;
	uint32_t made;

	begin();
	local = &stock->local[0];
	for (unsigned i = 0; i < LOCAL_MOST + 1; i++)
		got[i] = get(NULL);
	while (!wefti_depot_is_empty(&stock->depot))
		(void)get(NULL);
	for (unsigned i = 0; i < LOCAL_MOST; i++) {
		put(vcpu[0], got[i]);
		CU_ASSERT_EQUAL(local->count, i + 1);
	}
	CU_ASSERT_TRUE(wefti_depot_is_empty(&stock->depot));
	put(vcpu[0], got[LOCAL_MOST]);
	CU_ASSERT_EQUAL(local->count, LOCAL_MOST / 2);
	/* Another VCPU takes those, and no new ones. */
	made = (uint32_t)grown;
	for (unsigned i = LOCAL_MOST / 2; i <= LOCAL_MOST; i++) {
		uint32_t number = get(vcpu[1]);

		CU_ASSERT_TRUE_FATAL(number > 0);
		item(number)->mark++;
	}
	CU_ASSERT_EQUAL((uint32_t)grown, made);
	CU_ASSERT_EQUAL(stock->local[vcpu[1]->index].count, 0);
	for (unsigned i = 0; i < LOCAL_MOST / 2; i++)
		item(get(vcpu[0]))->mark++;
	for (unsigned i = 0; i <= LOCAL_MOST; i++)
		CU_ASSERT_EQUAL(item(got[i])->mark, 1);
	end();
}

static void without_memory_it_is_zero_and_what_is_free_is_found(void)
{
	uint32_t a;

	begin();
	no_memory = 1;
	CU_ASSERT_EQUAL(get(vcpu[0]), 0);
	CU_ASSERT_EQUAL(get(NULL), 0);
	CU_ASSERT_EQUAL(stock->local[0].count, 0);
	CU_ASSERT_EQUAL(stock->local[0].top, 0);
	no_memory = 0;
	a = get(NULL);
	CU_ASSERT_TRUE(a > 0);
	no_memory = 1;
	for (unsigned i = 1; i < WEFTI_STOCK_BATCH; i++)
		CU_ASSERT_TRUE(get(vcpu[0]) > 0);
	CU_ASSERT_EQUAL(get(vcpu[0]), 0);
	put(vcpu[1], a);
	CU_ASSERT_EQUAL(get(vcpu[0]), 0);	/* is that VCPU's alone */
	CU_ASSERT_EQUAL(get(vcpu[1]), a);
	put(NULL, a);
	CU_ASSERT_EQUAL(get(vcpu[0]), a);
	end();
}

static const struct test_case cases[] = {
	TEST(a_batch_is_made_for_who_asks),
	TEST(an_item_keeps_what_was_left_in_it),
	TEST(half_of_a_full_list_goes_to_the_others),
	TEST(without_memory_it_is_zero_and_what_is_free_is_found),
};

TEST_MAIN("sync/stock", cases)
