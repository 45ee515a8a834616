/* SPDX-License-Identifier: MIT */
/* life/life.h - what spawn, exit and join share */
#ifndef WEFT_LIFE_LIFE_H
#define WEFT_LIFE_LIFE_H

#include "sched/vcpu.h"

/* Ends self, whose function is done; on the way its post-switch action. */
_Noreturn void wefti_exit(struct wefti_thread *self, void *result);

/* The id of a thread that has ended stops being valid; its memory is free. */
void wefti_release(struct wefti_vcpu *v, struct wefti_thread *t);

/* Runs the destructors of self's keys. */
void wefti_keys_destroy(struct wefti_thread *self);

/* Threads that are spawned and not yet released, without main. */
uint64_t wefti_threads_alive(void);

#endif
