/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/room.h - memory that a call needs while it waits
 *
 * A handler may leave the call by a jump. So the memory is in a list of the thread, which
 * survives the jump. And no handler runs on top of malloc(): a jump from there would
 * leave libc's lock taken. For green threads.
 */
#ifndef WEFT_PTHREAD_SIGNAL_ROOM_H
#define WEFT_PTHREAD_SIGNAL_ROOM_H

#include <stddef.h>
#include <stdint.h>

/* NULL: out of memory. */
void *wefti_room_take(size_t bytes);

/* Also gives back what was taken after room, by calls in handlers that jumped away. */
void wefti_room_give(void *room);

/* A jump goes back to where `used` rooms were in use. The next call frees the others. */
void wefti_rooms_left(uint32_t used);

/* The thread ends. */
void wefti_rooms_end(void);

#endif
