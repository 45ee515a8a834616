/* SPDX-License-Identifier: MIT */
/* recorded_stacks.h - the stacks that the recorder's memory has, for tests */
#ifndef WEFT_TESTS_RECORDED_STACKS_H
#define WEFT_TESTS_RECORDED_STACKS_H

#include <string.h>

#include "record/memory.h"
#include "sched/stacks.h"
#include "threads.h"

#define MARK	UINT64_C(0x7765667473746163)	/* on the stack of a thread */

static struct {
	uint64_t runs, stacks, waits, sleeps, marked, samples, spawns, spawned_at, lost;
} seen;

/* The words of one stack, which are those of the events from n on. Returns how many. */
static inline unsigned read_stack(struct wefti_record_writer *w, uint64_t n, uint64_t *words,
			   unsigned most)
{
	struct wefti_record_event e;
	unsigned count = 0;

	for (; wefti_record_get(w, n, &e) && e.kind == WEFTI_EVENT_STACK; n++) {
		const uint64_t of[] = { e.time, e.thread, e.arg };

		for (unsigned i = 0; i < e.detail && count < most; i++)
			words[count++] = of[i];
	}
	return count;
}

/* spawned_at: stacks of spawns that have the mark. */
static inline void note_stack(struct wefti_record_writer *w, uint64_t n,
			      enum wefti_event_kind kind)
{
	static uint64_t words[WEFTI_RECORD_STACK_WORDS + WEFTI_STACK_BYTES_MOST / 8];
	const unsigned count = read_stack(w, n, words, sizeof(words) / 8);
	const struct wefti_record_stack *head = (const void *)words;

	if (count < WEFTI_RECORD_STACK_WORDS)
		return;
	seen.stacks++;
	seen.waits += (uint32_t)head->why;
	seen.sleeps += head->why >> 32 == WEFTI_WHY_SLEEP;
	CU_ASSERT_NOT_EQUAL(head->pc, 0);
	for (unsigned i = WEFTI_RECORD_STACK_WORDS; i < count; i++) {
		if (words[i] == MARK) {
			seen.marked++;
			seen.spawned_at += kind == WEFTI_EVENT_SPAWN;
			break;
		}
	}
}

/* Only what thread `id` did; 0: all. */
static inline void read_all(uint64_t id)
{
	memset(&seen, 0, sizeof(seen));
	for (unsigned i = 0; i < weft_vcpus() + WEFTI_RECORD_OTHERS; i++) {
		struct wefti_record_writer w = wefti_record_writer_of(i);
		const uint64_t count = load_acquire(&w.ring->count);
		struct wefti_record_event e;

		for (uint64_t n = count > w.mask ? count - w.mask : 0; n < count; n++) {
			if (!wefti_record_get(&w, n, &e)) {
				seen.lost++;
				continue;
			}
			if ((e.kind != WEFTI_EVENT_RUN && e.kind != WEFTI_EVENT_SAMPLE &&
			     e.kind != WEFTI_EVENT_SPAWN) || (id && e.thread != id))
				continue;
			seen.spawns += e.kind == WEFTI_EVENT_SPAWN;
			seen.runs += e.kind == WEFTI_EVENT_RUN;
			seen.samples += e.kind == WEFTI_EVENT_SAMPLE;
			note_stack(&w, n + 1, e.kind);
		}
	}
}

#endif
