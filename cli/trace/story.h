/* SPDX-License-Identifier: MIT */
/* cli/trace/story.h - what the events of a recording mean, told to a writer */
#ifndef WEFT_CLI_TRACE_STORY_H
#define WEFT_CLI_TRACE_STORY_H

#include "trace/recording.h"
#include "trace/writer.h"

/* Returns 0, or -1 without memory. Errors of the file are left to the caller. */
int trace_tell(struct trace_recording *recording, struct trace_writer *writer);

/* One line for each event. */
int trace_text(struct trace_recording *recording, FILE *file);

#endif
