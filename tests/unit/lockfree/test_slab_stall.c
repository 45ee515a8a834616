/* SPDX-License-Identifier: MIT */
/*
 * test_slab_stall.c - a call on a slab set stops at each step; the others take
 * and give back all but what is in the magazine of the one that is stopped
 *
 * In the program's own memory, and in a file. When the call has returned and
 * its thread has left, every object can be had again. The control is the same
 * set behind a spin lock.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft/slab.h>

#include "each_step.h"
#include "lockfree/slab.h"
#include "steps.h"
#include "support.h"

#define TOTAL		(WEFTI_SLAB_GROUPS * WEFTI_SLAB_OBJECTS)  /* one slab */
#define MAGAZINE	WEFTI_SLAB_OBJECTS
#define HIDDEN_MOST	(MAGAZINE + WEFTI_SLAB_HELD + 1)	/* and one in its hands */
#define STEPS_MOST	1000		/* a look at each group, and more */

static const struct weft_slab_attr attr = { 2600, 8, 4 };
static struct weft_slab *set;

struct pool {
	void *(*alloc)(int *error);
	int (*free)(void *object);
};

static void *set_alloc(int *error)
{
	return weft_slab_alloc(set, error);
}

static int set_free(void *object)
{
	return weft_slab_free(set, object);
}

static const struct pool lock_free = { set_alloc, set_free };

static _Atomic uint32_t spin_lock;

static void *locked_alloc(int *error)
{
	void *object;

	*error = -EDEADLK;
	if (!each_step_spin(&spin_lock))
		return NULL;
	object = set_alloc(error);
	store_release(&spin_lock, 0u);
	return object;
}

static int locked_free(void *object)
{
	int rc;

	if (!each_step_spin(&spin_lock))
		return -EDEADLK;
	rc = set_free(object);
	store_release(&spin_lock, 0u);
	return rc;
}

static const struct pool spinning = { locked_alloc, locked_free };

struct scene;

struct act {
	const char *name;
	void (*prepare)(struct scene *s);
	void (*arrive)(struct scene *s);	/* the victim */
	void (*call)(struct scene *s);		/* the victim */
	void (*meanwhile)(struct scene *s);
};

struct scene {
	const struct pool *pool;
	const struct act *act;
	int in_file;
	void *mine[TOTAL + 1];		/* of this thread */
	size_t count;
	void *its[MAGAZINE + 1];	/* of the victim */
	size_t its_count;
	unsigned hindered;
	struct each_step_most most;
};

/* Returns 0 when there is no more. */
static int take(struct scene *s)
{
	size_t before = steps_own();
	int error = 0;
	void *object = s->pool->alloc(&error);

	each_step_took(&s->most, before);
	if (!object) {
		CU_ASSERT_TRUE(error == -ENOSPC || error == -EDEADLK);
		return 0;
	}
	CU_ASSERT_FATAL(s->count < TOTAL);
	s->mine[s->count++] = object;
	return 1;
}

static void give(struct scene *s, size_t down_to)
{
	while (s->count > down_to) {
		size_t before = steps_own();
		int rc = s->pool->free(s->mine[s->count - 1]);

		each_step_took(&s->most, before);
		CU_ASSERT_TRUE(rc == 0 || rc == -EDEADLK);
		if (rc != 0) {
			s->hindered++;
			return;
		}
		s->count--;
	}
}

/* All that can be had; `hidden` at most cannot. */
static void take_all_but(struct scene *s, size_t hidden)
{
	size_t had = s->count;
	struct weft_slab_info info;

	while (take(s))
		;
	weft_slab_info(set, &info);
	s->hindered += info.live + hidden < TOTAL;
	give(s, had);
}

/* A thread that has no magazine yet takes two groups, if there are so many. */
static void *newcomer(void *arg)
{
	static struct scene own;
	struct scene *s = arg;
	struct weft_slab_info info;

	own = (struct scene){ .pool = s->pool };
	weft_slab_info(set, &info);
	for (size_t i = 0; i < MAGAZINE + 1 && take(&own); i++)
		;
	own.hindered += own.count <= MAGAZINE &&
			info.live + HIDDEN_MOST + 3 * MAGAZINE <= TOTAL;
	give(&own, 0);
	s->hindered += own.hindered;
	if (own.most.steps > s->most.steps)
		s->most = own.most;
	return NULL;
}

static void open_set(struct scene *s)
{
	char path[] = "/tmp/weft-slab-stall-XXXXXX";
	int fd;

	if (!s->in_file) {
		CU_ASSERT_EQUAL_FATAL(weft_slab_create(&set, &attr), 0);
		return;
	}
	fd = mkstemp(path);
	CU_ASSERT_TRUE_FATAL(fd >= 0);
	close(fd);
	CU_ASSERT_EQUAL_FATAL(weft_slab_create_file(&set, &attr, path, 0600),
			      0);
	unlink(path);
}

static void prepare(void *arg)
{
	struct scene *s = arg;

	open_set(s);
	s->count = s->its_count = 0;
	if (s->act->prepare)
		s->act->prepare(s);
}

static void arrive(void *arg)
{
	struct scene *s = arg;

	if (s->act->arrive)
		s->act->arrive(s);
}

static void call(void *arg)
{
	struct scene *s = arg;

	s->act->call(s);
}

static void others(void *arg)
{
	struct scene *s = arg;
	pthread_t thread;

	if (s->act->meanwhile)
		s->act->meanwhile(s);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, newcomer, s), 0);
	pthread_join(thread, NULL);
	take_all_but(s, HIDDEN_MOST);
}

static void later(void *arg)
{
	take_all_but(arg, HIDDEN_MOST);
}

static void after(void *arg)
{
	struct scene *s = arg;

	take_all_but(s, 0);
	weft_slab_close(set);
}

static const struct each_step stops = {
	.prepare = prepare, .arrive = arrive, .call = call, .others = others,
	.later = later, .after = after,
};

/* --- the calls */

static void take_one(struct scene *s)
{
	(void)take(s);
}

static void take_a_group_and_one(struct scene *s)
{
	for (unsigned i = 0; i <= MAGAZINE; i++)
		take_one(s);
}

/* One group is left, and its objects came back; all others are full. */
static void take_all_but_a_group(struct scene *s)
{
	while (take(s))
		;
	give(s, s->count - MAGAZINE);
	weft_slab_leave(set);
}

static void give_all(struct scene *s)
{
	give(s, 0);
}

static void its_alloc(struct scene *s)
{
	int error;
	void *object = s->pool->alloc(&error);

	if (object)
		s->its[s->its_count++] = object;
}

static void its_alloc_group(struct scene *s)
{
	while (s->its_count < MAGAZINE)
		its_alloc(s);
}

static void its_free(struct scene *s)
{
	if (s->pool->free(s->its[s->its_count - 1]) == 0)
		s->its_count--;
}

/* It is no longer in the list of the thread that had it. */
static void its_free_of_another(struct scene *s)
{
	(void)!s->pool->free(s->mine[TOTAL]);
}

static void take_one_for_it(struct scene *s)
{
	take_one(s);
	s->mine[TOTAL] = s->mine[--s->count];
}

static void take_one_of_a_full_group_for_it(struct scene *s)
{
	take_a_group_and_one(s);
	s->mine[TOTAL] = s->mine[0];
	s->mine[0] = s->mine[--s->count];
}

/* The last three that the victim had come back to its group. */
static void give_some_of_its(struct scene *s)
{
	for (int i = 0; i < 3; i++)
		s->mine[s->count++] = s->its[--s->its_count];
	give(s, s->count - 3);
}

static void its_reserve(struct scene *s)
{
	void *object = weft_slab_reserve(set, NULL);

	if (object && weft_slab_publish(set, object) == 0)
		s->its[s->its_count++] = object;
}

static void its_leave(struct scene *s)
{
	(void)s;
	weft_slab_leave(set);
}

static const struct act acts[] = {
	{ "first alloc of all", NULL, NULL, its_alloc, NULL },
	{ "first alloc", take_one, NULL, its_alloc, NULL },
	{ "alloc", take_one, its_alloc, its_alloc, NULL },
	{ "alloc, full group", take_one, its_alloc_group, its_alloc, NULL },
	{ "alloc, full group no more", take_one, its_alloc_group, its_alloc,
		give_some_of_its },
	{ "alloc of the last group", take_all_but_a_group, NULL, its_alloc,
		NULL },
	{ "alloc of the last group no more", take_all_but_a_group, NULL,
		its_alloc, give_all },
	{ "free", take_one, its_alloc, its_free, NULL },
	{ "free elsewhere", take_one_for_it, its_alloc, its_free_of_another,
		NULL },
	{ "free to a full group", take_one_of_a_full_group_for_it, its_alloc,
		its_free_of_another, NULL },
	{ "reserve and publish", take_one, its_alloc, its_reserve, NULL },
	{ "leave", take_one, its_alloc, its_leave, NULL },
};

static struct scene scene;

/* Returns how often others could not have what there was. */
static unsigned run(const struct pool *pool, const struct act *act,
		    int in_file, size_t steps_most)
{
	size_t steps;

	memset(&scene, 0, sizeof(scene));
	scene.pool = pool;
	scene.act = act;
	scene.in_file = in_file;
	store_relaxed(&spin_lock, 0u);
	steps = each_step(&stops, &scene);
	printf("    %s: stopped at %zu steps, others %u times hindered, %zu "
	       "steps a call at most\n", act->name, steps, scene.hindered,
	       scene.most.steps);
	CU_ASSERT_TRUE(steps > 0);
	CU_ASSERT_TRUE(scene.most.steps <= steps_most);
	return scene.hindered;
}

/* Where all is slow, some in a file, "the last group no more" among them. */
static void run_all(int in_file)
{
	size_t apart = in_file && test_scaled(2) < 2 ? 3 : 1;

	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i += apart)
		CU_ASSERT_EQUAL(run(&lock_free, &acts[i], in_file, STEPS_MOST),
				0);
}

static void a_stopped_call_hinders_nobody_in_memory(void)
{
	run_all(0);
}

static void a_stopped_call_hinders_nobody_in_a_file(void)
{
	run_all(1);
}

static void a_set_behind_a_spin_lock_fails_the_same_test(void)
{
	CU_ASSERT_TRUE(run(&spinning, &acts[2], 0, SIZE_MAX) > 0);
	CU_ASSERT_TRUE(run(&spinning, &acts[7], 0, SIZE_MAX) > 0);
}

static const struct test_case cases[] = {
	TEST(a_stopped_call_hinders_nobody_in_memory),
	TEST(a_stopped_call_hinders_nobody_in_a_file),
	TEST(a_set_behind_a_spin_lock_fails_the_same_test),
};

TEST_MAIN("lockfree/slab_stall", cases)
