/* SPDX-License-Identifier: MIT */
/* mpi/native.c - waits with a deadline, cancellation, and a channel for weft_alt() */
#include <errno.h>
#include <stdlib.h>

#include "call.h"
#include "weft/chan.h"
#include "weft/mpi.h"

/*
 * pthread_cancel() would unwind the waiting thread's stack, with a wait that others look at.
 * So under weft run the thread ends its wait first, as in MPI's own calls.
 */
static int may_be_cancelled(void)
{
	return wefti_mpi_is_native();
}

int weft_mpi_wait(MPI_Request *request, MPI_Status *status, int64_t deadline)
{
	struct wefti_mpi_wait w = { .request = *request, .comm = MPI_COMM_NULL };
	int flag = 0, rc = 0;

	if (!wefti_mpi_enter())
		return -ESRCH;
	w.error = wefti_mpi_test(&w.request, &flag, &w.status);
	if (w.error != MPI_SUCCESS || flag || deadline == WEFT_NO_WAIT) {
		wefti_mpi_unlock();
		rc = w.error == MPI_SUCCESS && !flag ? -EAGAIN : 0;
	} else {
		int held = may_be_cancelled() ? 0 : wefti_mpi_hold_locked();

		rc = wefti_mpi_park(&w, WEFTI_MPI_TABLE, deadline);
		if (!may_be_cancelled())
			wefti_mpi_release(held);
	}
	if (rc == 0) {
		wefti_mpi_status(status, &w.status);
		rc = wefti_mpi_result(w.comm, w.error);
	}
	*request = w.request;
	return rc;
}

int weft_mpi_cancel(MPI_Request *request, MPI_Status *status)
{
	MPI_Status end;
	int error, is_cancelled = 0;

	if (!wefti_mpi_enter())
		return -ESRCH;
	error = PMPI_Cancel(request);
	wefti_mpi_unlock();
	if (error == MPI_SUCCESS)
		error = MPI_Wait(request, &end);
	if (error == MPI_SUCCESS)
		error = PMPI_Test_cancelled(&end, &is_cancelled);
	if (error != MPI_SUCCESS || is_cancelled)
		return error;
	wefti_mpi_status(status, &end);
	return -EALREADY;
}

struct sender {
	MPI_Request *request;
	MPI_Status *status;
	struct weft_chan *chan;
};

static void *send_when_complete(void *arg)
{
	struct sender s = *(struct sender *)arg;
	int error;

	free(arg);
	error = MPI_Wait(s.request, s.status);
	(void)weft_chan_send(s.chan, &error, WEFT_FOREVER);
	return NULL;
}

int weft_mpi_chan(MPI_Request *request, MPI_Status *status, struct weft_chan **chan)
{
	const struct weft_attr light = {
		.name = "weft_mpi_chan", .flags = WEFT_LIGHT | WEFT_DETACHED,
	};
	struct sender *s;
	int error;

	if (!wefti_mpi_is_native())
		return -ESRCH;
	s = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct sender){ .request = request, .status = status };
	error = weft_chan_create(&s->chan, sizeof(int), 1, 0);
	if (error == 0) {
		struct weft_chan *made = s->chan;

		error = weft_spawn(NULL, &light, send_when_complete, s);
		if (error == 0) {
			*chan = made;
			return 0;
		}
		weft_chan_destroy(made);
	}
	free(s);
	return error;
}
