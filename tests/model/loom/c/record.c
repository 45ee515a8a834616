/* SPDX-License-Identifier: MIT */
/* record.c - scenarios: events are written into a ring while another thread reads */
#include "model.h"

#include "record/events.h"

/* One slot, so that each event overwrites the one before it. */
static struct wefti_event event;
static struct wefti_record_ring ring;
static struct wefti_record_writer writer = { &event, &ring, 0 };

static uint64_t what(uint64_t x)
{
	return wefti_record_what(WEFTI_EVENT_MARK, (uint32_t)x);
}

/* Event 0 is there. The words of an event are all x. */
static void init(void)
{
	store_relaxed(&event.word, (uint64_t)0);
	store_relaxed(&event.time, (uint64_t)0);
	store_relaxed(&event.thread, (uint64_t)0);
	store_relaxed(&event.arg, (uint64_t)0);
	store_relaxed(&ring.count, (uint64_t)0);
	store_relaxed(&ring.lost, (uint64_t)0);
	wefti_record_put(&writer, what(1), 1, 1, 1);
}

static void put(void)
{
	wefti_record_put(&writer, what(2), 2, 2, 2);
}

static void put_common(void)
{
	uint64_t x = 3 + (uint64_t)m_self();

	wefti_record_put_common(&writer, what(x), x, x, x, NULL);
}

static int get(uint64_t n)
{
	struct wefti_record_event e;

	if (!wefti_record_get(&writer, n, &e))
		return 0;
	m_check(e.kind == WEFTI_EVENT_MARK);
	m_check(e.time == e.detail && e.thread == e.detail && e.arg == e.detail);
	return 1;
}

static void get_first(void)
{
	get(0);
}

static void get_second(void)
{
	get(1);
}

static void get_third(void)
{
	get(2);
}

static void second_is_there(void)
{
	m_check(!get(0) && get(1));
}

/* Two writers, a lap apart: each event is there, was overwritten, or was lost. */
static void one_is_there(void)
{
	int there = get(1) + get(2);

	m_check(there == 1 && load_relaxed(&ring.count) == 3);
	m_check(load_relaxed(&ring.lost) <= 1);
}

SCENARIO(record_old) = { init, { put, get_first }, second_is_there };
SCENARIO(record_new) = { init, { put, get_second }, second_is_there };
SCENARIO(record_common) = {
	init, { put_common, put_common, get_second }, one_is_there,
};
SCENARIO(record_common_late) = {
	init, { put_common, put_common, get_third }, one_is_there,
};
