/* SPDX-License-Identifier: MIT */
/* cli/trace/stack.c - the calls in an event's stack, as text */
#include "trace/stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

#if WEFT_HAS_PROFILE
#include "profile/profile.h"

struct profile_files *trace_stack_open(const struct trace_recording *recording)
{
	return recording->maps ? profile_files_open(recording->maps, recording->maps_bytes) :
				 NULL;
}

void trace_stack_close(struct profile_files *files)
{
	profile_files_close(files);
}

/* Returns how much of the text is used. */
static size_t add_call(struct profile_files *files, uint64_t pc, char *text, size_t used)
{
	struct profile_line lines[PROFILE_LINES_MOST];
	const size_t count = profile_lines(files, pc, lines);
	char call[256];

	for (size_t i = 0; i < count; i++) {
		const int n = lines[i].function ?
			      snprintf(call, sizeof(call), "%s", lines[i].function) :
			      snprintf(call, sizeof(call), "%#" PRIx64, pc);

		if (n < 0 || (size_t)n >= sizeof(call) ||
		    used + (size_t)n + sizeof(" < ") > TRACE_STACK_BYTES)
			return TRACE_STACK_BYTES;
		used += (size_t)sprintf(text + used, "%s%s", used ? " < " : "", call);
	}
	return used;
}

const char *trace_stack_words(struct profile_files *files, const struct trace_event *e,
			      char text[TRACE_STACK_BYTES])
{
	uint64_t pcs[PROFILE_FRAMES_MOST];
	const size_t depth = profile_unwind(files, e->stack, e->words,
					    e->kind != WEFTI_EVENT_RUN, pcs,
					    PROFILE_FRAMES_MOST);
	size_t used = 0;

	text[0] = 0;
	for (size_t i = 0; i < depth && used < TRACE_STACK_BYTES; i++)
		used = add_call(files, pcs[i], text, used);
	return weft_cli_clean(text, TRACE_STACK_BYTES);
}
#else
struct profile_files *trace_stack_open(const struct trace_recording *recording)
{
	(void)recording;
	return NULL;
}

void trace_stack_close(struct profile_files *files)
{
	(void)files;
}

const char *trace_stack_words(struct profile_files *files, const struct trace_event *e,
			      char text[TRACE_STACK_BYTES])
{
	const struct wefti_record_stack *stack = (const void *)e->stack;

	(void)files;
	text[0] = 0;
	if (e->words >= WEFTI_RECORD_STACK_WORDS)
		snprintf(text, TRACE_STACK_BYTES, "%#" PRIx64, stack->pc);
	return text;
}
#endif
