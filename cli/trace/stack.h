/* SPDX-License-Identifier: MIT */
/* cli/trace/stack.h - the calls in an event's stack, as text */
#ifndef WEFT_CLI_TRACE_STACK_H
#define WEFT_CLI_TRACE_STACK_H

#include "trace/recording.h"

struct profile_files;

/*
 * The files of the process, for the names. NULL: this weft was built without libdw, or the
 * recording is not weft profile's.
 */
struct profile_files *trace_stack_open(const struct trace_recording *recording);
void trace_stack_close(struct profile_files *files);

#define TRACE_STACK_BYTES	2048u

/* "sell < clerk < run": what does not fit is left out. "": the event has no stack. */
const char *trace_stack_words(struct profile_files *files, const struct trace_event *e,
			      char text[TRACE_STACK_BYTES]);

#endif
