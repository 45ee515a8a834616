/* SPDX-License-Identifier: MIT */
/* mpi/lock.h - the one lock: MPI's calls of the library, and its lists of waiters */
#ifndef WEFT_MPI_LOCK_H
#define WEFT_MPI_LOCK_H

/*
 * A thread that finds it locked parks. The owner does not park. In a native program it is
 * not preempted. With threads of pthread.h it is not cancelled, because MPI may call a
 * cancellation point.
 */
void wefti_mpi_lock(void);
void wefti_mpi_unlock(void);

/* The caller owns the lock, and stays on hold behind it. As wefti_mpi_hold(). */
int wefti_mpi_hold_locked(void);

/*
 * Unlocks at the end of a call that does not wait. A thread that only makes such calls is
 * nearly always the owner, and is not preempted. So it yields every millisecond.
 */
void wefti_mpi_leave_quick(void);

/*
 * Is the caller the owner? MPI may call a function of the program (a handler of errors, an
 * operation) that calls MPI again.
 */
int wefti_mpi_lock_is_mine(void);

/* The child of a fork has only the caller. */
void wefti_mpi_lock_forget(void);

#endif
