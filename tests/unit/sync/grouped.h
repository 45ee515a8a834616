/* SPDX-License-Identifier: MIT */
/* grouped.h - what the threads of a test's groups do */
#ifndef WEFT_TESTS_GROUPED_H
#define WEFT_TESTS_GROUPED_H

#include "crowd.h"

#include "weft/group.h"

#define MANY	40

struct job {
	struct weft_group *group;
	int result;		/* returned, if not cancelled before */
	struct weft_sem *go;	/* waits for it first; NULL: does not wait */
	_Atomic uint32_t begun, ended;
	_Atomic uint32_t cancelled;
	_Atomic uint64_t id;
};

static inline int work(void *arg)
{
	struct job *j = arg;
	int error = 0;

	store_seq_cst(&j->id, weft_self());
	fetch_add_seq_cst(&j->begun, 1);
	if (j->go)
		error = weft_sem_wait(j->go);
	must(error == 0 || error == -ECANCELED);
	if (error == -ECANCELED)
		fetch_add_seq_cst(&j->cancelled, 1);
	fetch_add_seq_cst(&j->ended, 1);
	return error ? error : j->result;
}

static inline int begin(struct weft_group *g, unsigned flags, int (*fn)(void *), void *arg)
{
	const struct weft_attr attr = { .flags = flags };

	return weft_group_spawn(g, NULL, &attr, fn, arg);
}

#endif
