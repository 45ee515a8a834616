/* SPDX-License-Identifier: MIT */
/* test_events.c - record/events: events go in and come out, whole or not at all */
#include "record/events.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

#define EVENTS	8u

static struct wefti_event events[EVENTS];
static struct wefti_record_ring ring;
static struct wefti_record_writer writer = { events, &ring, EVENTS - 1 };

static void begin(uint64_t count)
{
	memset(events, 0, sizeof(events));
	memset(&ring, 0, sizeof(ring));
	store_relaxed(&ring.count, count);
}

static uint64_t what(enum wefti_event_kind kind, uint32_t detail)
{
	return wefti_record_what(kind, detail);
}

/* All words of event n are made of n. */
static void put(uint64_t n, int common)
{
	if (common)
		wefti_record_put_common(&writer, what(WEFTI_EVENT_MARK, (uint32_t)n), n,
					n, n, NULL);
	else
		wefti_record_put(&writer, what(WEFTI_EVENT_MARK, (uint32_t)n), n, n, n);
}

static int is_event(uint64_t n)
{
	struct wefti_record_event e;

	return wefti_record_get(&writer, n, &e) && e.kind == WEFTI_EVENT_MARK &&
	       e.time == n && e.thread == n && e.arg == n &&
	       e.detail == (n & 0xffffff);
}

static int is_there(uint64_t n)
{
	struct wefti_record_event e;

	return wefti_record_get(&writer, n, &e);
}

static void last_events(uint64_t first, int common)
{
	begin(first);
	for (uint64_t n = first; n < first + 3 * EVENTS; n++)
		put(n, common);
	CU_ASSERT_EQUAL(load_relaxed(&ring.count), first + 3 * EVENTS);
	CU_ASSERT_EQUAL(load_relaxed(&ring.lost), 0);
	for (uint64_t n = first; n < first + 2 * EVENTS; n++)
		CU_ASSERT_FALSE(is_there(n));
	for (uint64_t n = first + 2 * EVENTS; n < first + 3 * EVENTS; n++)
		CU_ASSERT_TRUE(is_event(n));
	CU_ASSERT_FALSE(is_there(first + 3 * EVENTS));
}

static void the_last_events_are_there(void)
{
	last_events(0, 0);
	last_events(0, 1);
}

static void numbers_may_wrap(void)
{
	last_events(UINT32_MAX - EVENTS - 3, 0);
	last_events(UINT32_MAX - EVENTS - 3, 1);
}

static void an_empty_ring_has_no_event(void)
{
	begin(0);
	for (uint64_t n = 0; n < 2 * EVENTS; n++)
		CU_ASSERT_FALSE(is_there(n));
}

static void an_event_that_is_being_written_is_not_there(void)
{
	begin(0);
	put(0, 0);
	store_relaxed(&events[0].word, UINT64_C(1) << 32);
	CU_ASSERT_FALSE(is_there(0));
}

static void a_slot_of_a_stopped_writer_loses_events_of_others(void)
{
	begin(0);
	put(0, 1);
	store_relaxed(&events[0].word, UINT64_C(1) << 32);
	for (uint64_t n = 1; n <= 2 * EVENTS; n++)
		put(n, 1);
	CU_ASSERT_EQUAL(load_relaxed(&ring.lost), 2);	/* numbers 8 and 16 */
	CU_ASSERT_FALSE(is_there(2 * EVENTS));
	for (uint64_t n = EVENTS + 1; n < 2 * EVENTS; n++)
		CU_ASSERT_TRUE(is_event(n));
}

static void a_late_writer_does_not_replace_a_later_event(void)
{
	begin(EVENTS);
	put(EVENTS, 1);
	store_relaxed(&ring.count, 0);
	wefti_record_put_common(&writer, what(WEFTI_EVENT_END, 0), 0, 0, 0, NULL);
	CU_ASSERT_EQUAL(load_relaxed(&ring.lost), 1);
	CU_ASSERT_TRUE(is_event(EVENTS));
}

/* Returns how many bytes of text follow event 0, put together in `text`. */
static size_t text_of(char *text)
{
	struct wefti_record_event e;
	size_t at = 0;

	for (uint64_t n = 1; wefti_record_get(&writer, n, &e); n++) {
		const uint64_t words[3] = { e.time, e.thread, e.arg };

		CU_ASSERT_EQUAL(e.kind, WEFTI_EVENT_TEXT);
		memcpy(text + at, words, e.detail);
		at += e.detail;
	}
	return at;
}

static void text_is_kept(size_t bytes, int common)
{
	char text[200] = { 0 }, got[200] = { 0 };
	size_t kept = bytes < WEFTI_RECORD_TEXT_MOST ? bytes : WEFTI_RECORD_TEXT_MOST;

	for (size_t i = 0; i < bytes; i++)
		text[i] = (char)('a' + i % 26);
	begin(0);
	(common ? wefti_record_put_common : wefti_record_put_text)(
		&writer, what(WEFTI_EVENT_MARK, 0), 0, 0, 0, text);
	CU_ASSERT_EQUAL(text_of(got), kept);
	CU_ASSERT_EQUAL(memcmp(got, text, kept), 0);
}

static void texts_come_out_as_they_went_in(void)
{
	for (size_t bytes = 0; bytes < 190; bytes++) {
		text_is_kept(bytes, 0);
		text_is_kept(bytes, 1);
	}
}

/* --- writers and a reader at once */

static _Atomic int ends;
static int is_common;

static void *write_many(void *arg)
{
	size_t n = test_scaled(200000);

	(void)arg;
	for (size_t i = 0; i < n; i++) {
		/* The number in the ring is not known here: a word for all three. */
		uint64_t x = i * 2654435761u;

		if (is_common)
			wefti_record_put_common(&writer, what(WEFTI_EVENT_MARK,
							      (uint32_t)x), x, x, x, NULL);
		else
			wefti_record_put(&writer, what(WEFTI_EVENT_MARK, (uint32_t)x), x,
					 x, x);
	}
	fetch_add_seq_cst(&ends, 1);
	return NULL;
}

/* Returns how many whole events it has seen. */
static uint64_t read_until(int writers)
{
	struct wefti_record_event e;
	uint64_t whole = 0;

	while (load_seq_cst(&ends) < writers) {
		uint64_t n = load_relaxed(&ring.count);

		for (unsigned i = 1; i <= EVENTS && i <= n; i++) {
			if (!wefti_record_get(&writer, n - i, &e))
				continue;
			whole++;
			CU_ASSERT_TRUE_FATAL(e.time == e.thread && e.time == e.arg &&
					     e.detail == (e.time & 0xffffff));
		}
	}
	return whole;
}

static void whole_events(int writers)
{
	pthread_t id[4];
	uint64_t whole;

	begin(0);
	store_seq_cst(&ends, 0);
	is_common = writers > 1;
	for (int i = 0; i < writers; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&id[i], NULL, write_many, NULL), 0);
	whole = read_until(writers);
	for (int i = 0; i < writers; i++)
		pthread_join(id[i], NULL);
	printf("    %llu whole events, %llu lost\n", (unsigned long long)whole,
	       (unsigned long long)load_relaxed(&ring.lost));
	CU_ASSERT_EQUAL(load_relaxed(&ring.count), writers * test_scaled(200000));
}

static void a_reader_sees_no_torn_event(void)
{
	whole_events(1);
	whole_events(4);
}

static const struct test_case cases[] = {
	TEST(the_last_events_are_there),
	TEST(numbers_may_wrap),
	TEST(an_empty_ring_has_no_event),
	TEST(an_event_that_is_being_written_is_not_there),
	TEST(a_slot_of_a_stopped_writer_loses_events_of_others),
	TEST(a_late_writer_does_not_replace_a_later_event),
	TEST(texts_come_out_as_they_went_in),
	TEST(a_reader_sees_no_torn_event),
};

TEST_MAIN("record/events", cases)
