/* SPDX-License-Identifier: MIT */
/*
 * queens [-t THREADS] [SIDE] - in how many ways stand queens on a chess board?
 *
 * Fork and join: a board with some rows filled forks a job for each place of
 * the next row's queen, and joins them. Each rank has a list of jobs that no
 * thread has begun. Its threads take the oldest from there. If there is none,
 * they ask another rank. That rank's server answers with its oldest job. At the join
 * a thread does the job itself if nobody has taken it. Otherwise it waits: for
 * a semaphore, or for the message that has the result.
 *
 * Rank 0 forks the first board. After its join it tells all servers that the
 * work is over. They say so to each thread that asks. A server ends when all
 * threads of all ranks have left.
 */
#include <getopt.h>
#include <stdint.h>

#include "ranks.h"

#define ROWS_FORKED	3	/* below these a job is done without forks */
#define SIDE_MAX	16

enum { TAG_TO_SERVER = 1, TAG_ANSWER, TAG_RESULT };
#define RESULTS		30000	/* tags from TAG_RESULT on */

enum ask { ASK_JOB, ASK_OVER, ASK_LEAVE };
enum answer { ANSWER_JOB, ANSWER_NONE, ANSWER_OVER };

struct board {
	uint32_t row;
	uint32_t columns, left, right;	/* places that queens attack */
};

/* To a server. The thread's answer comes with tag TAG_ANSWER. */
struct question {
	uint32_t ask;
	uint32_t thread;
};

struct answer_message {
	uint32_t answer;
	uint32_t result_tag;
	struct board board;
};

enum state { WAITING, TAKEN, SENT };

struct job {
	struct job *older, *newer;	/* in the list, while WAITING */
	struct board board;
	uint64_t ways;		/* the result; written before `done` */
	struct either_sem done;	/* for TAKEN */
	enum state state;	/* under list.mutex */
	int rank, tag;		/* for SENT: where it is */
};

static struct {
	struct either_mutex mutex;
	struct job *oldest, *newest;
	unsigned sent;		/* jobs; numbers their results */
} list;

static int side = 10, threads = 4;

static void lock(void)
{
	ranks_check(either_lock(&list.mutex), "lock");
}

static void unlock(void)
{
	ranks_check(either_unlock(&list.mutex), "unlock");
}

/* Under the mutex. */
static void take_out(struct job *j, enum state state)
{
	*(j->older ? &j->older->newer : &list.oldest) = j->newer;
	*(j->newer ? &j->newer->older : &list.newest) = j->older;
	j->state = state;
}

static void fork_job(struct job *j, struct board board)
{
	*j = (struct job){ .board = board, .state = WAITING };
	ranks_check(either_sem_init(&j->done, 0), "semaphore");
	lock();
	j->older = list.newest;
	*(list.newest ? &list.newest->newer : &list.oldest) = j;
	list.newest = j;
	unlock();
}

static uint64_t count(struct board b);

static uint64_t join_job(struct job *j)
{
	enum state was;

	lock();
	was = j->state;
	if (was == WAITING)
		take_out(j, TAKEN);
	unlock();
	if (was == WAITING)
		j->ways = count(j->board);
	else if (was == TAKEN)
		ranks_check(either_sem_wait(&j->done), "wait");
	else
		ranks_must(MPI_Recv(&j->ways, 1, MPI_UINT64_T, j->rank, j->tag,
				    MPI_COMM_WORLD, MPI_STATUS_IGNORE),
			   "receive a result");
	return j->ways;
}

static struct board put(struct board b, uint32_t place)
{
	return (struct board){ b.row + 1, b.columns | place,
			       (b.left | place) << 1, (b.right | place) >> 1 };
}

static uint64_t count(struct board b)
{
	uint32_t all = (1u << side) - 1;
	struct job job[SIDE_MAX];
	uint64_t ways = 0;
	int jobs = 0;

	if (b.row == (uint32_t)side)
		return 1;
	for (uint32_t free = all & ~(b.columns | b.left | b.right); free;
	     free &= free - 1) {
		struct board next = put(b, free & -free);

		if (b.row < ROWS_FORKED)
			fork_job(&job[jobs++], next);
		else
			ways += count(next);
	}
	while (jobs > 0)
		ways += join_job(&job[--jobs]);
	return ways;
}

static void tell_server(int rank, enum ask ask, int thread)
{
	struct question q = { ask, (uint32_t)thread };

	ranks_must(MPI_Send(&q, sizeof(q), MPI_BYTE, rank, TAG_TO_SERVER,
			    MPI_COMM_WORLD), "send to a server");
}

/* Does the oldest job of this rank; 0: there was none. */
static int do_own_job(void)
{
	struct job *j;

	lock();
	j = list.oldest;
	if (j)
		take_out(j, TAKEN);
	unlock();
	if (!j)
		return 0;
	j->ways = count(j->board);
	ranks_check(either_sem_post(&j->done), "post");
	return 1;
}

/*
 * Threads of a rank have tags of their own for answers, behind all results.
 */
static int answer_tag(int thread)
{
	return TAG_RESULT + RESULTS + thread;
}

static enum answer do_job_of(int rank, int thread)
{
	struct answer_message a;
	uint64_t ways;

	tell_server(rank, ASK_JOB, thread);
	ranks_must(MPI_Recv(&a, sizeof(a), MPI_BYTE, rank, answer_tag(thread),
			    MPI_COMM_WORLD, MPI_STATUS_IGNORE),
		   "receive an answer");
	if (a.answer != ANSWER_JOB)
		return a.answer;
	ways = count(a.board);
	ranks_must(MPI_Send(&ways, 1, MPI_UINT64_T, rank, (int)a.result_tag,
			    MPI_COMM_WORLD), "send a result");
	return ANSWER_JOB;
}

/* A thread that takes jobs until the work is over; arg is its number. */
static void *thief(void *arg)
{
	int thread = (int)(intptr_t)arg, victim = ranks.rank;
	unsigned pause_us = 50;
	enum answer answer = ANSWER_NONE;

	while (answer != ANSWER_OVER) {
		if (do_own_job()) {
			pause_us = 50;
			continue;
		}
		victim = (victim + 1) % ranks.count;
		answer = do_job_of(victim, thread);
		if (answer == ANSWER_JOB)
			pause_us = 50;
		if (answer != ANSWER_NONE)
			continue;
		either_sleep_us(pause_us);
		pause_us = pause_us < 1600 ? 2 * pause_us : 1600;
	}
	for (int r = 0; r < ranks.count; r++)
		tell_server(r, ASK_LEAVE, thread);
	return NULL;
}

static void answer(int rank, const struct question *q, int over)
{
	struct answer_message a = { .answer = over ? ANSWER_OVER : ANSWER_NONE };
	struct job *j = NULL;

	/* A thread looks into its own rank's list itself. */
	lock();
	if (!over && rank != ranks.rank)
		j = list.oldest;
	if (j) {
		take_out(j, SENT);
		j->rank = rank;
		j->tag = TAG_RESULT + (int)(list.sent++ % RESULTS);
		a = (struct answer_message){ ANSWER_JOB, (uint32_t)j->tag,
					     j->board };
	}
	unlock();
	ranks_must(MPI_Send(&a, sizeof(a), MPI_BYTE, rank,
			    answer_tag((int)q->thread), MPI_COMM_WORLD),
		   "send an answer");
}

static void *server(void *unused)
{
	int here = threads * ranks.count, over = 0;

	(void)unused;
	while (here > 0) {
		struct question q;
		MPI_Status status;

		ranks_must(MPI_Recv(&q, sizeof(q), MPI_BYTE, MPI_ANY_SOURCE,
				    TAG_TO_SERVER, MPI_COMM_WORLD, &status),
			   "receive a question");
		if (q.ask == ASK_JOB)
			answer(status.MPI_SOURCE, &q, over);
		else if (q.ask == ASK_OVER)
			over = 1;
		else
			here--;
	}
	return NULL;
}

static void count_all(void)
{
	struct job first;
	uint64_t ways;
	double took = MPI_Wtime();

	fork_job(&first, (struct board){ .row = 0 });
	ways = join_job(&first);
	took = MPI_Wtime() - took;
	for (int r = 0; r < ranks.count; r++)
		tell_server(r, ASK_OVER, 0);
	printf("%llu\n", (unsigned long long)ways);
	fprintf(stderr, "%s: %d ranks, %d threads each, %u jobs went from rank "
		"0 to others; %.4f s\n", EITHER_NAME, ranks.count, threads,
		list.sent, took);
}

int main(int argc, char **argv)
{
	either_thread *id, server_id;
	int c;

	ranks_start("queens", &argc, &argv);
	while ((c = getopt(argc, argv, "t:")) != -1)
		threads = ranks_number(c == 't' ? optarg : "", 1, 1000);
	if (optind < argc)
		side = ranks_number(argv[optind], 1, SIDE_MAX);
	ranks_check(either_mutex_init(&list.mutex), "mutex");
	id = ranks_memory((size_t)threads, sizeof(*id));
	ranks_check(either_spawn(&server_id, server, NULL), "spawn");
	for (int i = 0; i < threads; i++)
		ranks_check(either_spawn(&id[i], thief, (void *)(intptr_t)i),
			    "spawn");
	if (ranks.rank == 0)
		count_all();
	for (int i = 0; i < threads; i++)
		ranks_check(either_join(id[i], NULL), "join");
	ranks_check(either_join(server_id, NULL), "join");
	free(id);
	ranks_stop();
	return 0;
}
