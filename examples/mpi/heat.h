/* SPDX-License-Identifier: MIT */
/*
 * heat.h - a heated plate: the grid, its blocks, and what each block waits for
 *
 * The plate is a square of SIDE x SIDE points inside a frame of fixed
 * temperatures. A sweep sets each point to the mean of its four neighbours, row
 * by row and from left to right, in place (Gauss-Seidel). So a point sees this
 * sweep's value of its north and west neighbour and the last sweep's of its
 * south and east one.
 *
 * The plate is cut into blocks, and each rank has some rows of blocks. A block
 * may begin sweep t when its north and west neighbours have done sweep t, and
 * its south and east ones sweep t - 1. Each point is then computed from the
 * same four values as in one sweep over the whole plate, so the result is the
 * same in each bit. The rule also keeps a block from changing what a neighbour
 * has not read yet.
 *
 * Between ranks a block's outermost row travels as a message with the block's
 * column as its tag.
 */
#ifndef WEFT_EXAMPLES_MPI_HEAT_H
#define WEFT_EXAMPLES_MPI_HEAT_H

#include "ranks.h"

struct heat {
	int side;		/* points of the plate's side */
	int rows, columns;	/* of blocks, in all ranks */
	int sweeps;
	int check;		/* rank 0 computes all of it once more */
	const char *output;	/* a file for the plate; NULL: none */
	int first, last;	/* this rank's rows of blocks: first <= r < last */
	int top;		/* the first row's place in the plate */
	int height;		/* rows of points that this rank has */
	double *point;		/* height + 2 rows of side + 2 points */
};

/* A block, by its place in the whole plate. */
struct heat_block {
	int row, column;
	double *corner;		/* its first point */
	int height, width;
};

/* The boundary between parts i - 1 and i, of `parts` nearly equal ones. */
static inline int heat_cut(int all, int parts, int i)
{
	return (int)((long long)all * i / parts);
}

static inline int heat_stride(const struct heat *h)
{
	return h->side + 2;
}

struct heat_block heat_block(const struct heat *h, int row, int column);

/* One sweep over a block whose neighbours are where the rule wants them. */
void heat_sweep(const struct heat *h, const struct heat_block *b);

/* The block's outermost rows to and from the ranks above and below. */
static inline int heat_is_first(const struct heat *h,
				const struct heat_block *b)
{
	return b->row == h->first && b->row > 0;
}

static inline int heat_is_last(const struct heat *h, const struct heat_block *b)
{
	return b->row == h->last - 1 && b->row < h->rows - 1;
}

static inline double *heat_row(const struct heat *h,
			       const struct heat_block *b, int row)
{
	return b->corner + (ptrdiff_t)row * heat_stride(h);
}

void heat_send_up(const struct heat *h, const struct heat_block *b);
void heat_send_down(const struct heat *h, const struct heat_block *b);
void heat_receive_from_above(const struct heat *h, const struct heat_block *b);
void heat_receive_from_below(const struct heat *h, const struct heat_block *b);

/* All sweeps over this rank's blocks: heat_threads.c, or heat_alone.c. */
extern const char heat_kind[];
void heat_run(const struct heat *h);

#endif
