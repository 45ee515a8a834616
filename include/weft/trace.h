/* SPDX-License-Identifier: MIT */
/* weft/trace.h - the recorder: what ran where, what waited for what, and since when */
#ifndef WEFT_TRACE_H
#define WEFT_TRACE_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * weft_trace_start - record what the threads do from now on
 *
 *   bytes  how much memory the events may take, all VCPUs together; 0: 1 MiB for each
 *          VCPU, and 2 MiB more
 *
 * Each VCPU writes its events into a ring of its own. Events are switches, waits,
 * wake-ups, steals, blocked calls and the program's own marks. A full ring goes on at
 * its beginning, so the rings always hold the last events. WEFT_TRACE=flight does the
 * same from weft_start() on.
 *
 * The memory is made by the first call, and stays until the process ends. Later calls
 * use it again, whatever size they ask for. Other processes of the same user can read
 * it, as they can trace the process; no file is made.
 *
 * Returns 0, else
 *   -EALREADY  events are being recorded
 *   -EBUSY     another thread is in a call of this function or of weft_trace_stop()
 *   -EFBIG     the events' memory would be above the limit for files (RLIMIT_FSIZE)
 *   -EINVAL    the runtime was started again, with more VCPUs than the memory has rings
 *   -ENOMEM    no memory
 *   -ENOSYS    the kernel has no memfd_create(2), or refuses it; other errors of it
 *   -ESRCH     the runtime is not running
 *
 * Blocks     the kernel thread, for some milliseconds in the first call.
 * Since      0.2
 */
WEFT_API WEFT_MUST_USE int weft_trace_start(uint64_t bytes);

/*
 * weft_trace_stop - record nothing any more
 *
 * The events stay, and can be written. A thread that is writing an event at this moment
 * still completes the event.
 *
 * Returns 0, else
 *   -EALREADY  nothing is recorded
 *   -EBUSY     another thread is in a call of this function or of weft_trace_start()
 *   -ESRCH     the runtime is not running
 *
 * Blocks     never.
 * Since      0.2
 */
WEFT_API int weft_trace_stop(void);

/*
 * weft_trace_write - write the events that the rings hold
 *
 *   fd  the descriptor to write to
 *
 * Writes the recorder's memory as it is. Events may be recorded meanwhile: an event that
 * is overwritten while it is copied is recognised by the reader, and left out.
 *
 * Returns 0, else
 *   -ENODATA  weft_trace_start() was never called
 *   another negative errno value: what write(2) has said. A part may have been written.
 *
 * Blocks     the kernel thread while it writes.
 * Since      0.2
 */
WEFT_API WEFT_MUST_USE int weft_trace_write(int fd);

/*
 * weft_trace_mark, weft_trace_begin, weft_trace_end - the program's own events
 *
 *   text  what happened, or begins; the first 120 bytes are kept. Copied.
 *
 * A mark is one moment. A begin and its end are a time in the calling thread. Such times
 * nest: each end belongs to the last begin that has no end yet. While nothing is
 * recorded, a call costs a load and a branch. While events are recorded, a dump shows
 * what has begun in each thread: four texts at most, by their first 24 bytes.
 *
 * Blocks     never.
 * Progress   wait-free.
 * Not for    signal handlers.
 * Since      0.2
 */
WEFT_API void weft_trace_mark(const char *text);
WEFT_API void weft_trace_begin(const char *text);
WEFT_API void weft_trace_end(void);

#ifdef __cplusplus
}
#endif
#endif
