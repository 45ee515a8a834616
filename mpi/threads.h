/* SPDX-License-Identifier: MIT */
/*
 * mpi/threads.h - what the library needs of threads: weft's where libweft is loaded,
 * else those of pthread.h, which under weft run are weft's too
 *
 * The library is not linked with libweft. A native program brings libweft along, and the
 * loader then fills the weak references below. A program under weft run has its runtime
 * inside libweft-pthread.so, which stands in front of libc's semaphores.
 */
#ifndef WEFT_MPI_THREADS_H
#define WEFT_MPI_THREADS_H

#include <semaphore.h>
#include <stdint.h>

#include <weft/lock.h>
#include <weft/runtime.h>
#include <weft/sem.h>
#include <weft/thread.h>
#include <weft/chan.h>

#pragma weak weft_block_begin
#pragma weak weft_block_end
#pragma weak weft_cancel_hold
#pragma weak weft_cancel_release
#pragma weak weft_chan_create
#pragma weak weft_chan_destroy
#pragma weak weft_chan_send
#pragma weak weft_preempt_off
#pragma weak weft_preempt_on
#pragma weak weft_self
#pragma weak weft_sem_destroy
#pragma weak weft_sem_post
#pragma weak weft_sem_wait_until
#pragma weak weft_spawn
#pragma weak weft_vcpus
#pragma weak weft_yield

union wefti_mpi_sem {
	struct weft_sem weft;
	sem_t posix;
};

static inline int wefti_mpi_is_native(void)
{
	return weft_sem_post != NULL;
}

int64_t wefti_mpi_now_ns(void);

void wefti_mpi_sem_begin(union wefti_mpi_sem *sem);
void wefti_mpi_sem_end(union wefti_mpi_sem *sem);
void wefti_mpi_sem_post(union wefti_mpi_sem *sem);

/*
 * Takes one before the deadline, a time of wefti_mpi_now_ns(). Returns 0; -ETIMEDOUT;
 * -EAGAIN, if deadline is WEFT_NO_WAIT; or -ECANCELED: only if the caller can be cancelled,
 * which it cannot where it is on hold.
 */
int wefti_mpi_sem_wait(union wefti_mpi_sem *sem, int64_t deadline);

/* Between the two the caller's waits are not cancelled. Returns what release wants. */
int wefti_mpi_hold(void);
void wefti_mpi_release(int held);

void wefti_mpi_yield(void);

#endif
