/* SPDX-License-Identifier: MIT */
/* mpi/look.h - which of the waiting threads are done; the lock is held in all calls */
#ifndef WEFT_MPI_LOOK_H
#define WEFT_MPI_LOOK_H

#include "wait.h"

/* w's look is called in each round. */
void wefti_mpi_to_looks(struct wefti_mpi_wait *w);

/* w leaves the place where it is looked at. */
void wefti_mpi_take_out(struct wefti_mpi_wait *w);

/*
 * Looks at the table, at the looks and for what is wanted, and calls wefti_mpi_done() for
 * each wait that is done. Returns how many are done. It looks at so many chunks of the table,
 * and goes on behind them at the next call; WEFTI_MPI_ALL_CHUNKS: at the whole table.
 */
#define WEFTI_MPI_ALL_CHUNKS	(~0u)
unsigned wefti_mpi_look(unsigned chunks);

/* A wait that is looked at, or NULL. */
struct wefti_mpi_wait *wefti_mpi_any_waiting(void);

#endif
