/* SPDX-License-Identifier: MIT */
/*
 * observe/asked.h - another process asks for a dump, and gets it in its pipe
 *
 * It asks by the preemption signal, which a program without weft ignores, sent by
 * sigqueue() with this mark and the number of a descriptor. That is the reading end of
 * a pipe in the asking process. The observer opens the pipe through /proc: the kernel
 * allows this to the same user and to root, as it does the signal. `weft dump` asks in
 * this way.
 */
#ifndef WEFT_OBSERVE_ASKED_H
#define WEFT_OBSERVE_ASKED_H

#include <signal.h>
#include <stdint.h>

#define WEFTI_ASKED_MARK	0x77656674u	/* above the descriptor's 32 bits */

/*
 * Called in a handler. Returns 0 if the signal is something else; otherwise notes the
 * request.
 */
int wefti_asked_note(const siginfo_t *info);

/*
 * Called by the observer. A signal may be lost: a process without an answer asks again.
 */
void wefti_asked_answer(void);

#endif
