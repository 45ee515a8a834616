/* SPDX-License-Identifier: MIT */
/*
 * mpi/receive.c - receives that are asked for when their message has come
 *
 * MPI compares each message that comes with its list of receives, one by one, and
 * MPI_Testsome() looks at each request. With a thousand threads in MPI_Recv() both cost
 * more than the message. So where many threads wait, a receive is not made at once. The
 * thread wants a message: its communicator, source and tag are noted in a hash table. The
 * leader asks by MPI_Iprobe() for the first message of the communicator that no receive
 * has taken. If a thread wants that one, its receive is made, and takes it. So the cost of
 * a look and of a message does not depend on how many threads wait.
 *
 * If no thread wants the first message, those behind it are not seen. Then all receives
 * that are wanted in this communicator are made, as without this file, and so are new ones
 * until there is no such message.
 *
 * Order: a thread that waits in MPI_Recv() makes no other call, and MPI leaves the order
 * of calls of different threads open. Two threads that want the same messages are served
 * first come, first served. A receive with a wildcard is always made at once.
 *
 * Structure (all under the lock)
 *   comms    a communicator in which threads want messages, or did
 *   chains   the wants by communicator and tag; the oldest first
 *
 * Invariants
 *   I1  A message in front of which MPI has no other, and that is wanted, is taken at the
 *       next look.
 *   I2  A communicator whose first message nobody wants has no wants after the look.
 */
#include "receive.h"

#include <stdlib.h>

#define CHAINS		1024u
#define MESSAGES	512	/* at most at one look */

/* What is wanted in one communicator. Kept until another needs its place. */
struct comm {
	MPI_Comm comm;
	int peers;		/* sources are below it */
	unsigned wants;
	int is_direct;		/* its first message is wanted by nobody */
	struct wefti_mpi_list list;
};

int wefti_mpi_want_from;

static struct comm comms[16];
static unsigned comm_count, all_wants;
static struct wefti_mpi_list chains[CHAINS];

static struct wefti_mpi_list *chain_of(MPI_Comm comm, int tag)
{
	uintptr_t x = (uintptr_t)comm * 31 + (uintptr_t)tag;

	return &chains[(x ^ x >> 10 ^ x >> 20) % CHAINS];
}

int wefti_mpi_receive(struct wefti_mpi_wait *w, MPI_Request *request)
{
#ifdef WEFT_MPI_LARGE
	if (w->large)
		return PMPI_Irecv_c(w->buffer, w->count, w->type, w->source, w->tag,
				    w->comm, request);
#endif
	return PMPI_Irecv(w->buffer, (int)w->count, w->type, w->source, w->tag,
			  w->comm, request);
}

static struct comm *find(MPI_Comm comm)
{
	for (unsigned i = 0; i < comm_count; i++)
		if (comms[i].comm == comm)
			return &comms[i];
	return NULL;
}

static int peers_of(MPI_Comm comm)
{
	int peers = 0, is_inter = 0;

	if (PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS)
		return 0;
	if (is_inter)
		(void)PMPI_Comm_remote_size(comm, &peers);
	else
		(void)PMPI_Comm_size(comm, &peers);
	return peers;
}

/* NULL: there is no place. A communicator without wants gives its place away. */
static struct comm *find_or_make(MPI_Comm comm)
{
	struct comm *c = find(comm);

	for (unsigned i = 0; !c && i < comm_count; i++)
		if (comms[i].wants == 0)
			c = &comms[i];
	if (!c && comm_count < sizeof(comms) / sizeof(*comms))
		c = &comms[comm_count++];
	if (c && (c->comm != comm || c->wants == 0))
		*c = (struct comm){ .comm = comm, .peers = peers_of(comm),
				    .is_direct = c->comm == comm && c->is_direct };
	return c;
}

/*
 * MPI's own check of the receive's arguments, except for the source. If they are wrong, it has
 * called the handler of errors.
 */
static int check_arguments(const struct wefti_mpi_wait *w)
{
	struct wefti_mpi_wait nothing = *w;
	MPI_Request request;
	int error;

	nothing.source = MPI_PROC_NULL;
	error = wefti_mpi_receive(&nothing, &request);
	if (error == MPI_SUCCESS)
		(void)PMPI_Wait(&request, MPI_STATUS_IGNORE);
	return error;
}

/* Is there a message that this receive, or any, would take at once? */
static int is_there(MPI_Comm comm, int source, int tag)
{
	int flag = 0;

	return PMPI_Iprobe(source, tag, comm, &flag, MPI_STATUS_IGNORE) !=
	       MPI_SUCCESS || flag;
}

int wefti_mpi_want(struct wefti_mpi_wait *w, int *error)
{
	struct comm *c;

	*error = MPI_SUCCESS;
	if (!wefti_mpi_want_from || (int)wefti_mpi_waiting() < wefti_mpi_want_from ||
	    w->source < 0 || w->tag < 0 || w->comm == MPI_COMM_NULL)
		return 0;
	*error = check_arguments(w);	/* first: each call below would call the handler */
	if (*error != MPI_SUCCESS)
		return 0;
	c = find_or_make(w->comm);
	if (!c || w->source >= c->peers || is_there(w->comm, w->source, w->tag))
		return 0;
	if (c->is_direct && is_there(w->comm, MPI_ANY_SOURCE, MPI_ANY_TAG))
		return 0;
	c->is_direct = 0;
	c->wants++;
	all_wants++;
	wefti_mpi_link_append(&c->list, w);
	wefti_mpi_chain_append(chain_of(w->comm, w->tag), w);
	return 1;
}

void wefti_mpi_want_no_more(struct wefti_mpi_wait *w)
{
	struct comm *c = find(w->comm);

	c->wants--;
	all_wants--;
	wefti_mpi_link_remove(&c->list, w);
	wefti_mpi_chain_remove(chain_of(w->comm, w->tag), w);
}

struct wefti_mpi_wait *wefti_mpi_any_wanting(void)
{
	for (unsigned i = 0; all_wants && i < comm_count; i++)
		if (comms[i].list.first)
			return comms[i].list.first;
	return NULL;
}

/* Makes w's receive. Done, or in the table. */
static void make(struct wefti_mpi_wait *w)
{
	int flag = 0, error = wefti_mpi_receive(w, &w->request);

	if (error == MPI_SUCCESS)
		error = wefti_mpi_test(&w->request, &flag, &w->status);
	else
		w->request = MPI_REQUEST_NULL;
	if (error != MPI_SUCCESS || flag) {
		wefti_mpi_done(w, error);
		return;
	}
	wefti_mpi_want_no_more(w);
	wefti_mpi_to_table(w);
}

static struct wefti_mpi_wait *wanted(MPI_Comm comm, const MPI_Status *message)
{
	struct wefti_mpi_wait *w = chain_of(comm, message->MPI_TAG)->first;

	while (w && (w->tag != message->MPI_TAG || w->source != message->MPI_SOURCE ||
		     w->comm != comm))
		w = w->chain.next;
	return w;
}

static unsigned look_in(struct comm *c)
{
	struct wefti_mpi_wait *w;
	unsigned n = 0;

	while (c->wants && n < MESSAGES) {
		MPI_Status message;
		int flag = 0;

		if (PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &flag,
				&message) == MPI_SUCCESS && !flag)
			return n;
		w = flag ? wanted(c->comm, &message) : NULL;
		if (w) {
			make(w);
			n++;
			continue;
		}
		c->is_direct = 1;
		while ((w = c->list.first)) {
			make(w);
			n++;
		}
	}
	return n;
}

unsigned wefti_mpi_look_for_wanted(void)
{
	unsigned n = 0;

	for (unsigned i = 0; all_wants && i < comm_count; i++)
		if (comms[i].wants)
			n += look_in(&comms[i]);
	return n;
}
