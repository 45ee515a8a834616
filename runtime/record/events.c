/* SPDX-License-Identifier: MIT */
/* record/events.c - events into the common ring, texts, stacks, and events out of any ring */
#include "record/events.h"

#include <string.h>

/* The next `count` numbers of a ring with several writers. */
static uint64_t reserve(struct wefti_record_writer *w, unsigned count)
{
	return fetch_add_relaxed(&w->ring->count, (uint64_t)count);
}

/* EMPTY, WHOLE -> WHOLE, or lost: a stopped writer has the slot, or a later event. */
static void put_shared(struct wefti_record_writer *w, uint64_t n, uint64_t what,
		       uint64_t time, uint64_t thread, uint64_t arg)
{
	struct wefti_event *e = &w->events[n & w->mask];
	uint64_t word = load_relaxed(&e->word);
	int32_t ahead = (int32_t)(WEFTI_EVENT_NUMBER(word) - (uint32_t)(n + 1));

	if ((word && (ahead >= 0 || WEFTI_EVENT_KIND(word) == WEFTI_EVENT_NONE)) ||
	    !cas_acquire(&e->word, &word, (uint64_t)(uint32_t)(n + 1) << 32)) { /* P3 */
		fetch_add_relaxed(&w->ring->lost, 1);
		return;
	}
	wefti_record_fill(e, n, what, time, thread, arg);
}

/* Part number i of a text, as the three words of a TEXT event. */
static uint64_t text_part(const char *text, size_t bytes, unsigned i, uint64_t words[3])
{
	size_t from = (size_t)i * WEFTI_RECORD_TEXT_BYTES;
	size_t n = bytes - from < WEFTI_RECORD_TEXT_BYTES ? bytes - from :
							    WEFTI_RECORD_TEXT_BYTES;

	memset(words, 0, WEFTI_RECORD_TEXT_BYTES);
	memcpy(words, text + from, n);
	return wefti_record_what(WEFTI_EVENT_TEXT, (uint32_t)n);
}

static unsigned parts(const char *text, size_t *bytes)
{
	*bytes = text ? strnlen(text, WEFTI_RECORD_TEXT_MOST) : 0;
	return (unsigned)((*bytes + WEFTI_RECORD_TEXT_BYTES - 1) /
			  WEFTI_RECORD_TEXT_BYTES);
}

void wefti_record_put_common(struct wefti_record_writer *w, uint64_t what, uint64_t time,
			     uint64_t thread, uint64_t arg, const char *text)
{
	size_t bytes;
	unsigned count = parts(text, &bytes);
	uint64_t n = reserve(w, 1 + count), words[3];

	put_shared(w, n, what, time, thread, arg);
	for (unsigned i = 0; i < count; i++) {
		what = text_part(text, bytes, i, words);
		put_shared(w, n + 1 + i, what, words[0], words[1], words[2]);
	}
}

void wefti_record_put_text(struct wefti_record_writer *w, uint64_t what, uint64_t time,
			   uint64_t thread, uint64_t arg, const char *text)
{
	size_t bytes;
	unsigned count = parts(text, &bytes);
	uint64_t words[3];

	wefti_record_put(w, what, time, thread, arg);
	for (unsigned i = 0; i < count; i++) {
		what = text_part(text, bytes, i, words);
		wefti_record_put(w, what, words[0], words[1], words[2]);
	}
}

/* Part number i of a stack, as the three words of a STACK event. */
static uint64_t stack_part(const uint64_t *from, unsigned count, unsigned i,
			   uint64_t words[3])
{
	const unsigned n = count - 3 * i < 3 ? count - 3 * i : 3;

	for (unsigned j = 0; j < 3; j++)
		words[j] = j < n ? from[3 * i + j] : 0;
	return wefti_record_what(WEFTI_EVENT_STACK, n);
}

void wefti_record_put_words(struct wefti_record_writer *w, const uint64_t *from,
			    unsigned count)
{
	uint64_t words[3];

	for (unsigned i = 0; 3 * i < count; i++) {
		const uint64_t what = stack_part(from, count, i, words);

		wefti_record_put(w, what, words[0], words[1], words[2]);
	}
}

void wefti_record_put_common_words(struct wefti_record_writer *w, uint64_t what,
				   uint64_t time, uint64_t thread, uint64_t arg,
				   const uint64_t *from, unsigned count)
{
	uint64_t n = reserve(w, 1 + (count + 2) / 3), words[3];

	put_shared(w, n, what, time, thread, arg);
	for (unsigned i = 0; 3 * i < count; i++) {
		what = stack_part(from, count, i, words);
		put_shared(w, n + 1 + i, what, words[0], words[1], words[2]);
	}
}

int wefti_record_get(const struct wefti_record_writer *w, uint64_t n,
		     struct wefti_record_event *event)
{
	struct wefti_event *e = &w->events[n & w->mask];
	uint64_t word = load_acquire(&e->word);		/* P2 */

	event->time = load_acquire(&e->time);		/* P1 */
	event->thread = load_acquire(&e->thread);	/* P1 */
	event->arg = load_acquire(&e->arg);		/* P1 */
	event->detail = WEFTI_EVENT_DETAIL(word);
	event->kind = (enum wefti_event_kind)WEFTI_EVENT_KIND(word);
	return load_relaxed(&e->word) == word && event->kind != WEFTI_EVENT_NONE &&
	       WEFTI_EVENT_NUMBER(word) == (uint32_t)(n + 1);
}
