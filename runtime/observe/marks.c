/* SPDX-License-Identifier: MIT */
/*
 * observe/marks.c - the program's marks that have begun, for dumps
 *
 * While events are recorded, each weft_trace_begin() leaves the first bytes of its text
 * here, in its thread's place. While nothing is recorded, a mark costs a load and a branch
 * alone, and no end is seen. So a dump shows none then.
 *
 * Threads share a place if their slots have the same last bits. The one that began last has
 * it. All words are hints: a dump in the middle of a begin may show parts of two texts.
 *
 * Writers
 *   place.depth  wefti_marks_begin, wefti_marks_end
 *   place.id  wefti_marks_begin, wefti_marks_clear
 *   place.text  wefti_marks_begin
 *
 * Rejected: to look for the marks in the rings. A long mark's begin is overwritten there, and
 * a walk over all rings for each thread takes seconds where there are many.
 */
#include "observe/marks.h"

#include <string.h>

#include "base/shown.h"
#include "lockfree/atomic.h"
#include "sched/record.h"

#define PLACES	1024u	/* by the slot's last bits */
#define LEVELS	4u	/* deeper ones are counted, and not shown */
#define WORDS	3u

static struct place {
	_Atomic uint64_t id;	/* 0: none */
	_Atomic uint32_t depth;
	_Atomic uint64_t text[LEVELS][WORDS];
} places[PLACES] TABLE;

static struct place *place_of(uint64_t id)
{
	return &places[(uint32_t)id % PLACES];
}

void wefti_marks_begin(uint64_t id, const char *text)
{
	struct place *p = place_of(id);
	uint32_t depth = load_relaxed(&p->id) == id ? load_relaxed(&p->depth) : 0;
	uint64_t words[WORDS] = { 0 };

	if (depth < LEVELS) {
		memcpy(words, text, strnlen(text, sizeof(words)));
		for (unsigned i = 0; i < WORDS; i++)
			store_relaxed(&p->text[depth][i], words[i]);
	}
	store_relaxed(&p->depth, depth + 1);
	store_relaxed(&p->id, id);
}

void wefti_marks_end(uint64_t id)
{
	struct place *p = place_of(id);
	const uint32_t depth = load_relaxed(&p->depth);

	if (load_relaxed(&p->id) == id && depth)
		store_relaxed(&p->depth, depth - 1);
}

void wefti_marks_clear(void)
{
	for (unsigned i = 0; i < PLACES; i++)
		store_relaxed(&places[i].id, (uint64_t)0);
}

void wefti_marks_tell(struct wefti_out *o, uint64_t id)
{
	struct place *p = place_of(id);
	const uint32_t depth = wefti_records_any() && load_relaxed(&p->id) == id ?
			       load_relaxed(&p->depth) : 0;
	char text[WORDS * sizeof(uint64_t) + 1], shown[4 * sizeof(text)];

	for (unsigned i = 0; i < depth && i < LEVELS; i++) {
		for (unsigned j = 0; j < WORDS; j++) {
			const uint64_t word = load_relaxed(&p->text[i][j]);

			memcpy(text + j * sizeof(word), &word, sizeof(word));
		}
		text[sizeof(text) - 1] = 0;
		wefti_out(o, "%s \"%s\"", i ? "," : "    in its marks",
			  wefti_format_shown(shown, sizeof(shown), text));
	}
	if (depth)
		wefti_out(o, depth > LEVELS ? ", and more\n" : "\n");
}
