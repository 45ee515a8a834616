/* SPDX-License-Identifier: MIT */
/*
 * rounds.h - short histories of a crew, each recorded and judged by itself
 *
 * A test has one object in question, and says what a member does in a round.
 * Each round begins with a fresh object, every member makes its calls at the
 * same time as the others, and the main thread adds a drain, so that what was
 * lost cannot hide, and has the checker judge the whole.
 */
#ifndef WEFT_TESTS_LOCKFREE_ROUNDS_H
#define WEFT_TESTS_LOCKFREE_ROUNDS_H

#include <pthread.h>

#include "history.h"
#include "support.h"

#define ROUNDS_CREW_MAX	4

struct rounds_member {
	struct history_recorder rec;
	struct history_op op[HISTORY_MAX];
	uint64_t seed;
	struct rounds *rounds;
};

struct rounds {
	const struct history_model *model;
	const void *setup;		/* for the model's begin */
	int crew;
	size_t count;
	void (*begin)(size_t round);
	void (*play)(struct rounds_member *m);	/* one round's calls */
	void (*drain)(struct history_recorder *rec);

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
		history_gate_pass(&all->gate, (uint32_t)all->crew);
		all->play(m);
		pthread_barrier_wait(&all->end);
	}
	return NULL;
}

static enum history_verdict rounds_judge(struct rounds *all)
{
	struct history_recorder rec[ROUNDS_CREW_MAX];
	struct history_op op[HISTORY_MAX];
	enum history_verdict verdict;
	size_t count;

	all->drain(&all->member[0].rec);
	for (int i = 0; i < all->crew; i++)
		rec[i] = all->member[i].rec;
	count = history_merge(op, HISTORY_MAX, rec, (size_t)all->crew);
	verdict = history_check(all->model, all->setup, op, count);
	if (verdict != HISTORY_LINEARIZABLE)
		history_print(all->model, op, count);
	return verdict;
}

static void rounds_run(struct rounds *all)
{
	pthread_t tid[ROUNDS_CREW_MAX];
	unsigned size = (unsigned)all->crew + 1;

	pthread_barrier_init(&all->start, NULL, size);
	pthread_barrier_init(&all->end, NULL, size);
	for (int i = 0; i < all->crew; i++) {
		all->member[i].seed = test_seed((uint64_t)i);
		all->member[i].rounds = all;
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[i], NULL,
				rounds_member_run, &all->member[i]), 0);
	}
	for (size_t r = 0; r < all->count; r++) {
		history_clock_reset();
		for (int i = 0; i < all->crew; i++)
			history_recorder_init(&all->member[i].rec, i,
					      all->member[i].op, HISTORY_MAX);
		all->begin(r);
		pthread_barrier_wait(&all->start);
		pthread_barrier_wait(&all->end);
		CU_ASSERT_EQUAL(rounds_judge(all), HISTORY_LINEARIZABLE);
	}
	for (int i = 0; i < all->crew; i++)
		pthread_join(tid[i], NULL);
	pthread_barrier_destroy(&all->start);
	pthread_barrier_destroy(&all->end);
}

#endif
