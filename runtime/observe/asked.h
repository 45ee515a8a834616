/* SPDX-License-Identifier: MIT */
/*
 * observe/asked.h - another process asks for a dump, and is given it in its pipe
 *
 * By the preemption signal, which a program that is not weft's ignores, sent by
 * sigqueue() with this mark and the number of a descriptor: of the asking process, and
 * a pipe that it reads. Here that is opened by /proc: the kernel allows it to the same
 * user and to root, as it does the signal. weft dump asks so.
 */
#ifndef WEFT_OBSERVE_ASKED_H
#define WEFT_OBSERVE_ASKED_H

#include <signal.h>
#include <stdint.h>

#define WEFTI_ASKED_MARK	0x77656674u	/* above the descriptor's 32 bits */

/* In a handler: returns 0 if it is something else; else it is for the next. */
int wefti_asked_note(const siginfo_t *info);

/* By the observer. A signal may have been lost: who has no answer asks again. */
void wefti_asked_answer(void);

#endif
