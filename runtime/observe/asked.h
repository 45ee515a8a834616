/* SPDX-License-Identifier: MIT */
/*
 * observe/asked.h - another process asks for something, and gets it in its pipe
 *
 * It asks by the preemption signal, which a program without weft ignores, sent by
 * sigqueue() with a value of these fields:
 *
 *   63..32  WEFTI_ASKED_MARK
 *   31..16  the number of the request's descriptor; 0: a dump is asked for
 *   15..0   the number of the answer's descriptor
 *
 * Both are descriptors of the asking process. The first is a regular file that contains
 * the request: a word, and what the word needs (observe/requests.c). The second is an
 * end of a pipe. The observer opens both through /proc: the kernel allows this to the
 * same user and to root, as it does the signal. The commands `weft dump` and `weft stat`
 * ask in this way.
 *
 * The sender chooses what the signal says, the asking process's number included. So a
 * program with more privileges than its caller (AT_SECURE) answers nobody: the caller may
 * send it signals, and would have it open and write what only the program may.
 *
 * An older weft takes the lower 32 bits for the answer's descriptor. It finds none of
 * that number and gives no answer, so the asking process then asks it for a dump.
 *
 * Rejected: the request in the pipe itself. A process whose signal is late would read
 * its own answer as a request.
 */
#ifndef WEFT_OBSERVE_ASKED_H
#define WEFT_OBSERVE_ASKED_H

#include <signal.h>
#include <stdint.h>

#define WEFTI_ASKED_MARK	0x77656674u
#define WEFTI_ASKED_FDS		0x8000	/* descriptors have lower numbers than this */
#define WEFTI_ASKED_MOST	256	/* bytes of a request, with its NUL */

/* What an answer begins with if the word is not known. */
#define WEFTI_ASKED_UNKNOWN	"weft: unknown request"

static inline uint64_t wefti_asked_value(int request, int answer)
{
	return (uint64_t)WEFTI_ASKED_MARK << 32 | (uint32_t)request << 16 |
	       (uint32_t)answer;
}

/*
 * Called in a handler. Returns 0 if the signal is something else; otherwise notes the
 * request.
 */
int wefti_asked_note(const siginfo_t *info);

/*
 * Called by the observer. A signal may be lost: a process without an answer asks again.
 */
void wefti_asked_answer(void);

/*
 * At a start of the runtime: nobody has asked. It may be the start in the child of a
 * fork, and the reader is the parent's. Or its numbers may be another process's by now.
 */
void wefti_asked_forget(void);

#endif
