/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/room.h - memory that a call has while it waits
 *
 * A handler may leave the call by a jump. So the memory is in a list of the
 * thread's, which outlives that, and no handler runs on top of malloc(): a jump
 * would leave libc's lock taken. For green threads.
 */
#ifndef WEFT_PTHREAD_SIGNAL_ROOM_H
#define WEFT_PTHREAD_SIGNAL_ROOM_H

#include <stddef.h>
#include <stdint.h>

/* NULL: there is none. */
void *wefti_room_take(size_t bytes);

/* And what was taken since: by calls in handlers that were left. */
void wefti_room_give(void *room);

/* A jump goes to where this many were in use. They are freed by the next call. */
void wefti_rooms_left(uint32_t used);

/* The thread ends. */
void wefti_rooms_end(void);

#endif
