/* SPDX-License-Identifier: MIT */
/* observe/trace.h - the recorder is switched on at a start, and off at a stop */
#ifndef WEFT_OBSERVE_TRACE_H
#define WEFT_OBSERVE_TRACE_H

#include <stdint.h>

/*
 * Called by the thread that starts the runtime, while it is the only one. bytes: as for
 * weft_trace_start(). Returns what that returns.
 */
int wefti_recorder_begin(uint64_t bytes);

/* weft_trace_start() for another process, by the observer, which is no thread. */
int wefti_recorder_asked(uint64_t bytes);

/* Called by weft_stop(), when no other thread is left. */
void wefti_recorder_end(void);

/* weft_trace_write() by the observer, for a file that does not make it wait. */
int wefti_recorder_save(int fd);

/* Called in the child of a fork: nothing is recorded, and the memory is not its own. */
void wefti_recorder_forget(void);

#endif
