/* SPDX-License-Identifier: MIT */
/* mpi/call.h - how a call that stands in front of MPI's begins */
#ifndef WEFT_MPI_CALL_H
#define WEFT_MPI_CALL_H

#include "lock.h"
#include "lockfree/atomic.h"
#include "wait.h"

/* Open MPI 5 has sessions too, though it calls itself MPI 3.1. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define WEFTI_MPI_HAS_SESSIONS	1
#endif

#define WEFTI_MPI_EXPORT	__attribute__((visibility("default")))

/*
 * Locks, and returns 1. Returns 0 where MPI's own call is to be made as it is: before
 * MPI_Init() and after MPI_Finalize(), and inside a function that MPI has called.
 */
static inline int wefti_mpi_enter(void)
{
	if (!load_relaxed(&wefti_mpi_is_on) ||
	    wefti_mpi_lock_is_mine())
		return 0;
	wefti_mpi_lock();
	return 1;
}

/*
 * The same for a call that does not wait. In a program of weft its thread could be
 * preempted inside MPI, with a mutex of MPI's. The owner of the lock would then sleep for
 * that mutex and keep its VCPU, on which the preempted thread is to run. So all calls that
 * may take such a mutex have the lock, or are in a region. Under weft run MPI's mutexes
 * are weft's, and the owner parks.
 */
static inline int wefti_mpi_enter_quick(void)
{
	return wefti_mpi_is_native() && wefti_mpi_enter();
}

/*
 * For a call that may wait, and has no form that can be tested. A thread in a region is
 * not preempted. If it waits or takes long, it goes on without its VCPU. Returns what
 * leave_region wants. A function that MPI has called is in no region.
 */
static inline int wefti_mpi_enter_region(void)
{
	if (!wefti_mpi_is_native() || wefti_mpi_lock_is_mine())
		return 0;
	weft_block_begin();
	return 1;
}

static inline void wefti_mpi_leave_region(int in_region)
{
	if (in_region)
		weft_block_end();
}

/* MPI's own call of this name, which does not wait with these arguments. */
#define WEFTI_MPI_OWN(call) __extension__({				\
	int own_has_lock = wefti_mpi_enter_quick(), own_error = P##call;	\
									\
	if (own_has_lock)						\
		wefti_mpi_unlock();					\
	own_error;							\
})

/* The same of one that may wait. */
#define WEFTI_MPI_OWN_WAITS(call) __extension__({			\
	int own_in_region = wefti_mpi_enter_region(), own_error = P##call; \
									\
	wefti_mpi_leave_region(own_in_region);				\
	own_error;							\
})

static inline int wefti_mpi_has_guests(MPI_Comm comm)
{
	return load_relaxed(&wefti_mpi_may_have_guests) && wefti_mpi_look_for_guests(comm);
}

#endif
