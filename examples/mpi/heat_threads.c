/* SPDX-License-Identifier: MIT */
/*
 * heat_threads.c - a thread for each block, with blocking calls of MPI
 *
 * A neighbour in the same rank says by a semaphore that it has done a sweep. A
 * neighbour in another rank says so by the message that its row comes in.
 */
#include "heat.h"

enum side { NORTH, WEST, SOUTH, EAST, SIDES };

struct part {
	const struct heat *heat;
	struct heat_block block;
	struct part *neighbour[SIDES];	/* in this rank; NULL: none */
	struct either_sem done[SIDES];	/* sweeps of theirs, not yet used */
	either_thread thread;
};

const char heat_kind[] = "a thread for each block, " EITHER_NAME;

static void wait_for_neighbours(struct part *p, int sweep)
{
	for (int side = 0; side < SIDES; side++)
		if (p->neighbour[side])
			ranks_check(either_sem_wait(&p->done[side]), "wait");
	if (heat_is_first(p->heat, &p->block))
		heat_receive_from_above(p->heat, &p->block);
	/* Both ranks know the temperatures of the beginning. */
	if (heat_is_last(p->heat, &p->block) && sweep > 0)
		heat_receive_from_below(p->heat, &p->block);
}

static void tell_neighbours(struct part *p, int sweep)
{
	/* The south side of one is the north side of the other. */
	for (int side = 0; side < SIDES; side++)
		if (p->neighbour[side])
			ranks_check(either_sem_post(&p->neighbour[side]->done[
					(side + 2) % SIDES]), "post");
	/* The last sweep's row would be received by nobody. */
	if (heat_is_first(p->heat, &p->block) && sweep < p->heat->sweeps - 1)
		heat_send_up(p->heat, &p->block);
	if (heat_is_last(p->heat, &p->block))
		heat_send_down(p->heat, &p->block);
}

static void *run_part(void *arg)
{
	struct part *p = arg;

	for (int sweep = 0; sweep < p->heat->sweeps; sweep++) {
		wait_for_neighbours(p, sweep);
		heat_sweep(p->heat, &p->block);
		tell_neighbours(p, sweep);
	}
	return NULL;
}

static void make_parts(const struct heat *h, struct part *part)
{
	int rows = h->last - h->first;

	for (int i = 0; i < rows * h->columns; i++) {
		struct part *p = &part[i];
		int row = i / h->columns, column = i % h->columns;

		p->heat = h;
		p->block = heat_block(h, h->first + row, column);
		if (row > 0)
			p->neighbour[NORTH] = p - h->columns;
		if (row < rows - 1)
			p->neighbour[SOUTH] = p + h->columns;
		if (column > 0)
			p->neighbour[WEST] = p - 1;
		if (column < h->columns - 1)
			p->neighbour[EAST] = p + 1;
		/* "Sweep -1", in the south and east, is done. */
		for (int side = 0; side < SIDES; side++)
			ranks_check(either_sem_init(&p->done[side],
						    side >= SOUTH), "semaphore");
	}
}

void heat_run(const struct heat *h)
{
	size_t count = (size_t)(h->last - h->first) * (size_t)h->columns;
	struct part *part = ranks_memory(count, sizeof(*part));

	make_parts(h, part);
	for (size_t i = 0; i < count; i++)
		ranks_check(either_spawn(&part[i].thread, run_part, &part[i]),
			    "spawn");
	for (size_t i = 0; i < count; i++)
		ranks_check(either_join(part[i].thread, NULL), "join");
	free(part);
}
