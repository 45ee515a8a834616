/* SPDX-License-Identifier: MIT */
/*
 * heat - the temperatures of a plate, by several ranks; heat.h says how
 *
 * mpirun -n RANKS heat [OPTION]... prints how long the sweeps took.
 */
#include <errno.h>
#include <getopt.h>

#include "heat.h"

struct heat_block heat_block(const struct heat *h, int row, int column)
{
	int top = heat_cut(h->side, h->rows, row);
	int left = heat_cut(h->side, h->columns, column);
	ptrdiff_t y = top - h->top + 1;

	return (struct heat_block){
		.row = row, .column = column,
		.corner = h->point + y * heat_stride(h) + left + 1,
		.height = heat_cut(h->side, h->rows, row + 1) - top,
		.width = heat_cut(h->side, h->columns, column + 1) - left,
	};
}

void heat_sweep(const struct heat *h, const struct heat_block *b)
{
	for (int y = 0; y < b->height; y++) {
		double *at = heat_row(h, b, y);
		const double *north = heat_row(h, b, y - 1);
		const double *south = heat_row(h, b, y + 1);

		for (int x = 0; x < b->width; x++)
			at[x] = 0.25 * (north[x] + at[x - 1] + at[x + 1] +
					south[x]);
	}
}

static void send_row(const struct heat_block *b, const double *row, int to)
{
	ranks_must(MPI_Send(row, b->width, MPI_DOUBLE, to, b->column,
			    MPI_COMM_WORLD), "send");
}

static void receive_row(const struct heat_block *b, double *row, int from)
{
	ranks_must(MPI_Recv(row, b->width, MPI_DOUBLE, from, b->column,
			    MPI_COMM_WORLD, MPI_STATUS_IGNORE), "receive");
}

void heat_send_up(const struct heat *h, const struct heat_block *b)
{
	send_row(b, heat_row(h, b, 0), ranks.rank - 1);
}

void heat_send_down(const struct heat *h, const struct heat_block *b)
{
	send_row(b, heat_row(h, b, b->height - 1), ranks.rank + 1);
}

void heat_receive_from_above(const struct heat *h, const struct heat_block *b)
{
	receive_row(b, heat_row(h, b, -1), ranks.rank - 1);
}

void heat_receive_from_below(const struct heat *h, const struct heat_block *b)
{
	receive_row(b, heat_row(h, b, b->height), ranks.rank + 1);
}

/* This rank's part of the plate: cold, with a hot edge in the north and east. */
static void make_plate(struct heat *h, int rank, int count)
{
	int stride = heat_stride(h), bottom;

	h->first = heat_cut(h->rows, count, rank);
	h->last = heat_cut(h->rows, count, rank + 1);
	h->top = heat_cut(h->side, h->rows, h->first);
	bottom = heat_cut(h->side, h->rows, h->last);
	h->height = bottom - h->top;
	h->point = ranks_memory((size_t)(h->height + 2) * (size_t)stride,
				sizeof(*h->point));
	for (int y = 0; y < h->height + 2; y++)
		h->point[(ptrdiff_t)y * stride + stride - 1] =
			(double)(h->top + y) / stride;
	for (int x = 0; x < stride && h->top == 0; x++)
		h->point[x] = 1;
}

/* The whole plate on rank 0, NULL on others; to be freed. */
static double *gather(const struct heat *h)
{
	size_t count = (size_t)h->side * (size_t)heat_stride(h);
	double *all = NULL;
	int *points = NULL, *places = NULL;
	int stride = heat_stride(h);

	if (ranks.rank == 0) {
		all = ranks_memory(count, sizeof(*all));
		points = ranks_memory((size_t)ranks.count, sizeof(*points));
		places = ranks_memory((size_t)ranks.count, sizeof(*places));
		for (int r = 0; r < ranks.count; r++) {
			int from = heat_cut(h->rows, ranks.count, r);
			int to = heat_cut(h->rows, ranks.count, r + 1);

			places[r] = heat_cut(h->side, h->rows, from) * stride;
			points[r] = heat_cut(h->side, h->rows, to) * stride -
				    places[r];
		}
	}
	ranks_must(MPI_Gatherv(h->point + stride, h->height * stride,
			       MPI_DOUBLE, all, points, places, MPI_DOUBLE, 0,
			       MPI_COMM_WORLD), "gather");
	free(points);
	free(places);
	return all;
}

/* The same without ranks, blocks and threads. */
static int is_right(const struct heat *h, const double *all)
{
	struct heat whole = { .side = h->side, .rows = 1, .columns = 1 };
	size_t points = (size_t)h->side * (size_t)heat_stride(h);
	struct heat_block b;
	int same;

	make_plate(&whole, 0, 1);
	b = heat_block(&whole, 0, 0);
	for (int sweep = 0; sweep < h->sweeps; sweep++)
		heat_sweep(&whole, &b);
	same = !memcmp(whole.point + heat_stride(h), all,
		       points * sizeof(*all));
	free(whole.point);
	return same;
}

static void write_plate(const struct heat *h, const double *all)
{
	size_t points = (size_t)h->side * (size_t)heat_stride(h);
	FILE *f = fopen(h->output, "wb");

	if (!f)
		ranks_die("%s: %s", h->output, strerror(errno));
	if (fwrite(all, sizeof(*all), points, f) != points || fclose(f))
		ranks_die("%s: cannot be written", h->output);
}

static void help(void)
{
	if (ranks.rank == 0)
		printf("Usage: mpirun -n RANKS heat [OPTION]...\n"
"Computes the temperatures of a plate by Gauss-Seidel sweeps. Each block of the\n"
"plate has a thread, or, in heat-alone, each rank has one thread.\n\n"
"  -n SIDE     points of the plate's side (1024)\n"
"  -r ROWS     rows of blocks, in all ranks (16)\n"
"  -c COLUMNS  columns of blocks (8)\n"
"  -s SWEEPS   (100)\n"
"  -o PATH     write the plate, as doubles\n"
"  -k          check: rank 0 computes all of it once more, and compares\n");
	ranks_stop();
}

static void parse(struct heat *h, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:r:c:s:o:kh")) != -1) {
		switch (c) {
		case 'n': h->side = ranks_number(optarg, 1, 30000); break;
		case 'r': h->rows = ranks_number(optarg, 1, 30000); break;
		case 'c': h->columns = ranks_number(optarg, 1, 30000); break;
		case 's': h->sweeps = ranks_number(optarg, 0, 1000000); break;
		case 'o': h->output = optarg; break;
		case 'k': h->check = 1; break;
		default: help(); exit(c == 'h' ? 0 : 2);
		}
	}
	if (h->rows > h->side || h->columns > h->side ||
	    h->rows < ranks.count)
		ranks_die("a block has a point, and a rank a row of blocks");
}

int main(int argc, char **argv)
{
	struct heat h = { .side = 1024, .rows = 16, .columns = 8,
			  .sweeps = 100 };
	int right = 1;
	double took, *all = NULL;

	ranks_start("heat", &argc, &argv);
	parse(&h, argc, argv);
	make_plate(&h, ranks.rank, ranks.count);
	ranks_must(MPI_Barrier(MPI_COMM_WORLD), "barrier");
	took = MPI_Wtime();
	heat_run(&h);
	ranks_must(MPI_Barrier(MPI_COMM_WORLD), "barrier");
	took = MPI_Wtime() - took;

	if (h.check || h.output)
		all = gather(&h);
	if (ranks.rank == 0) {
		printf("%s: %d ranks, %d x %d points, %d x %d blocks, "
		       "%d sweeps: %.4f s\n", heat_kind, ranks.count, h.side,
		       h.side, h.rows, h.columns, h.sweeps, took);
		if (h.output)
			write_plate(&h, all);
		right = !h.check || is_right(&h, all);
		if (h.check)
			printf("%s as one sweep after another\n",
			       right ? "the same" : "NOT the same");
	}
	free(all);
	free(h.point);
	ranks_stop();
	return !right;
}
