/* SPDX-License-Identifier: MIT */
/*
 * sched/park_by.h - in place of the runtime's, which switches: the thread is off
 * its stack when it calls post, and runs no more until it is made ready
 */
#ifndef WEFT_SCHED_PARK_BY_H
#define WEFT_SCHED_PARK_BY_H

#include "thread/wait.h"

enum wefti_cause wefti_park_by(struct wefti_thread *self, enum wefti_why why,
			       const void *object,
			       void (*post)(struct wefti_thread *self));

#endif
