/* SPDX-License-Identifier: MIT */
/* explore/tell_race.c - a data race in words: two accesses, each with its calls */
#include "race.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "real.h"

#define FRAMES_MOST	12u

__attribute__((format(printf, 2, 3)))
static void add(char text[WEFTI_EX_RACE_TEXT], const char *format, ...)
{
	const size_t length = strlen(text);
	va_list list;

	va_start(list, format);
	vsnprintf(text + length, WEFTI_EX_RACE_TEXT - length, format, list);
	va_end(list);
}

static const char *does(uint32_t kind)
{
	static const char *const words[] = {
		[WEFTI_EX_LOADS] = "reads", [WEFTI_EX_STORES] = "writes",
		[WEFTI_EX_ATOMIC_LOADS] = "reads atomically",
		[WEFTI_EX_ATOMIC_STORES] = "changes atomically",
	};

	return words[kind];
}

/* The frames of instrumented code; behind them is what has called main() or the thread. */
static void add_side(char *text, const struct wefti_ex_side *side)
{
	char name[WEFTI_EX_PLACE_TEXT];
	uint32_t stack = side->stack;
	const void *where = wefti_ex_stack_top(stack, &stack);

	add(text, "  thread %u %s, at %s\n", side->thread, does(side->kind),
	    wefti_ex_place_name(where, name));
	for (unsigned i = 0; i < FRAMES_MOST; i++) {
		where = wefti_ex_stack_top(stack, &stack);
		if (!where || !wefti_ex_is_instrumented(where))
			return;
		add(text, "    called at %s\n", wefti_ex_place_name(where, name));
	}
}

static int is_last(uint64_t key, uint64_t location)
{
	return (wefti_ex.race_to_end && key == wefti_ex.race_to_end) ||
	       (wefti_ex.location_to_end && location == wefti_ex.location_to_end);
}

void wefti_ex_tell_race(uint64_t key, const volatile void *at, size_t bytes,
			const struct wefti_ex_side *now, const struct wefti_ex_side *then)
{
	struct wefti_ex_report *r = wefti_ex.report;
	const void *variable = (const void *)(uintptr_t)at;
	const uint64_t location = wefti_ex_is_instrumented(variable) ?
				  wefti_ex_place(variable) : 0;
	char text[WEFTI_EX_RACE_TEXT] = "";

	add(text, "weft: data race: nothing orders two accesses to %zu byte%s at %p\n", bytes,
	    bytes == 1 ? "" : "s", variable);
	add_side(text, then);
	add_side(text, now);
	if (r->races < WEFTI_EX_RACES) {
		r->race[r->races].key = key;
		r->race[r->races].location = location;
		memcpy(r->race[r->races++].text, text, sizeof(text));
	}
	if (is_last(key, location)) {
		memcpy(r->text, text, sizeof(text));
		r->key = key;
		wefti_ex_end_run(WEFTI_EX_RACE);
	}
	if (wefti_ex.traces || !wefti_ex.is_watched)
		wefti_ex_put(text, strlen(text));
}
