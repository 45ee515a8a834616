/* SPDX-License-Identifier: MIT */
/* pthread/schedule.h - policy and priority: kept and told, without effect */
#ifndef WEFT_PTHREAD_SCHEDULE_H
#define WEFT_PTHREAD_SCHEDULE_H

#include <pthread.h>

#include "pthread/self.h"

/* The first thread has what the process has. */
void wefti_schedule_begin(void);

/* What a new thread shall have. Leaves *to alone if attr inherits. An error. */
int wefti_schedule_read(const pthread_attr_t *attr, struct wefti_schedule *to);

#endif
