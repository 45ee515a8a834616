/* SPDX-License-Identifier: MIT */
/*
 * observe/recording.h - another process asks for events to be recorded
 *
 * It asks by the preemption signal, as for a dump (observe/asked.h), with another mark.
 * Below the mark stand how many MiB the recorder's memory shall have (16 bits; 0: the
 * usual), and for how many milliseconds to record (16 bits; 0: no more). The asking
 * process asks again before that time is over. So a process that nobody reads any more
 * stops to record, also if the reader was killed.
 *
 * Rejected: a pipe whose other end is the reader's. The process would have a descriptor
 * that its program does not know, for as long as it records. A request in words
 * (observe/requests.c) needs a file and a pipe for each renewal, and has no answer here.
 */
#ifndef WEFT_OBSERVE_RECORDING_H
#define WEFT_OBSERVE_RECORDING_H

#include <signal.h>
#include <stdint.h>

#define WEFTI_RECORDING_MARK	0x77667274u
#define WEFTI_RECORDING_LEASE_MS	5000u

/*
 * Called in a handler. Returns 0 if the signal is something else; otherwise notes the
 * request.
 */
int wefti_recording_note(const siginfo_t *info);

/*
 * Called by the observer, after a request and at the time that it last returned
 * (CLOCK_MONOTONIC, ns): records, or stops.
 */
int64_t wefti_recording_answer(void);

/* At a stop of the runtime, and in the child of a fork: nobody has asked. */
void wefti_recording_forget(void);

#endif
