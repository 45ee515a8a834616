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
 * If no thread wants the first message, those behind it are not seen. Mostly its thread is
 * about to ask for it, so the leader lets others run, and looks again. If the message is
 * still there, all receives that are wanted in this communicator are made, as without this
 * file, and so are new ones until the message is gone. That is slow where many messages
 * have come: MPI compares each receive with all of them.
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
 *   I2  A look is blocked if no thread wants the first message of the communicator. There are
 *       no wants after a blocked look behind one that the same message blocked, and none
 *       after BLOCKED blocked looks in a row. (MPI may name the first messages of several
 *       ranks by turns.)
 */
#include "receive.h"

#include <stdlib.h>

#define BLOCKED		8u	/* looks in a row, before receives are made */
#define CHAINS		1024u
#define MESSAGES	512	/* at most at one look */

/* What is wanted in one communicator. Kept until another needs its place. */
struct comm {
	MPI_Comm comm;
	int peers;		/* sources are below it */
	unsigned wants;
	unsigned blocked;	/* looks in a row that were blocked: I2 */
	int is_direct;		/* receives are made at once */
	int source, tag;	/* of that message, if it is blocked or direct */
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
	if (c && c->comm != comm)
		*c = (struct comm){ .comm = comm };
	if (c && c->wants == 0)		/* its handle may be that of another one now */
		c->peers = peers_of(comm);
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

/* Is the message that blocks the communicator, or its like, still the first one? */
static int is_first(const struct comm *c)
{
	MPI_Status message;
	int flag = 0;

	if (PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &flag, &message) !=
	    MPI_SUCCESS)
		return 1;
	return flag && message.MPI_SOURCE == c->source && message.MPI_TAG == c->tag;
}

/* Must w's receive be made at once? If it may take the message that blocks, only this one. */
static int is_direct(struct comm *c, const struct wefti_mpi_wait *w)
{
	if (c->is_direct) {
		if (is_first(c))
			return 1;
		c->is_direct = 0;
		c->blocked = 0;
		return 0;
	}
	if (!c->blocked || w->source != c->source || w->tag != c->tag)
		return 0;
	c->blocked = 0;
	return 1;
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
	if (!c || w->source >= c->peers || is_direct(c, w))
		return 0;
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

/* Nobody wants this first message. Was it so before, so that waiting is of no use? */
static int is_still_blocked(struct comm *c, const MPI_Status *message)
{
	const int same = c->blocked && message->MPI_SOURCE == c->source &&
			 message->MPI_TAG == c->tag;

	c->source = message->MPI_SOURCE;
	c->tag = message->MPI_TAG;
	return ++c->blocked >= BLOCKED || same;
}

static unsigned look_in(struct comm *c)
{
	struct wefti_mpi_wait *w;
	unsigned n = 0;

	while (c->wants && n < MESSAGES) {
		MPI_Status message;
		int flag = 0;

		if (PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &flag,
				&message) == MPI_SUCCESS && !flag) {
			c->blocked = 0;
			return n;
		}
		w = flag ? wanted(c->comm, &message) : NULL;
		if (w) {
			make(w);
			n++;
			continue;
		}
		/* As if a message had been found: the leader lets others run. */
		if (flag && !is_still_blocked(c, &message))
			return n + 1;
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
