/* SPDX-License-Identifier: MIT */
/*
 * observe/profile.h - another process asks for stacks among the recorder's events
 *
 * It asks by the preemption signal, as for a recording (observe/recording.h), with another
 * mark. Below the mark is what it wants, as head.stacks has it (WEFTI_RECORD_STACKS); 0:
 * no more. The asking process asks again before WEFTI_RECORDING_LEASE_MS is over. The
 * signal may be lost. The asking process sees in head.stacks that it was not. If two
 * processes ask, the last one counts for both.
 */
#ifndef WEFT_OBSERVE_PROFILE_H
#define WEFT_OBSERVE_PROFILE_H

#include <signal.h>
#include <stdint.h>

#define WEFTI_PROFILE_MARK	0x77667066u

/*
 * Called in a handler. Returns 0 if the signal is something else; otherwise notes the
 * request.
 */
int wefti_profile_note(const siginfo_t *info);

/* Called by the observer, as wefti_recording_answer(). */
int64_t wefti_profile_answer(void);

/* Nobody has asked: at a stop of the runtime. */
void wefti_profile_stop(void);

/* The same in the child of a fork. No timer there is one of ours. */
void wefti_profile_forget(void);

#endif
