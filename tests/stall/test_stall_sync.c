/* SPDX-License-Identifier: MIT */
/*
 * test_stall_sync.c - one kernel thread stops at each step of a call on a
 * condition variable, a semaphore, a reader-writer lock, a barrier or a once
 *
 * As test_stall.c does for the mutex. While it is stopped
 *   - threads that do not need the object go on;
 *   - every call on the same object returns or parks. That is, those that never
 *     wait return, and a wait with a deadline returns by then, unless (barrier)
 *     whether it came is for the stopped server to say, or (cond) the mutex has
 *     been handed to the stopped thread;
 *   - a thread that waits without a deadline is woken by others, unless the
 *     stopped thread is the server of that object's waiters or holds the one it is
 *     about to wake: that is what sync/waitlist.c says can be delayed.
 */
#include "sync_calls.h"

#include <pthread.h>

#include "sync/mutex.h"
#include "thread/bare.h"
#include "thread/wait.h"

#define USERS	3

struct actor {
	const struct sync_call *call;
	struct sync_scene scene;
	pthread_t foreign;
	_Atomic int ended;
};

struct tally {
	size_t stops, users, users_parked;
	size_t delayed;		/* stops at which a wake-up is with the victim */
};

struct run {
	const struct sync_call *call;
	unsigned flags;
	uint64_t random;
	struct tally tally;
};

/* Has it ended, or does it wait for another thread, not for a time? */
static int is_at_rest(uint64_t id, int *parked)
{
	struct wefti_thread *t = wefti_thread_find(id);
	uint64_t w = load_seq_cst(&t->wait);

	*parked = (w & WEFTI_WAIT_PHASE) == WEFTI_WAIT_PARKED &&
		  !(w & WEFTI_WAIT_TIMED);
	return *parked ||
	       load_seq_cst(&t->join) == wefti_join_word((uint32_t)(id >> 32),
							 WEFTI_JOIN_DONE);
}

/* May a user stay parked until the victim goes on? */
static int may_stay(const struct sync_call *c, struct sync_scene *s)
{
	if (load_seq_cst(&wefti_mutex_of(&s->mutex)->word) != 0)
		return 1;
	return c->delay == DELAYS_WAITERS && s->barrier.weft_private[3] != 0;
}

static void use(struct run *run, struct sync_scene *s, uint64_t id[USERS])
{
	for (int i = 0; i < USERS; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, run->call->use, s);
	for (int i = 0; i < USERS; i++) {
		int parked;

		while (!is_at_rest(id[i], &parked) ||
		       (parked && !may_stay(run->call, s)))
			stall_nap();
		run->tally.users++;
		run->tally.users_parked += (size_t)parked;
	}
}

/*
 * As many are posted as wait, by calls that return. A thread that is not woken
 * then is with the victim.
 */
static void look_for_delays(struct run *run, struct sync_scene *s)
{
	int parked, delayed = 0;

	if (run->call->wake != sync_calls[0].wake)
		return;
	for (int i = 0; i < s->helpers; i++)
		run->call->wake(s);
	for (int i = 0; i < s->helpers; i++)
		delayed |= is_at_rest(s->helper[i], &parked) && parked;
	run->tally.delayed += (size_t)delayed;
}

static void *foreign_main(void *arg)
{
	struct actor *a = arg;

	a->scene.victim.id = weft_self();
	a->call->run(&a->scene);
	store_seq_cst(&a->ended, 1);
	return NULL;
}

static void start_victim(struct actor *a)
{
	struct sync_scene *s = &a->scene;

	if (a->call->is_foreign)
		must(pthread_create(&a->foreign, NULL, foreign_main, a) == 0);
	else
		s->victim.id = spawn_with(s->flags, a->call->run, s);
}

static void join_and_wake(const struct sync_call *c, struct sync_scene *s,
			 uint64_t id)
{
	while (weft_join_until(id, NULL, sync_soon()) != 0)
		c->wake(s);
}

static void join_victim(struct actor *a)
{
	if (!a->call->is_foreign) {
		join_and_wake(a->call, &a->scene, a->scene.victim.id);
		return;
	}
	while (!load_seq_cst(&a->ended)) {
		a->call->wake(&a->scene);
		stall_nap();
	}
	pthread_join(a->foreign, NULL);
}

static void clean_up(struct actor *a, const uint64_t *user, int users)
{
	const struct sync_call *c = a->call;
	struct sync_scene *s = &a->scene;

	join_victim(a);
	for (int i = 0; i < s->helpers; i++)
		join_and_wake(c, s, s->helper[i]);
	for (int i = 0; i < users; i++)
		join_and_wake(c, s, user[i]);
	must((int)weft_sem_value(&s->sem) == load_seq_cst(&s->posted) -
	     load_seq_cst(&s->taken));
	must(weft_sem_destroy(&s->sem) == 0);
	must(weft_cond_destroy(&s->cond) == 0);
	must(weft_rwlock_destroy(&s->rwlock) == 0);
	must(weft_barrier_destroy(&s->barrier) == 0);
	must(weft_mutex_destroy(&s->mutex) == 0);
	must(load_seq_cst(&s->runs) <= 1);
}

/* Returns 1 if the call had an n-th step. */
static int run_step(struct run *run, size_t n)
{
	const struct sync_call *c = run->call;
	struct actor a = {
		.call = c, .scene = { .flags = run->flags, .victim.n = n },
	};
	struct sync_scene *s = &a.scene;
	uint64_t user[USERS];
	int stopped;

	must(weft_barrier_init(&s->barrier, 3) == 0);
	for (int i = 0; i < HELPERS_MOST && c->helper[i]; i++)
		sync_help(s, c->helper[i]);
	start_victim(&a);
	stopped = stall_await_stop(&s->victim);
	if (stopped) {
		run->tally.stops++;
		if (c->delay == DELAYS_WAITERS)
			look_for_delays(run, s);
		stall_all_end(stall_probe, s);
		use(run, s, user);
		if (c->go_on)
			c->go_on(s);
		stall_all_end(stall_probe, s);
	}
	steps_release();
	clean_up(&a, user, stopped ? USERS : 0);
	return stopped;
}

static void *steer(void *arg)
{
	struct run *run = arg;
	size_t n = 1;

	while (n < STALL_STEPS_MOST && run_step(run, n))
		n = stall_next_step(n, &run->random);
	printf("    %s%s: stopped at %zu steps; of %zu users %zu parked%s\n",
	       run->call->name, run->flags ? " (light)" : "",
	       run->tally.stops, run->tally.users, run->tally.users_parked,
	       run->tally.delayed ? "; waiters were delayed" : "");
	fflush(stdout);
	must(run->tally.stops > 0);
	return NULL;
}

/* Returns at how many stops a semaphore's waiters were delayed. */
static size_t run_calls(unsigned light)
{
	size_t delayed = 0;

	for (size_t i = 0; i < sync_call_count; i++) {
		struct run run = {
			.call = &sync_calls[i], .random = test_seed(i),
			.flags = (i + light) % 2 ? WEFT_LIGHT : 0,
		};

		stall_steer(steer, &run);
		delayed += run.tally.delayed;
	}
	return delayed;
}

static void stopped_at_any_step_delays_no_call(void)
{
	size_t delayed = run_calls(0);

	if (test_scaled(2) > 2)
		delayed += run_calls(1);
	/* What may be delayed is, or the victims were stopped elsewhere. */
	CU_ASSERT_TRUE(delayed > 0 || test_scaled(100) < 100);
}

static const struct test_case cases[] = {
	TEST(stopped_at_any_step_delays_no_call),
};

TEST_MAIN("stall_sync", cases)
