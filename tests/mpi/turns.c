/* SPDX-License-Identifier: MIT */
/*
 * tests/mpi/turns.c - a woken thread runs before the leader looks again
 *
 * For 2 ranks with one VCPU each. Rank 0 has the threads, and rank 1 sends what it is told
 * to. The functions of MPI by which the library looks are this program's, and count.
 *
 *   batches  A look finds the messages of several threads, and that of the leader too. The
 *            leader, or the next one, lets the others run. Looks before that are in vain.
 *   blocked  Many threads want messages, and the first message is for a thread that is about
 *            to ask for it. The leader lets it ask, and makes no receive of the others.
 *   passed   That message is asked for last. The others get theirs meanwhile.
 *   shares   Many threads, or few, are woken together, and then talk to themselves, so that
 *            none of them has to wait. The others begin before the first one has ended.
 *   quiet    Without a thread that waits nothing looks.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "threads.h"

#define WORLD	MPI_COMM_WORLD
#define IGNORE	MPI_STATUS_IGNORE
#define FEW	8
#define MANY	40	/* so that receives are deferred */
#define ROUNDS	60
#define SOME	10

enum { TAG_ORDER = 900, TAG_FIRST, TAG_LAST, TAG_OWN };

/* What rank 1 is to send: TAG_FIRST, one message for each tag of a range, TAG_LAST. */
struct order {
	int first, from, to, step, last;
};

static _Atomic int counts, done, back, vain;	/* looks of batches */
static _Atomic int seen, receives;		/* of TAG_FIRST; made since */
static _Atomic int begun;
static _Atomic int looks;

#define REAL(name)							\
	static __typeof__(name) *real;					\
	if (!real)							\
		real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	int error;

	REAL(PMPI_Test);
	looks++;
	error = real(request, flag, status);
	if (counts && *flag)
		done++;
	else if (counts && done > back)
		vain++;
	return error;
}

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	int error;

	REAL(PMPI_Iprobe);
	looks++;
	error = real(source, tag, comm, flag, status);
	if (tag == MPI_ANY_TAG && *flag && status->MPI_TAG == TAG_FIRST)
		seen = 1;
	return error;
}

int PMPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag,
	       MPI_Comm comm, MPI_Request *request)
{
	REAL(PMPI_Irecv);
	if (source != MPI_PROC_NULL)
		receives += seen;
	return real(buffer, count, type, source, tag, comm, request);
}

static void yield(void)
{
#ifdef WEFT
	weft_yield();
#else
	sched_yield();
#endif
}

static void tell(struct order order)
{
	MPI_Send(&order, sizeof(order), MPI_BYTE, 1, TAG_ORDER, WORLD);
}

static void receive(int tag)
{
	int x = -1;

	MPI_Recv(&x, 1, MPI_INT, 1, tag, WORLD, IGNORE);
	CHECK(x == tag);
}

/* Rank 1. An order for no tag at all is the last one. */
static void obey(void)
{
	struct order o;
	int tag;

	for (;;) {
		MPI_Recv(&o, sizeof(o), MPI_BYTE, 0, TAG_ORDER, WORLD, IGNORE);
		if (o.step == 0)
			return;
		if (o.first)
			MPI_Send(&(int){ TAG_FIRST }, 1, MPI_INT, 0, TAG_FIRST, WORLD);
		for (tag = o.from; tag < o.to; tag += o.step)
			MPI_Send(&tag, 1, MPI_INT, 0, tag, WORLD);
		if (o.last)
			MPI_Send(&(int){ TAG_LAST }, 1, MPI_INT, 0, TAG_LAST, WORLD);
	}
}

/* --- batches ---------------------------------------------------------- */

static void *receives_all(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		begun++;
		receive((int)(long)arg);
		back++;
	}
	return NULL;
}

/* All of them, or each second one. They have come when the last message has. */
static void batch(int from, int step)
{
	int here = 0;

	done = back = 0;
	tell((struct order){ .from = from, .to = FEW, .step = step, .last = 1 });
	counts = 1;
	while (!here)
		MPI_Iprobe(1, TAG_LAST, WORLD, &here, IGNORE);
	while (back < FEW / step)
		yield();
	counts = 0;
	receive(TAG_LAST);
}

static void batches(void)
{
	threads_spawn(FEW, receives_all);
	for (int i = 0; i < ROUNDS; i++) {
		while (begun < FEW * (i + 1))
			yield();
		for (int n = 0; n < 5; n++)	/* they have parked, or one leads */
			yield();
		if (i % 2 == 0) {
			batch(0, 1);
			continue;
		}
		batch(0, 2);
		batch(1, 2);
	}
	threads_join(FEW);
	/* Each thread that begins to wait looks once, and so do others at their requests. */
	CHECK(vain < 6 * FEW * ROUNDS);
	if (vain >= 6 * FEW * ROUNDS)
		printf("%d looks in vain\n", vain);
}

/* --- a message that nobody wants yet ---------------------------------- */

static void *receives_one(void *arg)
{
	begun++;
	receive((int)(long)arg);
	back++;
	return NULL;
}

static void spawn_many(void)
{
	begun = back = 0;
	threads_spawn(MANY, receives_one);
	while (begun < MANY)
		yield();
	for (int n = 0; n < 5; n++)
		yield();
}

/* The leader sees the message, and then this thread asks for it at once. */
static int is_seen(void)
{
	int here = 0;

	tell((struct order){ .first = 1, .step = 1 });
	while (!here)
		MPI_Iprobe(1, TAG_FIRST, WORLD, &here, IGNORE);
	for (int n = 0; !seen && n < 1000; n++)
		yield();
	receive(TAG_FIRST);
	here = seen;
	seen = 0;
	return here;
}

static void blocked(void)
{
	int rounds = 0;

	for (int i = 0; i < SOME; i++) {
		spawn_many();
		rounds += is_seen();
		tell((struct order){ .to = MANY, .step = 1 });
		threads_join(MANY);
	}
	CHECK(rounds > 0);
	/* This thread's own, unless it is preempted behind the leader's look. */
	CHECK(receives < rounds * MANY / 2);
	if (receives >= rounds * MANY / 2)
		printf("%d receives made in %d rounds\n", receives, rounds);
}

static void passed(void)
{
	spawn_many();
	tell((struct order){ .first = 1, .to = MANY, .step = 1 });
	threads_join(MANY);
	CHECK(back == MANY);
	receive(TAG_FIRST);
}

/* --- threads that do not have to wait --------------------------------- */

static _Atomic int woken, ended;
static int with_first;		/* threads that had begun when the first one ended */

static void *talks_to_itself(void *arg)
{
	const int tag = (int)(long)arg;

	begun++;
	receive(tag);
	woken++;
	for (int i = 0, x = tag; i < 4 * ROUNDS; i++) {
		MPI_Send(&x, 1, MPI_INT, 0, TAG_OWN + tag, WORLD);
		MPI_Recv(&x, 1, MPI_INT, 0, TAG_OWN + tag, WORLD, IGNORE);
	}
	if (ended++ == 0)
		with_first = woken;
	return NULL;
}

/* Rarely the leader looks when some of the messages have come. */
static void shares(int count)
{
	int rounds = 0, here;

	for (int i = 0; i < SOME; i++) {
		begun = woken = ended = here = 0;
		threads_spawn(count, talks_to_itself);
		while (begun < count)
			yield();
		for (int n = 0; n < 5; n++)
			yield();
		tell((struct order){ .to = count, .step = 1, .last = 1 });
		while (!here)
			MPI_Iprobe(1, TAG_LAST, WORLD, &here, IGNORE);
		threads_join(count);
		receive(TAG_LAST);
		rounds += with_first == count;
	}
	CHECK(rounds > SOME / 2);
	if (rounds <= SOME / 2)
		printf("%d threads: not so in %d rounds\n", count, SOME - rounds);
}

static void quiet(void)
{
	int begin = looks;

#ifdef WEFT
	CHECK(weft_sleep(WEFT_MS(20)) == 0);
#else
	usleep(20000);
#endif
	CHECK(looks == begin && looks > 0);
}

int main(int argc, char **argv)
{
	int level;

	setenv("WEFT_MPI_DEFER", "16", 1);
	threads_begin(argc > 1 && strcmp(argv[1], "light") == 0);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(WORLD, &rank);
	if (rank == 0) {
		batches();
		blocked();
		passed();
		shares(MANY);
		shares(FEW);
		quiet();
		tell((struct order){ .step = 0 });
	} else {
		obey();
		checks++;
	}
	MPI_Finalize();
	threads_end();
	printf("%d checks, %d failed\n", checks, failed);
	return failed != 0;
}
