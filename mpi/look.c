/* SPDX-License-Identifier: MIT */
/*
 * mpi/look.c - which of the waiting threads are done: a look at what they wait for
 *
 * Most wait for a request, and these requests are in a table. Others have a look of their
 * own. All of it is under the lock.
 *
 * Structure
 *   requests[], waits[]  the table: what MPI_Test() is called for
 *   looks                waits with a look of their own: probes, several requests
 *
 * Writers
 *   wefti_mpi_has_handlers  calls.c: note_handler
 */
#include "look.h"

#include <errno.h>
#include <stdlib.h>

#include "call.h"
#include "receive.h"

#define CHUNK		64u		/* requests of a look behind a long pause */
#define DEPTH_LOOKS	64u		/* looks for each round */

static MPI_Request *requests;
static struct wefti_mpi_wait **waits;
static unsigned in_table, capacity;
static unsigned at;			/* where the next look in the table begins */
static struct wefti_mpi_list looks;

static int grow(void)
{
	const unsigned more = capacity ? 2 * capacity : 256;
	MPI_Request *r = realloc(requests, more * sizeof(*r));
	struct wefti_mpi_wait **w;

	if (!r)
		return -ENOMEM;
	requests = r;
	w = realloc(waits, more * sizeof(struct wefti_mpi_wait *));
	if (!w)
		return -ENOMEM;
	waits = w;
	capacity = more;
	return 0;
}

/*
 * MPICH calls the handler of MPI_COMM_WORLD where MPI_Test() and its kin find an error, as
 * it keeps no communicator with a request. MPI_Recv() calls that of its own communicator.
 * This matters once the program has given a communicator a handler. From then on
 * MPI_COMM_WORLD returns errors while the library tests requests, and the handler of the
 * call's communicator is called afterwards. MPI_Request_get_status() would not help: where
 * the request has an error, it calls that handler too.
 */
#ifdef WEFT_MPI_CALLS_WORLDS_HANDLER
_Atomic int wefti_mpi_has_handlers;

/* Returns 1 if *world is to be given back by loud(). */
static int quiet(MPI_Errhandler *world)
{
	if (!load_relaxed(&wefti_mpi_has_handlers) ||
	    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, world) != MPI_SUCCESS)
		return 0;
	if (*world != MPI_ERRORS_RETURN &&
	    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) == MPI_SUCCESS)
		return 1;
	(void)PMPI_Errhandler_free(world);
	return 0;
}

static void loud(MPI_Errhandler *world)
{
	(void)PMPI_Comm_set_errhandler(MPI_COMM_WORLD, *world);
	(void)PMPI_Errhandler_free(world);
}

int wefti_mpi_result(MPI_Comm comm, int error)
{
	if (error != MPI_SUCCESS && load_relaxed(&wefti_mpi_has_handlers))
		(void)WEFTI_MPI_OWN(MPI_Comm_call_errhandler(comm == MPI_COMM_NULL ?
			MPI_COMM_WORLD : comm, error));
	return error;
}
#else
static int quiet(MPI_Errhandler *world)
{
	(void)world;
	return 0;
}

static void loud(MPI_Errhandler *world)
{
	(void)world;
}

int wefti_mpi_result(MPI_Comm comm, int error)
{
	(void)comm;
	return error;
}
#endif

int wefti_mpi_test(MPI_Request *request, int *flag, MPI_Status *status)
{
	MPI_Errhandler world;
	int is_quiet = quiet(&world), error = PMPI_Test(request, flag, status);

	if (is_quiet)
		loud(&world);
	return error;
}

static int look_at_request(struct wefti_mpi_wait *w)
{
	int flag = 0, error = wefti_mpi_test(&w->request, &flag, &w->status);

	w->error = error;
	return error != MPI_SUCCESS || flag;
}

void wefti_mpi_to_looks(struct wefti_mpi_wait *w)
{
	w->place = WEFTI_MPI_LOOKS;
	wefti_mpi_link_append(&looks, w);
}

void wefti_mpi_to_table(struct wefti_mpi_wait *w)
{
	if (in_table == capacity && grow() != 0) {
		w->look = look_at_request;	/* needs no memory */
		wefti_mpi_to_looks(w);
		return;
	}
	w->place = WEFTI_MPI_TABLE;
	w->index = in_table;
	requests[in_table] = w->request;
	waits[in_table++] = w;
}

/* The last one takes its place. */
static void from_table(struct wefti_mpi_wait *w)
{
	const unsigned last = --in_table;

	w->request = requests[w->index];
	requests[w->index] = requests[last];
	waits[w->index] = waits[last];
	waits[w->index]->index = w->index;
}

void wefti_mpi_take_out(struct wefti_mpi_wait *w)
{
	if (w->place == WEFTI_MPI_TABLE)
		from_table(w);
	else if (w->place == WEFTI_MPI_LOOKS)
		wefti_mpi_link_remove(&looks, w);
	else if (w->place == WEFTI_MPI_WANTS)
		wefti_mpi_want_no_more(w);
	w->place = WEFTI_MPI_NOWHERE;
}

/*
 * Looks at each of them. Returns how many are done. Not by MPI_Testsome(): where a request
 * has an error, Open MPI frees all requests of the call whose status says so, and that of a
 * send which is pending may say anything. Such a send was never seen to end.
 */
static unsigned look_one_by_one(unsigned from, unsigned count)
{
	MPI_Errhandler world;
	int is_quiet = quiet(&world);
	unsigned n = 0;

	for (unsigned i = from + count; i-- > from;) {
		struct wefti_mpi_wait *w = waits[i];
		int flag = 0, error = PMPI_Test(&requests[i], &flag, &w->status);

		if (error == MPI_SUCCESS && !flag)
			continue;
		wefti_mpi_done(w, error);
		n++;
	}
	if (is_quiet)
		loud(&world);
	return n;
}

/*
 * So many chunks of the table. It is all of them, unless nothing has been found for long.
 * From the end down: the place of one that is done gets the last one, which has been looked
 * at.
 */
static unsigned look_at_table(unsigned chunks)
{
	unsigned n = 0, count;

	if (chunks == WEFTI_MPI_ALL_CHUNKS || at == 0 || at > in_table)
		at = in_table;
	for (; at > 0 && chunks > 0; chunks--) {
		count = at < CHUNK ? at : CHUNK;
		at -= count;
		n += look_one_by_one(at, count);
	}
	return n;
}

/* Each round looks at some, and goes on behind them at the next. */
static unsigned look_at_looks(void)
{
	struct wefti_mpi_wait *w, *last = looks.last;
	unsigned n = 0;

	for (unsigned i = 0; i < DEPTH_LOOKS && looks.first; i++) {
		w = looks.first;
		wefti_mpi_link_remove(&looks, w);
		wefti_mpi_link_append(&looks, w);
		if (w->look(w)) {
			n++;
			wefti_mpi_done(w, w->error);
		}
		if (w == last)
			break;
	}
	return n;
}

unsigned wefti_mpi_look(unsigned chunks)
{
	unsigned n;

	if (!load_relaxed(&wefti_mpi_is_on))	/* MPI_Finalize() was called meanwhile */
		return 0;
	n = wefti_mpi_look_for_wanted();
	n += look_at_table(chunks);
	return n + look_at_looks();
}

struct wefti_mpi_wait *wefti_mpi_any_waiting(void)
{
	struct wefti_mpi_wait *w = in_table ? waits[in_table - 1] : looks.first;

	return w ? w : wefti_mpi_any_wanting();
}
