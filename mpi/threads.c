/* SPDX-License-Identifier: MIT */
/* mpi/threads.c - what the library needs of threads, by weft or by pthread.h */
#include "threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000)

int64_t wefti_mpi_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

void wefti_mpi_sem_begin(union wefti_mpi_sem *sem)
{
	if (wefti_mpi_is_native())
		sem->weft = (struct weft_sem)WEFT_SEM_INIT;
	else
		sem_init(&sem->posix, 0, 0);
}

void wefti_mpi_sem_end(union wefti_mpi_sem *sem)
{
	if (wefti_mpi_is_native())
		weft_sem_destroy(&sem->weft);
	else
		sem_destroy(&sem->posix);
}

void wefti_mpi_sem_post(union wefti_mpi_sem *sem)
{
	if (wefti_mpi_is_native())
		weft_sem_post(&sem->weft);
	else
		sem_post(&sem->posix);
}

static int wait_posix(sem_t *sem, int64_t deadline)
{
	const struct timespec until = {
		.tv_sec = deadline / SECOND_NS, .tv_nsec = deadline % SECOND_NS,
	};
	int rc;

	if (deadline == WEFT_NO_WAIT)
		return sem_trywait(sem) == 0 ? 0 : -errno;
	do
		rc = deadline == WEFT_FOREVER ? sem_wait(sem) :
		     sem_clockwait(sem, CLOCK_MONOTONIC, &until);
	while (rc != 0 && errno == EINTR);
	return rc == 0 ? 0 : -errno;
}

int wefti_mpi_sem_wait(union wefti_mpi_sem *sem, int64_t deadline)
{
	if (!wefti_mpi_is_native())
		return wait_posix(&sem->posix, deadline);

	int error = weft_sem_wait_until(&sem->weft, deadline);

	while (error == -ENOMEM) {	/* no memory for the place in the line */
		weft_yield();
		error = weft_sem_wait_until(&sem->weft, deadline);
	}
	return error;
}

int wefti_mpi_hold(void)
{
	int state = PTHREAD_CANCEL_ENABLE;

	if (wefti_mpi_is_native())
		weft_cancel_hold();
	else
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

void wefti_mpi_release(int held)
{
	if (wefti_mpi_is_native())
		weft_cancel_release();
	else
		pthread_setcancelstate(held, &held);
}

void wefti_mpi_yield(void)
{
	if (wefti_mpi_is_native())
		weft_yield();
	else
		sched_yield();
}
