/* SPDX-License-Identifier: MIT */
/*
 * heat_alone.c - one thread a rank: block after block, in the order of a sweep
 *
 * The row from below has its receive posted as soon as the last one has been
 * used. So no rank waits in a send for a rank that waits in a send.
 */
#include "heat.h"

const char heat_kind[] = "one thread a rank";

static void expect(const struct heat *h, const struct heat_block *b,
		   MPI_Request *below)
{
	ranks_must(MPI_Irecv(heat_row(h, b, b->height), b->width, MPI_DOUBLE,
			     ranks.rank + 1, b->column, MPI_COMM_WORLD, below),
		   "receive");
}

static void run_block(const struct heat *h, const struct heat_block *b,
		      int sweep, MPI_Request *below)
{
	if (heat_is_first(h, b))
		heat_receive_from_above(h, b);
	if (heat_is_last(h, b))
		ranks_must(MPI_Wait(below, MPI_STATUS_IGNORE), "wait");
	heat_sweep(h, b);
	if (heat_is_last(h, b)) {
		if (sweep < h->sweeps - 1)
			expect(h, b, below);
		heat_send_down(h, b);
	}
	if (heat_is_first(h, b) && sweep < h->sweeps - 1)
		heat_send_up(h, b);
}

void heat_run(const struct heat *h)
{
	MPI_Request *below = ranks_memory((size_t)h->columns, sizeof(*below));

	/* A wait for the null request returns at once. */
	for (int column = 0; column < h->columns; column++)
		below[column] = MPI_REQUEST_NULL;
	for (int sweep = 0; sweep < h->sweeps; sweep++)
		for (int row = h->first; row < h->last; row++)
			for (int column = 0; column < h->columns; column++) {
				struct heat_block b = heat_block(h, row, column);

				run_block(h, &b, sweep, &below[column]);
			}
	free(below);
}
