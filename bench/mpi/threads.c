/* SPDX-License-Identifier: MIT */
/*
 * threads WHAT THREADS BYTES MS - what MPI costs when several threads of a rank call it
 *
 * For 2 ranks. bench-mpi runs it, built with pthreads, with weft's threads, and
 * with light ones.
 *
 *	talk	thread i of rank 0 sends to thread i of rank 1 and waits for the
 *		answer, over and over: messages a second, the round trip's time
 *	idle	the threads of rank 1 wait in MPI_Recv: its CPU time
 *	reduce	the threads compute, and one more calls MPI_Allreduce
 */
#include "figures.h"
#include "mpi/ranks.h"

enum { TAG_IDLE = 20000 };

static struct {
	int threads, bytes;
	int64_t ms, end;	/* end: written before `go` is posted */
	struct either_sem ready, go;
	volatile int over;	/* of computing threads; late is no harm */
} run;

struct talker {
	int index;
	unsigned char *message;	/* its first byte: 0 is the end */
	struct times trip;
	double work;
	uint64_t units;
	either_thread thread;
};

static void pass(struct talker *t, unsigned char go_on)
{
	t->message[0] = go_on;
	ranks_must(MPI_Send(t->message, run.bytes, MPI_BYTE, !ranks.rank,
			    t->index, MPI_COMM_WORLD), "send");
}

static void await(struct talker *t)
{
	ranks_must(MPI_Recv(t->message, run.bytes, MPI_BYTE, !ranks.rank,
			    t->index, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
		   "receive");
}

static void *ask(void *arg)
{
	struct talker *t = arg;

	/* The first trip warms up. */
	pass(t, 1);
	await(t);
	ranks_check(either_sem_post(&run.ready), "post");
	ranks_check(either_sem_wait(&run.go), "wait");
	for (int64_t before = now_ns(); before < run.end; ) {
		int64_t after;

		pass(t, 1);
		await(t);
		after = now_ns();
		times_add(&t->trip, after - before);
		before = after;
	}
	pass(t, 0);
	return NULL;
}

static void *reply(void *arg)
{
	struct talker *t = arg;

	for (await(t); t->message[0]; await(t))
		pass(t, 1);
	return NULL;
}

static void start(struct talker *t, void *(*fn)(void *))
{
	for (int i = 0; i < run.threads; i++) {
		t[i].index = i;
		t[i].message = ranks_memory((size_t)run.bytes, 1);
		t[i].trip.room = 256 + 65536 / (unsigned)run.threads;
		t[i].trip.ns = ranks_memory(t[i].trip.room, sizeof(int64_t));
		ranks_check(either_spawn(&t[i].thread, fn, &t[i]), "spawn");
	}
}

static void join(struct talker *t)
{
	for (int i = 0; i < run.threads; i++)
		ranks_check(either_join(t[i].thread, NULL), "join");
}

/* All threads have their first trip behind them; now it counts. */
static int64_t let_go(void)
{
	int64_t begin;

	for (int i = 0; i < run.threads; i++)
		ranks_check(either_sem_wait(&run.ready), "wait");
	begin = now_ns();
	run.end = begin + run.ms * 1000000;
	for (int i = 0; i < run.threads; i++)
		ranks_check(either_sem_post(&run.go), "post");
	return begin;
}

static void say_trips(struct talker *t, int64_t took)
{
	struct times all = { .room = 0 };
	uint64_t trips = 0;

	for (int i = 0; i < run.threads; i++) {
		trips += t[i].trip.count;
		all.room += times_kept(&t[i].trip);
	}
	all.ns = ranks_memory(all.room, sizeof(*all.ns));
	for (int i = 0; i < run.threads; i++)
		for (unsigned k = 0; k < times_kept(&t[i].trip); k++)
			times_add(&all, t[i].trip.ns[k]);
	figure(".", "k/s", 2e6 * (double)trips / (double)took);
	times_say(&all);
	free(all.ns);
}

static void talk(struct talker *t)
{
	int64_t begin;

	if (ranks.rank != 0) {
		start(t, reply);
		join(t);
		return;
	}
	start(t, ask);
	begin = let_go();
	join(t);
	say_trips(t, now_ns() - begin);
}

/* --- threads that wait -------------------------------------------------- */

static void *wait_once(void *arg)
{
	await(arg);
	return NULL;
}

static void idle(struct talker *t)
{
	double used = 0;

	if (ranks.rank == 0) {
		ranks_must(MPI_Recv(&used, 1, MPI_DOUBLE, 1, TAG_IDLE,
				    MPI_COMM_WORLD, MPI_STATUS_IGNORE),
			   "receive");
		for (int i = 0; i < run.threads; i++) {
			t[i].index = i;
			t[i].message = ranks_memory((size_t)run.bytes, 1);
			pass(&t[i], 0);
		}
		figure(".", "ms", used * 1e3);	/* of a second */
		return;
	}
	start(t, wait_once);
	either_sleep_us(500000);
	used = cpu_ns();
	either_sleep_us((unsigned)run.ms * 1000);
	used = (cpu_ns() - used) / (double)(run.ms * 1000000);
	ranks_must(MPI_Send(&used, 1, MPI_DOUBLE, 0, TAG_IDLE, MPI_COMM_WORLD),
		   "send");
	join(t);
}

/* --- a collective beside computing threads ------------------------------ */

static void *calculate(void *arg)
{
	struct talker *t = arg;

	while (!run.over) {
		t->work = compute(t->work);
		t->units++;
	}
	return NULL;
}

static void *reduce_all(void *arg)
{
	struct talker *t = arg;
	const int count = ints_of(run.bytes);
	int *one = ranks_memory((size_t)count, sizeof(int));
	int *sum = ranks_memory((size_t)count, sizeof(int));
	int64_t before = now_ns();

	/* Rank 0's clock ends it for both. */
	while (!sum[0]) {
		int64_t after;

		one[0] = ranks.rank == 0 && before >= run.end;
		ranks_must(MPI_Allreduce(one, sum, count, MPI_INT, MPI_SUM,
					 MPI_COMM_WORLD), "allreduce");
		after = now_ns();
		times_add(&t->trip, after - before);
		before = after;
	}
	run.over = 1;
	free(sum);
	free(one);
	return NULL;
}

static void reduce(struct talker *t)
{
	struct talker one = { .trip = { .room = 65536 } };
	uint64_t units = 0;

	one.trip.ns = ranks_memory(one.trip.room, sizeof(int64_t));
	start(t, calculate);
	run.end = now_ns() + run.ms * 1000000;
	ranks_check(either_spawn(&one.thread, reduce_all, &one), "spawn");
	ranks_check(either_join(one.thread, NULL), "join");
	join(t);
	for (int i = 0; i < run.threads; i++)
		units += t[i].units;
	if (ranks.rank != 0)
		return;
	times_say(&one.trip);
	figure("-work", "M/s", (double)units / (double)run.ms / 1e3);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(struct talker *t);
	} what[] = { { "talk", talk }, { "idle", idle }, { "reduce", reduce } };
	struct talker *t;

	ranks_start("threads", &argc, &argv);
	if (argc != 5 || ranks.count != 2)
		ranks_die("usage: mpirun -n 2 threads WHAT THREADS BYTES MS");
	run.threads = ranks_number(argv[2], 1, TAG_IDLE - 1);
	run.bytes = ranks_number(argv[3], 1, 1 << 30);
	run.ms = ranks_number(argv[4], 1, 1000000);
	ranks_check(either_sem_init(&run.ready, 0), "semaphore");
	ranks_check(either_sem_init(&run.go, 0), "semaphore");
	t = ranks_memory((size_t)run.threads, sizeof(*t));
	ranks_must(MPI_Barrier(MPI_COMM_WORLD), "barrier");
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
		if (!strcmp(what[i].name, argv[1]))
			what[i].fn(t);
	ranks_stop();
	return 0;
}
