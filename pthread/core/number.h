/* SPDX-License-Identifier: MIT */
/* pthread/core/number.h - the thread that a lock of the program's names as its owner */
#ifndef WEFT_PTHREAD_CORE_NUMBER_H
#define WEFT_PTHREAD_CORE_NUMBER_H

#include "thread/thread.h"

/*
 * The green thread with this wefti_pt_id(); NULL: there is none, or it is one of libc's. It
 * may end at any moment. Also for signal handlers.
 */
const struct wefti_thread *wefti_pt_by_number(int number);

#endif
