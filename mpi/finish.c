/* SPDX-License-Identifier: MIT */
/* mpi/finish.c - the end of a call: its request is waited for, or its look is done again */
#include "lock.h"
#include "wait.h"

#define QUICK_LOOKS	128u		/* at one request before the thread parks */

void wefti_mpi_status(MPI_Status *to, const MPI_Status *from)
{
	int error;

	if (to == MPI_STATUS_IGNORE)
		return;
	error = to->MPI_ERROR;
	*to = *from;
	to->MPI_ERROR = error;
}

/* The answer of another rank may come sooner than the thread could park and be woken. */
static unsigned quick_looks(void)
{
	return wefti_mpi_is_alone() ? QUICK_LOOKS : 1;
}

int wefti_mpi_finish(struct wefti_mpi_wait *w, int error, MPI_Status *status)
{
	int flag = 0, held;

	if (error != MPI_SUCCESS) {
		wefti_mpi_unlock();
		return error;
	}
	for (unsigned i = quick_looks(); error == MPI_SUCCESS && !flag && i > 0; i--)
		error = wefti_mpi_test(&w->request, &flag, &w->status);
	w->error = error;
	if (error != MPI_SUCCESS || flag) {
		wefti_mpi_end_at_once();
	} else {
		held = wefti_mpi_hold_locked();
		(void)wefti_mpi_park(w, WEFTI_MPI_TABLE, WEFT_FOREVER);
		wefti_mpi_release(held);
	}
	wefti_mpi_status(status, &w->status);
	return wefti_mpi_result(w->comm, w->error);
}

int wefti_mpi_finish_look(struct wefti_mpi_wait *w, wefti_mpi_look_fn *fn, void *data)
{
	int held;

	w->look = fn;
	w->data = data;
	if (fn(w)) {
		wefti_mpi_end_at_once();
		return w->error;
	}
	held = wefti_mpi_hold_locked();
	(void)wefti_mpi_park(w, WEFTI_MPI_LOOKS, WEFT_FOREVER);
	wefti_mpi_release(held);
	return w->error;
}
