/* SPDX-License-Identifier: MIT */
/*
 * test_buffer.c - chan/buffer: what fits and what comes, at each place and lap,
 * also where the hints are late or laps wrap
 */
#include "chan/buffer.h"

#include <string.h>

#include "armed.h"

#define MOST	5		/* capacities */

/* What is to be in it: numbers from `out` to `in` - 1, which began at 0. */
static struct model {
	struct wefti_buffer b;
	uint64_t in, out;
	uint64_t lap;			/* of number 0 */
	int is_closed;
} m;

static uint64_t position(uint64_t begins, uint64_t number)
{
	return begins + (m.lap + number / m.b.capacity) * WEFTI_POSITION_LAP +
	       number % m.b.capacity * WEFTI_POSITION_SLOT;
}

static uint64_t tail_at(uint64_t number)
{
	return position(WEFTI_POSITION_TAIL, number);
}

static uint64_t head_at(uint64_t number)
{
	return position(WEFTI_POSITION_HEAD, number);
}

static void begin(uint32_t capacity, uint64_t lap)
{
	m = (struct model){ .lap = lap };
	CU_ASSERT_EQUAL_FATAL(wefti_buffer_init(&m.b, capacity), 0);
	if (capacity > WEFTI_BUFFER_FEW)
		CU_ASSERT_EQUAL((uintptr_t)m.b.slot % CACHE_LINE, 0);
	for (uint32_t i = 0; i < capacity; i++)
		pair_init(&m.b.slot[i], 0, lap * WEFTI_SLOT_LAP);
	store_relaxed(&m.b.tail, tail_at(0));
	store_relaxed(&m.b.head, head_at(0));
}

static void look(void)
{
	uint64_t n = m.in - m.out;

	CU_ASSERT_EQUAL(wefti_buffer_takes(&m.b),
			n < m.b.capacity || m.is_closed);
	CU_ASSERT_EQUAL(wefti_buffer_gives(&m.b), n > 0 || m.is_closed);
	CU_ASSERT_EQUAL(wefti_buffer_count_hint(&m.b), n);
	CU_ASSERT_EQUAL(wefti_buffer_is_closed(&m.b), m.is_closed);
}

static void push(void)
{
	uint64_t n = m.in - m.out;
	int expected = m.is_closed ? -EPIPE :
		       n == m.b.capacity ? -EAGAIN : 0;
	int room = 77;

	CU_ASSERT_EQUAL(wefti_buffer_push(&m.b, m.in * 3, &room), expected);
	CU_ASSERT_EQUAL(room, expected ? 77 : n + 1 < m.b.capacity);
	m.in += !expected;
}

static void pop(void)
{
	uint64_t n = m.in - m.out, word = UINT64_MAX;
	int expected = n ? 0 : m.is_closed ? -EPIPE : -EAGAIN;
	int more = 77;

	CU_ASSERT_EQUAL(wefti_buffer_pop(&m.b, &word, &more), expected);
	CU_ASSERT_EQUAL(word, expected ? UINT64_MAX : m.out * 3);
	CU_ASSERT_EQUAL(!!more, expected ? 1 : n > 1);
	m.out += !expected;
}

static void go_to(uint64_t out, uint64_t level)
{
	while (m.out < out) {
		push();
		pop();
	}
	while (m.in < m.out + level)
		push();
}

/* First laps, such as wrap in a position (2^31), and the last that fit in a slot. */
static const uint64_t laps[] = {
	0, 0x3ffffffe, 0x7ffffffe, 0xfffffffe, (UINT64_C(1) << 62) - 1000,
};

#define WRAPS	UINT64_C(0x7ffffffe)
#define LAPS	(sizeof(laps) / sizeof(laps[0]))

static void it_is_first_in_first_out_in_all_laps(void)
{
	uint64_t random = test_seed(0);

	for (size_t i = 0; i < LAPS; i++)
		for (uint32_t capacity = 1; capacity <= MOST; capacity++) {
			begin(capacity, laps[i]);
			look();
			for (size_t n = 0; n < 100; n++) {
				uint64_t steps = test_random_below(&random, 7);

				for (uint64_t k = 0; k < steps; k++)
					push();
				look();
				for (steps = test_random_below(&random, 7);
				     steps; steps--)
					pop();
				look();
			}
			wefti_buffer_fini(&m.b);
		}
}

static void what_was_in_before_a_close_comes_out(void)
{
	for (uint32_t capacity = 1; capacity <= MOST; capacity++)
		for (uint64_t at = 0; at < 2 * capacity; at++)
			for (uint64_t level = 0; level <= capacity; level++) {
				begin(capacity, WRAPS);
				go_to(at, level);
				look();
				CU_ASSERT_EQUAL(wefti_buffer_close(&m.b), 0);
				m.is_closed = 1;
				while (m.out < m.in) {
					look();
					push();
					CU_ASSERT_EQUAL(
						wefti_buffer_close(&m.b),
						-EALREADY);
					pop();
				}
				push();
				pop();
				look();
				CU_ASSERT_EQUAL(wefti_buffer_close(&m.b),
						-EALREADY);
				wefti_buffer_fini(&m.b);
			}
}

/*
 * A thread that was stopped before it stored tail or head may take the hint
 * back, but no further.
 */
static void late_hints_lead_to_the_right_place(void)
{
	for (uint32_t capacity = 1; capacity <= MOST; capacity++)
		for (uint64_t level = 0; level <= capacity; level++)
			for (uint64_t back = 0; back <= 4 * capacity; back++) {
				uint64_t late = 4 * capacity - back;

				begin(capacity, WRAPS);
				go_to(4 * capacity, level);
				store_relaxed(&m.b.tail, tail_at(late));
				store_relaxed(&m.b.head, head_at(late));
				look();
				CU_ASSERT_EQUAL(load_relaxed(&m.b.tail),
						tail_at(m.in));
				CU_ASSERT_EQUAL(load_relaxed(&m.b.head),
						head_at(m.out));
				store_relaxed(&m.b.tail, tail_at(late));
				store_relaxed(&m.b.head, head_at(late));
				push();
				pop();
				store_relaxed(&m.b.tail, tail_at(late));
				CU_ASSERT_EQUAL(wefti_buffer_close(&m.b), 0);
				m.is_closed = 1;
				while (m.out < m.in)
					pop();
				pop();
				wefti_buffer_fini(&m.b);
			}
}

/* On a processor as that of 2004: channels without a buffer, and one-to-one. */
static void without_wide_words_there_is_no_buffer(void)
{
	unsigned flags = wefti_arch_wide_can();
	struct weft_chan *c = NULL;

	memset(&m, 0, sizeof(m));
	wefti_arch_wide_flags = WEFTI_WIDE_KNOWN;
	CU_ASSERT_EQUAL(wefti_buffer_init(&m.b, 1), -ENOTSUP);
	CU_ASSERT_PTR_NULL(m.b.slot);
	CU_ASSERT_EQUAL(weft_chan_create(&c, 8, 1, 0), -ENOTSUP);
	CU_ASSERT_PTR_NULL(c);
	armed_chan_end(armed_chan(8, 0, 0));
	armed_chan_end(armed_chan(8, 1, WEFT_CHAN_ONE_TO_ONE));
	wefti_arch_wide_flags = flags;
	armed_chan_end(armed_chan(8, 1, 0));
}

static const struct test_case cases[] = {
	TEST(it_is_first_in_first_out_in_all_laps),
	TEST(what_was_in_before_a_close_comes_out),
	TEST(late_hints_lead_to_the_right_place),
	TEST(without_wide_words_there_is_no_buffer),
};

TEST_MAIN("chan/buffer", cases)
