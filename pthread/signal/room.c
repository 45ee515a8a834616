/* SPDX-License-Identifier: MIT */
/* pthread/signal/room.c - memory that a call needs while it waits */
#include "pthread/signal/room.h"

#include <stdlib.h>

#include "pthread/core/self.h"
#include "pthread/signal/signal.h"

struct wefti_room {
	struct wefti_room *below;
	uint32_t number;	/* of rooms in use, this one included */
	max_align_t bytes[];
};

static void free_unused(void)
{
	while (wefti_pt.room && wefti_pt.room->number > wefti_pt.rooms_used) {
		struct wefti_room *r = wefti_pt.room;

		wefti_pt.room = r->below;
		free(r);
	}
}

void *wefti_room_take(size_t bytes)
{
	uint64_t mask = wefti_signals_hold();
	struct wefti_room *r;

	free_unused();
	r = malloc(sizeof(*r) + bytes);
	if (r) {
		r->below = wefti_pt.room;
		r->number = ++wefti_pt.rooms_used;
		wefti_pt.room = r;
	}
	wefti_signals_set_mask(mask);
	return r ? r->bytes : NULL;
}

void wefti_room_give(void *room)
{
	uint64_t mask = wefti_signals_hold();
	const struct wefti_room *r = (const struct wefti_room *)
		((const char *)room - offsetof(struct wefti_room, bytes));

	wefti_pt.rooms_used = r->number - 1;
	free_unused();
	wefti_signals_set_mask(mask);
}

void wefti_rooms_left(uint32_t used)
{
	if (wefti_pt.rooms_used > used)
		wefti_pt.rooms_used = used;
}

void wefti_rooms_end(void)
{
	wefti_pt.rooms_used = 0;
	free_unused();
}
