/* SPDX-License-Identifier: MIT */
/*
 * weft/mpi.h - threads that wait for MPI: with a deadline, with a cancellation, in an alt
 *
 * A program that is linked with libweft-mpi needs none of this. MPI's own calls, from
 * MPI_Send() to MPI_Allreduce(), park the calling thread of weft there, and its VCPU runs
 * other threads. MPI_Init_thread() gives MPI_THREAD_MULTIPLE. weft-mpi(7) has the list.
 *
 * MPI's own calls are not cancelled: a cancelled thread ends them first. weft_mpi_wait()
 * can be cancelled, and has a deadline. The request then goes on as before. What its owner
 * does next depends on its kind:
 * - A receive can be taken back, by weft_mpi_cancel().
 * - A send cannot. Its buffer must stay as it is until the owner has waited for it.
 * - A collective operation cannot. All ranks are in it, so each must wait for its end.
 * Such a wait stands between weft_cancel_hold() and weft_cancel_release().
 *
 * The functions are for the time between MPI_Init() and MPI_Finalize(). They call MPI's
 * error handler as MPI does.
 */
#ifndef WEFT_MPI_H
#define WEFT_MPI_H

#include <mpi.h>
#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_chan;

/*
 * weft_mpi_wait - wait for a request of MPI
 *
 *   request   as for MPI_Wait(); receives MPI_REQUEST_NULL when it is complete
 *   status    as for MPI_Wait(); may be MPI_STATUS_IGNORE
 *   deadline  a time of weft_clock(), WEFT_NO_WAIT or WEFT_FOREVER
 *
 * Returns 0 when the request is complete. A result over 0 is the error of MPI with which
 * it ended. On other errors the request is as before, and goes on:
 *   -ETIMEDOUT  it was not complete before the deadline
 *   -EAGAIN     it is not complete, and deadline is WEFT_NO_WAIT
 *   -ECANCELED  the thread is cancelled by weft_cancel(). Under weft run pthread_cancel()
 *               does not end the wait
 *   -ESRCH      MPI is not initialized, or is finalized
 *
 * Blocks     may park, unless deadline is WEFT_NO_WAIT.
 * See        weft_mpi_cancel(), weft_mpi_chan()
 * Since      0.2
 */
WEFT_API WEFT_MUST_USE int weft_mpi_wait(MPI_Request *request, MPI_Status *status,
	int64_t deadline);

/*
 * weft_mpi_cancel - take a receive back
 *
 *   request  of MPI_Irecv(); receives MPI_REQUEST_NULL
 *   status   of the receive, if it has a message; may be MPI_STATUS_IGNORE
 *
 * Returns 0 if the receive was taken back: it gets no message, and its buffer is untouched.
 * A result over 0 is an error of MPI. Else
 *   -EALREADY  it has a message, which is in the buffer
 *   -ESRCH     MPI is not initialized, or is finalized
 *
 * Blocks     may park, for a message whose transfer has begun.
 * Not for    requests of sends and of collective operations.
 * Since      0.2
 */
WEFT_API int weft_mpi_cancel(MPI_Request *request, MPI_Status *status);

/*
 * weft_mpi_chan - a channel that receives one message when a request is complete
 *
 *   request  what is waited for; it belongs to the channel's sender until the message is
 *            received, and is then MPI_REQUEST_NULL
 *   status   receives the status, before the message is sent; may be MPI_STATUS_IGNORE
 *   chan     receives the channel, for weft_chan_recv() or an alternative of weft_alt().
 *            Its message is an int: 0, or the error of MPI. Its receiver destroys it.
 *
 * A light thread waits for the request and sends the message.
 *
 * Returns 0, else
 *   -ESRCH   the runtime is not running
 *   -EAGAIN  no stack can be mapped
 *   -ENOMEM  no memory
 *
 * Blocks     never.
 * Orders     what the request received is there when the message is received.
 * See        weft_alt(), weft_chan_recv(), weft_chan_destroy()
 * Since      0.2
 */
WEFT_API WEFT_MUST_USE int weft_mpi_chan(MPI_Request *request, MPI_Status *status,
	struct weft_chan **chan);

#ifdef __cplusplus
}
#endif
#endif
