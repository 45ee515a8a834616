/* SPDX-License-Identifier: MIT */
/* observe/overflow.h - a stack overflow is named before the signal kills */
#ifndef WEFT_OBSERVE_OVERFLOW_H
#define WEFT_OBSERVE_OVERFLOW_H

#include <signal.h>

void wefti_overflow_start(void);
void wefti_overflow_stop(void);

/* Of what the kernel has for it, the program's, if that is ours. */
void wefti_overflow_hides(int signal, struct sigaction *now);

/*
 * The program sets that. Returns 1 if it is the default, and one that is looked at here:
 * then the kernel has ours again.
 */
int wefti_overflow_takes(int signal, const struct sigaction *programs);

#endif
