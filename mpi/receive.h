/* SPDX-License-Identifier: MIT */
/* mpi/receive.h - receives that are asked for when their message has come */
#ifndef WEFT_MPI_RECEIVE_H
#define WEFT_MPI_RECEIVE_H

#include "wait.h"

/* The receives, of w's fields, of a blocking call. The lock is held. Returns as MPI does. */
int wefti_mpi_receive(struct wefti_mpi_wait *w, MPI_Request *request);

/*
 * Notes that w wants its message, if many threads wait and its receive has nothing special.
 * Returns 1 if it did; the caller then parks with WEFTI_MPI_WANTS. Else 0, and *error is
 * MPI_SUCCESS; or it is the call's result, for which the handler has been called.
 */
int wefti_mpi_want(struct wefti_mpi_wait *w, int *error);
void wefti_mpi_want_no_more(struct wefti_mpi_wait *w);

/*
 * One look for messages that are wanted. Returns how many waits were moved on, and counts
 * one more for each communicator where other threads are to run before the next look.
 */
unsigned wefti_mpi_look_for_wanted(void);

/* A thread that wants a message; NULL: there is none. */
struct wefti_mpi_wait *wefti_mpi_any_wanting(void);

/* With as many waiting threads; 0: never. MPI_Init() sets it by the settings. */
extern int wefti_mpi_want_from;

#endif
