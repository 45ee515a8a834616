/* SPDX-License-Identifier: MIT */
/* observe/overflow.h - a stack overflow is named before the signal kills */
#ifndef WEFT_OBSERVE_OVERFLOW_H
#define WEFT_OBSERVE_OVERFLOW_H

void wefti_overflow_start(void);
void wefti_overflow_stop(void);

#endif
