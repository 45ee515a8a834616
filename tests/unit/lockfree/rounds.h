/* SPDX-License-Identifier: MIT */
/*
 * rounds.h - short histories of a crew, each recorded and judged by itself
 *
 * A test has one object in question, and says what a member does in a round.
 * Each round begins with a fresh object, and every member makes its calls at
 * the same time as the others. Then the main thread adds a drain, so that a
 * lost element cannot hide, and has the checker judge the whole. The members
 * are threads, or processes; what they record is in memory that all of them
 * share.
 */
#ifndef WEFT_TESTS_LOCKFREE_ROUNDS_H
#define WEFT_TESTS_LOCKFREE_ROUNDS_H

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "history.h"
#include "support.h"

#define ROUNDS_CREW_MAX	4

struct rounds_member {
	struct history_recorder rec;
	struct history_op op[HISTORY_MAX];
	uint64_t seed;
	struct rounds *rounds;
	pthread_t thread;
	pid_t process;
};

struct rounds_plan {
	const struct history_model *model;
	const void *setup;		/* for the model's begin */
	int crew;
	int of_processes;	/* all that they touch is shared memory */
	size_t count;			/* scaled */
	void (*begin)(size_t round);
	void (*play)(struct rounds_member *m);	/* one round's calls */
	void (*drain)(struct history_recorder *rec);
	/* Before it is judged, the whole; NULL: nothing. */
	void (*look)(struct history_op *op, size_t count);
};

struct rounds {
	const struct rounds_plan *plan;
	size_t count;
	_Atomic uint64_t clock;
	pthread_barrier_t start, end;
	struct history_gate gate;
	struct rounds_member member[ROUNDS_CREW_MAX];
};

static void *rounds_member_run(void *arg)
{
	struct rounds_member *m = arg;
	struct rounds *all = m->rounds;

	for (size_t r = 0; r < all->count; r++) {
		pthread_barrier_wait(&all->start);
		history_gate_pass(&all->gate, (uint32_t)all->plan->crew);
		all->plan->play(m);
		pthread_barrier_wait(&all->end);
	}
	return NULL;
}

static void rounds_member_begin(struct rounds_member *m)
{
	pid_t pid;	/* not in m at once, which parent and child share */

	if (!m->rounds->plan->of_processes) {
		CU_ASSERT_EQUAL_FATAL(pthread_create(&m->thread, NULL,
						rounds_member_run, m), 0);
		return;
	}
	fflush(NULL);
	pid = fork();
	CU_ASSERT_FATAL(pid >= 0);
	if (pid == 0) {
		/* The watchdog ends only the test's own process. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		rounds_member_run(m);
		_exit(0);
	}
	m->process = pid;
}

static void rounds_member_end(struct rounds_member *m)
{
	int status = 0;

	if (m->rounds->plan->of_processes)
		waitpid(m->process, &status, 0);
	else
		pthread_join(m->thread, NULL);
	CU_ASSERT_EQUAL(status, 0);
}

static struct rounds *rounds_create(const struct rounds_plan *plan,
				    size_t count)
{
	struct rounds *all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned size = (unsigned)plan->crew + 1;
	pthread_barrierattr_t attr;

	CU_ASSERT_FATAL(all != MAP_FAILED);
	all->plan = plan;
	all->count = count;
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&all->start, &attr, size);
	pthread_barrier_init(&all->end, &attr, size);
	pthread_barrierattr_destroy(&attr);
	history_clock_at(&all->clock);
	return all;
}

static void rounds_destroy(struct rounds *all)
{
	history_clock_at(NULL);
	pthread_barrier_destroy(&all->start);
	pthread_barrier_destroy(&all->end);
	munmap(all, sizeof(*all));
}

/* Returns 1 if no sequential object does what was seen. */
static int rounds_is_broken(struct rounds *all, int is_control)
{
	const struct rounds_plan *plan = all->plan;
	struct history_recorder rec[ROUNDS_CREW_MAX];
	struct history_op op[HISTORY_MAX];
	size_t count;

	plan->drain(&all->member[0].rec);
	for (int i = 0; i < plan->crew; i++)
		rec[i] = all->member[i].rec;
	count = history_merge(op, HISTORY_MAX, rec, (size_t)plan->crew);
	if (plan->look)
		plan->look(op, count);
	if (history_check(plan->model, plan->setup, op, count) ==
	    HISTORY_LINEARIZABLE)
		return 0;
	if (!is_control)
		history_print(plan->model, op, count);
	return 1;
}

/*
 * Returns how many rounds were broken. Those of a control are not scaled, nor printed;
 * it may be called until one is, and plays others each time.
 */
static size_t rounds_broken(const struct rounds_plan *plan, int is_control)
{
	static uint64_t players;
	struct rounds *all = rounds_create(plan, is_control ? plan->count :
						 test_scaled(plan->count));
	size_t broken = 0;

	for (int i = 0; i < plan->crew; i++) {
		all->member[i].seed = test_seed(players++);
		all->member[i].rounds = all;
		rounds_member_begin(&all->member[i]);
	}
	for (size_t r = 0; r < all->count; r++) {
		history_clock_reset();
		for (int i = 0; i < plan->crew; i++)
			history_recorder_init(&all->member[i].rec, i,
					      all->member[i].op, HISTORY_MAX);
		plan->begin(r);
		pthread_barrier_wait(&all->start);
		pthread_barrier_wait(&all->end);
		broken += (size_t)rounds_is_broken(all, is_control);
	}
	for (int i = 0; i < plan->crew; i++)
		rounds_member_end(&all->member[i]);
	rounds_destroy(all);
	return broken;
}

static inline void rounds_run(const struct rounds_plan *plan)
{
	CU_ASSERT_EQUAL(rounds_broken(plan, 0), 0);
}

/* The same from empty and from full: where a model begins, of its `setup`. */
static inline void rounds_run_empty_and_full(const struct rounds_plan *plan,
					     uint64_t *prefilled,
					     uint64_t capacity)
{
	*prefilled = 0;
	rounds_run(plan);
	*prefilled = capacity;
	rounds_run(plan);
}

#endif
