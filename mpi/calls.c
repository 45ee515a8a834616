/* SPDX-License-Identifier: MIT */
/*
 * mpi/calls.c - blocking calls that are more than one non-blocking call: receives, probes,
 * waits for requests
 *
 * The other calls are made by mpi/generate.
 */
#include <stdlib.h>

#include "call.h"
#include "receive.h"

static int receive(struct wefti_mpi_wait *w, MPI_Status *status)
{
	int error;

	if (!wefti_mpi_want(w, &error)) {
		if (error == MPI_SUCCESS)
			error = wefti_mpi_receive(w, &w->request);
		return wefti_mpi_finish(w, error, status);
	}

	int held = wefti_mpi_hold_locked();

	(void)wefti_mpi_park(w, WEFTI_MPI_WANTS, WEFT_FOREVER);
	wefti_mpi_release(held);
	wefti_mpi_status(status, &w->status);
	return wefti_mpi_result(w->comm, w->error);
}

WEFTI_MPI_EXPORT int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source,
			      int tag, MPI_Comm comm, MPI_Status *status)
{
	struct wefti_mpi_wait w = {
		.buffer = buf, .count = count, .type = datatype, .source = source,
		.tag = tag, .comm = comm,
	};

	if (source == MPI_PROC_NULL)
		return WEFTI_MPI_OWN(MPI_Recv(buf, count, datatype, source, tag, comm, status));
	if (!wefti_mpi_enter())
		return PMPI_Recv(buf, count, datatype, source, tag, comm, status);
	return receive(&w, status);
}

#ifdef WEFT_MPI_LARGE
WEFTI_MPI_EXPORT int MPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype,
				int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct wefti_mpi_wait w = {
		.buffer = buf, .count = count, .type = datatype, .source = source,
		.tag = tag, .comm = comm, .large = 1,
	};

	if (source == MPI_PROC_NULL)
		return WEFTI_MPI_OWN(MPI_Recv_c(buf, count, datatype, source, tag,
						comm, status));
	if (!wefti_mpi_enter())
		return PMPI_Recv_c(buf, count, datatype, source, tag, comm, status);
	return receive(&w, status);
}
#endif

/* --- several requests ------------------------------------------------- */

struct several {
	int count, count_out, *index;
	MPI_Request *requests;
	MPI_Status *statuses;
};

static int look_at_all(struct wefti_mpi_wait *w)
{
	const struct several *s = w->data;
	int flag = 0;

	w->error = PMPI_Testall(s->count, s->requests, &flag, s->statuses);
	return w->error != MPI_SUCCESS || flag;
}

static int look_at_any(struct wefti_mpi_wait *w)
{
	struct several *s = w->data;
	int flag = 0;

	w->error = PMPI_Testany(s->count, s->requests, s->index, &flag, s->statuses);
	return w->error != MPI_SUCCESS || flag;
}

static int look_at_some(struct wefti_mpi_wait *w)
{
	struct several *s = w->data;

	w->error = PMPI_Testsome(s->count, s->requests, &s->count_out, s->index,
				 s->statuses);
	return w->error != MPI_SUCCESS || s->count_out != 0;
}

/* MPI itself finds wrong arguments, and reports them. */
WEFTI_MPI_EXPORT int MPI_Waitall(int count, MPI_Request array_of_requests[],
				 MPI_Status array_of_statuses[])
{
	struct several s = { .count = count, .requests = array_of_requests,
			     .statuses = array_of_statuses };
	struct wefti_mpi_wait w;

	if (count <= 0 || !array_of_requests)
		return WEFTI_MPI_OWN(MPI_Waitall(count, array_of_requests,
						 array_of_statuses));
	if (!wefti_mpi_enter())
		return PMPI_Waitall(count, array_of_requests, array_of_statuses);
	return wefti_mpi_finish_look(&w, look_at_all, &s);
}

WEFTI_MPI_EXPORT int MPI_Waitany(int count, MPI_Request array_of_requests[], int *indx,
				 MPI_Status *status)
{
	struct several s = { .count = count, .requests = array_of_requests,
			     .index = indx, .statuses = status };
	struct wefti_mpi_wait w;

	if (count <= 0 || !array_of_requests || !indx)
		return WEFTI_MPI_OWN(MPI_Waitany(count, array_of_requests, indx, status));
	if (!wefti_mpi_enter())
		return PMPI_Waitany(count, array_of_requests, indx, status);
	return wefti_mpi_finish_look(&w, look_at_any, &s);
}

WEFTI_MPI_EXPORT int MPI_Waitsome(int incount, MPI_Request array_of_requests[],
				  int *outcount, int array_of_indices[],
				  MPI_Status array_of_statuses[])
{
	struct several s = { .count = incount, .requests = array_of_requests,
			     .index = array_of_indices,
			     .statuses = array_of_statuses };
	struct wefti_mpi_wait w;
	int error;

	if (incount <= 0 || !array_of_requests || !outcount || !array_of_indices)
		return WEFTI_MPI_OWN(MPI_Waitsome(incount, array_of_requests, outcount,
						  array_of_indices, array_of_statuses));
	if (!wefti_mpi_enter())
		return PMPI_Waitsome(incount, array_of_requests, outcount,
				     array_of_indices, array_of_statuses);
	error = wefti_mpi_finish_look(&w, look_at_some, &s);
	*outcount = s.count_out;
	return error;
}

WEFTI_MPI_EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	struct wefti_mpi_wait w = { .comm = MPI_COMM_NULL };
	int error;

	if (!request || *request == MPI_REQUEST_NULL)
		return WEFTI_MPI_OWN(MPI_Wait(request, status));
	if (!wefti_mpi_enter())
		return PMPI_Wait(request, status);
	w.request = *request;
	error = wefti_mpi_finish(&w, MPI_SUCCESS, status);
	*request = w.request;
	return error;
}

/* --- a send and a receive --------------------------------------------- */

struct both {
	MPI_Request *requests;
	MPI_Status status[2];
	int done[2], error;
};

static int look_at_both(struct wefti_mpi_wait *w)
{
	struct both *b = w->data;

	for (int i = 0; i < 2; i++)
		if (!b->done[i]) {
			int flag = 0, error = wefti_mpi_test(&b->requests[i], &flag,
							     &b->status[i]);

			b->done[i] = error != MPI_SUCCESS || flag;
			if (error != MPI_SUCCESS)
				b->error = error;
		}
	w->error = MPI_SUCCESS;
	return b->done[0] && b->done[1];
}

/*
 * Waits for the send, both[0], and the receive, both[1]. The receive has the caller's
 * status. A receive of MPI_PROC_NULL has a status that only MPI_Recv() gives with each MPI.
 */
static int finish_both(MPI_Request *both, int source, MPI_Comm comm, MPI_Status *status)
{
	struct both b = { .requests = both, .error = MPI_SUCCESS };
	struct wefti_mpi_wait w;

	(void)wefti_mpi_finish_look(&w, look_at_both, &b);
	b.error = wefti_mpi_result(comm, b.error);
	wefti_mpi_status(status, &b.status[1]);
	if (source == MPI_PROC_NULL)
		(void)WEFTI_MPI_OWN(MPI_Recv(NULL, 0, MPI_BYTE, source, 0, comm,
					     status));
	return b.error;
}

/* The send has failed, so no message may come for this receive. It is cancelled. */
static int take_back(MPI_Request *receive, int error)
{
	(void)PMPI_Cancel(receive);
	(void)PMPI_Request_free(receive);
	wefti_mpi_unlock();
	return error;
}

WEFTI_MPI_EXPORT int MPI_Sendrecv(const void *sendbuf, int sendcount,
				  MPI_Datatype sendtype, int dest, int sendtag,
				  void *recvbuf, int recvcount, MPI_Datatype recvtype,
				  int source, int recvtag, MPI_Comm comm,
				  MPI_Status *status)
{
	MPI_Request both[2];
	int error;

	if (!wefti_mpi_enter())
		return PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag,
				     recvbuf, recvcount, recvtype, source, recvtag,
				     comm, status);
	error = PMPI_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &both[1]);
	if (error != MPI_SUCCESS) {
		wefti_mpi_unlock();
		return error;
	}
	error = PMPI_Isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &both[0]);
	if (error != MPI_SUCCESS)
		return take_back(&both[1], error);
	return finish_both(both, source, comm, status);
}

/* The message is packed first, so that the receive may overwrite it. */
WEFTI_MPI_EXPORT int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype,
					  int dest, int sendtag, int source, int recvtag,
					  MPI_Comm comm, MPI_Status *status)
{
	MPI_Request both[2];
	int error, bytes = 0, packed = 0;
	char *copy = NULL;

	if (!wefti_mpi_enter())
		return PMPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source,
					     recvtag, comm, status);
	error = PMPI_Pack_size(count, datatype, comm, &bytes);
	if (error == MPI_SUCCESS) {
		copy = malloc((size_t)bytes + 1);
		error = copy ? PMPI_Pack(buf, count, datatype, copy, bytes, &packed, comm) :
			PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
		if (!copy)
			error = MPI_ERR_NO_MEM;
	}
	if (error == MPI_SUCCESS)
		error = PMPI_Irecv(buf, count, datatype, source, recvtag, comm, &both[1]);
	if (error != MPI_SUCCESS) {
		wefti_mpi_unlock();
		free(copy);
		return error;
	}
	error = PMPI_Isend(copy, packed, MPI_PACKED, dest, sendtag, comm, &both[0]);
	error = error != MPI_SUCCESS ? take_back(&both[1], error) :
		finish_both(both, source, comm, status);
	free(copy);
	return error;
}

/* --- probes ----------------------------------------------------------- */

struct probe {
	int source, tag;
	MPI_Comm comm;
	MPI_Message *message;
	MPI_Status *status;
};

static int look_for_message(struct wefti_mpi_wait *w)
{
	const struct probe *p = w->data;
	int flag = 0;

	w->error = p->message ?
		PMPI_Improbe(p->source, p->tag, p->comm, &flag, p->message, p->status) :
		PMPI_Iprobe(p->source, p->tag, p->comm, &flag, p->status);
	return w->error != MPI_SUCCESS || flag;
}

WEFTI_MPI_EXPORT int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct probe p = { .source = source, .tag = tag, .comm = comm, .status = status };
	struct wefti_mpi_wait w;

	if (!wefti_mpi_enter())
		return PMPI_Probe(source, tag, comm, status);
	return wefti_mpi_finish_look(&w, look_for_message, &p);
}

WEFTI_MPI_EXPORT int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
				MPI_Status *status)
{
	struct probe p = { .source = source, .tag = tag, .comm = comm,
			   .message = message, .status = status };
	struct wefti_mpi_wait w;

	if (!message)
		return WEFTI_MPI_OWN(MPI_Mprobe(source, tag, comm, message, status));
	if (!wefti_mpi_enter())
		return PMPI_Mprobe(source, tag, comm, message, status);
	return wefti_mpi_finish_look(&w, look_for_message, &p);
}

static int look_at_window(struct wefti_mpi_wait *w)
{
	int flag = 0;

	w->error = PMPI_Win_test(*(MPI_Win *)w->data, &flag);
	return w->error != MPI_SUCCESS || flag;
}

WEFTI_MPI_EXPORT int MPI_Win_wait(MPI_Win win)
{
	struct wefti_mpi_wait w;

	if (!wefti_mpi_enter())
		return PMPI_Win_wait(win);
	return wefti_mpi_finish_look(&w, look_at_window, &win);
}

/* See wefti_mpi_result() in mpi/look.c. */
static void note_handler(void)
{
#ifdef WEFT_MPI_CALLS_WORLDS_HANDLER
	store_relaxed(&wefti_mpi_has_handlers, 1);
#endif
}

WEFTI_MPI_EXPORT int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
	int error, has_lock = wefti_mpi_enter();

	note_handler();
	error = PMPI_Comm_set_errhandler(comm, errhandler);
	if (has_lock)
		wefti_mpi_unlock();
	return error;
}

#ifdef WEFT_MPI_CALLS_WORLDS_HANDLER
WEFTI_MPI_EXPORT int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
	return MPI_Comm_set_errhandler(comm, errhandler);
}
#endif

#ifdef WEFTI_MPI_HAS_SESSIONS
WEFTI_MPI_EXPORT int MPI_Comm_create_from_group(MPI_Group group, const char *stringtag,
						MPI_Info info, MPI_Errhandler errhandler,
						MPI_Comm *newcomm)
{
	int error, in_region = wefti_mpi_enter_region();

	if (errhandler != MPI_ERRHANDLER_NULL)
		note_handler();
	error = PMPI_Comm_create_from_group(group, stringtag, info, errhandler, newcomm);
	wefti_mpi_leave_region(in_region);
	return error;
}
#endif
