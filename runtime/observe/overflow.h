/* SPDX-License-Identifier: MIT */
/* observe/overflow.h - reports an overflow or a crash before the process is killed */
#ifndef WEFT_OBSERVE_OVERFLOW_H
#define WEFT_OBSERVE_OVERFLOW_H

#include <signal.h>

void wefti_overflow_start(void);
void wefti_overflow_stop(void);

/* If the kernel has our handler for the signal, *now becomes the program's. */
void wefti_overflow_hides(int signal, struct sigaction *now);

/*
 * The program sets this action. If the signal is one of ours and the action is the
 * default, the kernel gets our handler again, and 1 is returned.
 */
int wefti_overflow_takes(int signal, const struct sigaction *programs);

#endif
