/* SPDX-License-Identifier: MIT */
/*
 * test_stall.c - one kernel thread stops at each step; the others go on
 *
 * For each call, and for n from 1 until the call has no more steps: a thread
 * makes the call, and its kernel thread stops before the n-th atomic operation.
 * While it is stopped, fresh threads are spawned that lock, try, unlock, yield,
 * spawn, join, park and unpark on the other VCPUs. They all have to end. So do
 * the users of the mutex in question, unless the stopped thread owns it.
 *
 * All is steered by a kernel thread that weft did not make: a green one could
 * be in the hands of the one that is stopped. What does not end is found by the
 * watchdog, not by a time.
 */
#include "steer.h"

#include "calls.h"
#include "sync/mutex.h"

/*
 * What has become of the mutex while the victim is stopped. FREE: it is as if
 * the victim had not called, and users must be able to go on. WAITS: it is in
 * the queue, or the mutex was handed to it. OWNS: it took the mutex by itself.
 */
enum stage { FREE, WAITS, OWNS };

static enum stage stage_of(const struct call *c, struct scene *s)
{
	uint64_t word = load_seq_cst(&wefti_mutex_of(&s->mutex.weft)->word);

	if (word == 0)
		return FREE;
	return c->mutex == STALL_BEHIND_HOLDER ? WAITS : OWNS;
}

struct tally {
	size_t stops, users_went_on;
	enum stage last;
	size_t turns;		/* how often the stage was another */
};

/* The victim is stopped: all that others do goes on. */
static void others_go_on(const struct call *c, struct scene *s,
			 struct tally *tally)
{
	enum stage stage;

	stall_all_end(stall_probe, s);
	if (c->stopped)
		c->stopped(s);
	if (c->mutex == STALL_BEHIND_HOLDER) {
		join(s->helper);	/* its unlock returns */
		s->helper = 0;
	}
	if (c->mutex != STALL_NO_MUTEX) {
		stage = stage_of(c, s);
		/* Its kernel thread may be stopped later than the call. */
		if (!load_seq_cst(&s->victim.returned)) {
			tally->turns += tally->stops > 0 &&
					stage != tally->last;
			tally->last = stage;
		}
		if (stage == FREE) {
			stall_all_end(stall_use, s);
			tally->users_went_on++;
		}
	}
	stall_all_end(stall_probe, s);
}

/* Returns 1 if the call had an n-th step. */
static int run_step(const struct call *c, unsigned policy, unsigned flags,
		    size_t n, struct tally *tally)
{
	struct scene s = { .flags = flags, .victim.n = n };
	int stopped;

	must(weft_mutex_init(&s.mutex.weft, policy) == 0);
	if (c->prepare)
		c->prepare(&s);
	s.victim.id = spawn_with(flags, c->run, &s);
	stopped = stall_await_stop(&s.victim);
	if (stopped) {
		others_go_on(c, &s, tally);
		tally->stops++;
	} else if (c->stopped) {
		c->stopped(&s);
	}
	store_seq_cst(&s.let_go, 1);
	steps_release();
	join(s.victim.id);
	if (s.helper) {
		(void)!weft_cancel(s.helper);
		join(s.helper);
	}
	return stopped;
}

struct run {
	const struct call *call;
	unsigned policy, flags;
	uint64_t random;
};

static void *steer(void *arg)
{
	struct run *run = arg;
	struct tally tally = { .stops = 0 };
	size_t n = 1;

	while (n < STALL_STEPS_MOST &&
	       run_step(run->call, run->policy, run->flags, n, &tally))
		n = stall_next_step(n, &run->random);
	printf("    %s%s: stopped at %zu steps, users went on at %zu\n",
	       run->call->name, run->flags ? " (light)" : "", tally.stops,
	       tally.users_went_on);
	fflush(stdout);
	must(tally.stops > 0);
	/*
	 * One step takes, queues or gives; there is nothing between. If the
	 * victim switches before it queues, the step does not always have the
	 * same number.
	 */
	must(tally.turns <= 1 || (run->policy == WEFT_MUTEX_STRICT &&
				  run->call->mutex == STALL_BEHIND_HOLDER));
	return NULL;
}

static void run_calls(unsigned policy, unsigned flags)
{
	for (size_t i = 0; i < stall_call_count; i++) {
		struct run run = {
			&stall_calls[i], policy, flags, test_seed(i),
		};

		stall_steer(steer, &run);
	}
}

static void stopped_at_any_step_delays_nobody_adaptive(void)
{
	run_calls(WEFT_MUTEX_ADAPTIVE, 0);
	if (test_scaled(2) > 2)
		run_calls(WEFT_MUTEX_ADAPTIVE, WEFT_LIGHT);
}

static void stopped_at_any_step_delays_nobody_strict(void)
{
	run_calls(WEFT_MUTEX_STRICT, WEFT_LIGHT);
	if (test_scaled(2) > 2)
		run_calls(WEFT_MUTEX_STRICT, 0);
}

#define PATIENCE_NS	300000000	/* of the control, which must not end */

/*
 * A locker is stopped on its way into the queue of a mutex whose queue is behind
 * a spin lock: the holder's unlock does not return.
 */
static void *steer_spinning(void *arg)
{
	const struct call *taken = &stall_calls[1];
	size_t *stuck = arg;

	for (size_t n = 1; n < STALL_STEPS_MOST && !*stuck; n++) {
		struct scene s = {
			.victim.n = n, .mutex.spins = 1,
		};
		int stopped;

		taken->prepare(&s);
		s.victim.id = spawn(taken->run, &s);
		stopped = stall_await_stop(&s.victim);
		taken->stopped(&s);
		if (stopped && weft_join_until(s.helper, NULL, weft_clock() +
					       PATIENCE_NS) == 0)
			s.helper = 0;
		else if (stopped)
			++*stuck;
		steps_release();
		if (s.helper)
			join(s.helper);
		join(s.victim.id);
		if (!stopped)
			break;
	}
	return NULL;
}

static void the_spin_lock_mutex_fails_the_same_test(void)
{
	size_t stuck = 0;

	CU_ASSERT_EQUAL(stall_calls[1].mutex, STALL_BEHIND_HOLDER);
	stall_steer(steer_spinning, &stuck);
	CU_ASSERT_TRUE(stuck > 0);
}

static const struct test_case cases[] = {
	TEST(stopped_at_any_step_delays_nobody_adaptive),
	TEST(stopped_at_any_step_delays_nobody_strict),
	TEST(the_spin_lock_mutex_fails_the_same_test),
};

TEST_MAIN("stall", cases)
