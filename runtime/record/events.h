/* SPDX-License-Identifier: MIT */
/*
 * record/events.h - events into the rings of the recorder's memory
 *
 * Structure
 *   A ring has events, each of four words, and `count`, the number of the next event.
 *   record/format.h has the layout, and how other processes read it. A VCPU's ring has
 *   one writer at a time, its owner, and the monitor's ring the monitor. The common ring
 *   has any number.
 *
 * States of an event's slot (its word: number | detail | kind)
 *   EMPTY    0
 *   WRITTEN  the number of event n, kind NONE: a writer sets the other words
 *   WHOLE    the number of event n, and a kind
 *
 *   EMPTY, WHOLE, WRITTEN of an earlier event --wefti_record_put--> WRITTEN --> WHOLE
 *   EMPTY, WHOLE of an earlier event --wefti_record_put_common: CAS--> WRITTEN --> WHOLE
 *   WRITTEN --a common writer that comes a lap later--> the same; its event is lost
 *
 * Writers
 *   event.arg  wefti_record_fill
 *   event.thread  wefti_record_fill
 *   event.time  wefti_record_fill
 *   event.word  wefti_record_fill, wefti_record_put, put_shared
 *   record_ring.count  wefti_record_put, reserve
 *   record_ring.lost  put_shared
 *
 * Invariants
 *   I1  Event n of a ring is only ever written into slot n modulo the ring's size.
 *   I2  A slot in state WRITTEN has one writer, which alone makes it WHOLE. In a VCPU's
 *       ring that is the VCPU's owner, in the monitor's the monitor. In the common ring it
 *       is the thread whose CAS made it WRITTEN.
 *   I3  The words of one event are all stored between its WRITTEN and its WHOLE.
 *   I4  A writer follows nothing that it reads in the shared memory: the count is
 *       masked. So another process that scribbles there spoils the recording, and
 *       nothing else.
 *
 * Linearization
 *   put: at the store of WHOLE. put_common: the same; an event that is lost does not
 *   take place. A read of a whole event: at its first load of the word. A read that
 *   finds the event torn or overwritten does not linearize. `count` is a hint: it may
 *   be ahead of the events, and in the common ring always is while writers write.
 *
 * Progress
 *   Writers are wait-free, and a reader changes nothing. A writer that is stopped or
 *   killed anywhere delays no other. A VCPU's ring has no other writer until the VCPU has
 *   another owner, which goes on with the next number. In the common ring one slot stays
 *   WRITTEN, and each lap loses the event that would be there.
 *
 * ABA and reclamation
 *   The memory stays until the process ends. An event's number has 32 bits. A reader
 *   that sleeps inside one event for exactly 2^32 events of the ring takes parts of two
 *   for one; we accept that. WRITTEN of the last of 2^32 numbers, which is 0, looks like
 *   EMPTY. In the common ring a writer that is stopped in just this event for a lap, and
 *   then goes on, may spoil the event that has come in its place. We accept that, too.
 *
 * Pairs
 *   P1  a word of an event is stored  ->  a reader's load: the word WRITTEN of that
 *       event. So a reader that has a part of a later event finds another word at its
 *       second load
 *   P2  WHOLE is stored  ->  a reader's first load: all words of the event
 *   P3  WHOLE is stored  ->  the CAS of a common writer a lap later: its stores come
 *       after those of the earlier event
 *   Model: tests/model/loom/c/record.c; tests/unit/record/test_events_stall.c.
 *
 * Source
 *   A seqlock in each event, as H. Boehm writes it ("Can seqlocks get along with
 *   programming language memory models?", 2012), with release stores in place of its
 *   fence. Rejected: one seqlock or one count for a ring. A reader then needs the
 *   writer to go on, and a file that ends in the middle cannot be read.
 */
#ifndef WEFT_RECORD_EVENTS_H
#define WEFT_RECORD_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "record/format.h"

/* Where one ring is. Zero-filled: there is none. */
struct wefti_record_writer {
	struct wefti_event *events;
	struct wefti_record_ring *ring;
	uint64_t mask;		/* events - 1 */
};

/* WRITTEN -> WHOLE: the words of event n, in this order. */
static ALWAYS_INLINE void wefti_record_fill(struct wefti_event *e, uint64_t n,
		uint64_t what, uint64_t time, uint64_t thread, uint64_t arg)
{
	store_release(&e->time, time);		/* P1 */
	store_release(&e->thread, thread);	/* P1 */
	store_release(&e->arg, arg);		/* P1 */
	store_release(&e->word, (uint64_t)(uint32_t)(n + 1) << 32 | what);	/* P2, P3 */
}

/* What an event is: the lower half of its word. */
static inline uint64_t wefti_record_what(enum wefti_event_kind kind, uint32_t detail)
{
	return WEFTI_EVENT_WORD(0, detail, kind);
}

/* EMPTY, WHOLE, WRITTEN -> WHOLE, in a ring of which the caller is the only writer. */
static ALWAYS_INLINE void wefti_record_put(struct wefti_record_writer *w, uint64_t what,
		uint64_t time, uint64_t thread, uint64_t arg)
{
	uint64_t n = load_relaxed(&w->ring->count);
	struct wefti_event *e = &w->events[n & w->mask];

	store_relaxed(&e->word, (uint64_t)(uint32_t)(n + 1) << 32);
	wefti_record_fill(e, n, what, time, thread, arg);
	store_relaxed(&w->ring->count, n + 1);
}

/*
 * The same in a ring with several writers. `text` may be NULL; else it follows the event
 * in TEXT events, up to WEFTI_RECORD_TEXT_MOST bytes.
 */
void wefti_record_put_common(struct wefti_record_writer *w, uint64_t what, uint64_t time,
			     uint64_t thread, uint64_t arg, const char *text);

/* An event and its text, in a ring of which the caller is the only writer. */
void wefti_record_put_text(struct wefti_record_writer *w, uint64_t what, uint64_t time,
			   uint64_t thread, uint64_t arg, const char *text);

/*
 * STACK events behind the last one, in a ring of which the caller is the only writer. All
 * calls but the last for one stack have a multiple of 3 words.
 */
void wefti_record_put_words(struct wefti_record_writer *w, const uint64_t *words,
			    unsigned count);

/* An event with a stack, in a ring with several writers. */
void wefti_record_put_common_words(struct wefti_record_writer *w, uint64_t what,
				   uint64_t time, uint64_t thread, uint64_t arg,
				   const uint64_t *words, unsigned count);

#define WEFTI_RECORD_TEXT_BYTES	24u	/* in one event */
#define WEFTI_RECORD_TEXT_MOST	120u	/* a longer text is cut off */

struct wefti_record_event {
	uint64_t time, thread, arg;
	uint32_t detail;
	enum wefti_event_kind kind;
};

/*
 * Event number n of a ring. Returns 1 if it is whole; 0 if it is not there yet, was
 * overwritten, or is being written. From any thread, also another process's.
 */
int wefti_record_get(const struct wefti_record_writer *w, uint64_t n,
		     struct wefti_record_event *event);

#endif
