/* SPDX-License-Identifier: MIT */
/* observe/marks.h - the program's marks that have begun, for dumps */
#ifndef WEFT_OBSERVE_MARKS_H
#define WEFT_OBSERVE_MARKS_H

#include <stdint.h>

#include "observe/out.h"

/* By the thread with this id, while events are recorded. */
void wefti_marks_begin(uint64_t id, const char *text);
void wefti_marks_end(uint64_t id);

/* Recording begins: what began earlier has no known end. */
void wefti_marks_clear(void);

/*
 * A line with the marks that have begun and not ended in the thread, the outermost first;
 * while events are recorded.
 */
void wefti_marks_tell(struct wefti_out *o, uint64_t id);

#endif
