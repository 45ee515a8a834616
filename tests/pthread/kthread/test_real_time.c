/* SPDX-License-Identifier: MIT */
/* test_real_time.c - what real-time policies do on one CPU, and on one VCPU */
#include "real_time.h"

#define ROUNDS		100	/* each takes a second where others may not run */
#define PAIRS		10

/* Returns when they have run, which takes a second where they may not. */
static void let_others_run(void)
{
	long before = others;

	while (others == before)
		sched_yield();
}

/* --- its CPU is its own -------------------------------------------- */

#define BOTH	KEEPS("first in, first out") KEEPS("round robin")

static void a_real_time_thread_keeps_its_cpu(void)
{
	pthread_t ordinary;

	if (!begin_alone(BOTH))
		return;
	ordinary = start_ordinary();
	finish(start_as(SCHED_FIFO, LOW, tell_as, "first in, first out"));
	finish(start_as(SCHED_RR, LOW, tell_as, "round robin"));
	end_ordinary(ordinary);
}

static void *run_once(void *arg)
{
	has_run = 1;
	return arg;
}

static void *run_for_a_while(void *arg)
{
	yield_often();
	has_run = 1;
	return arg;
}

static void *run_long(void *arg)
{
	yield_often();
	compute();
	has_run = 1;
	return arg;
}

static void *make_others(void *arg)
{
	pthread_t t = start_as(SCHED_FIFO, LOW + 1, run_long, NULL);

	printf("higher: %s\n", has_run ? "has run" : "waits");
	finish(t);
	has_run = 0;
	t = start_as(SCHED_OTHER, 0, run_once, NULL);
	yield_often();
	printf("ordinary: %s\n", has_run ? "has run" : "waits");
	finish(t);
	has_run = 0;
	t = start_as(SCHED_RR, LOW - 1, run_once, NULL);
	yield_often();
	printf("lower: %s\n", has_run ? "has run" : "waits");
	finish(t);
	return arg;
}

#define ORDER	"higher: has run\nordinary: waits\nlower: waits\n"

static void the_higher_runs_before_its_maker_the_lower_after_it(void)
{
	if (begin_alone(ORDER))
		finish(start_as(SCHED_FIFO, LOW, make_others, NULL));
}

static sem_t there, back;

static void *answer(void *arg)
{
	while (!stop) {
		sem_wait(&there);
		sem_post(&back);
	}
	return arg;
}

static void *ask(void *arg)
{
	while (!stop) {
		sem_post(&there);
		sem_wait(&back);
	}
	for (int i = 0; i < PAIRS; i++) {
		sem_post(&there);
		sem_post(&back);
	}
	return arg;
}

#define ENDED	"ended\n"

/* Its maker is ordinary, and has had to wait for many that it made. */
static void it_runs_before_its_maker_among_many(void)
{
	pthread_t t[2 * PAIRS];

	if (!begin_alone(ENDED))
		return;
	sem_init(&there, 0, 0);
	sem_init(&back, 0, 0);
	for (int i = 0; i < 2 * PAIRS; i++)
		t[i] = start(i % 2 ? ask : answer, NULL);
	for (int i = 0; i < 20; i++) {
		pthread_t one = start_as(SCHED_FIFO, LOW, run_for_a_while,
					 NULL);

		if (!has_run)
			printf("its maker runs\n");
		finish(one);
		has_run = 0;
	}
	stop = 1;
	for (int i = 0; i < 2 * PAIRS; i++)
		finish(t[i]);
	printf("ended\n");
}

static _Atomic int turn;

static void take_turns(int mine)
{
	for (int i = 0; i < ROUNDS; i++) {
		while (turn != mine)
			sched_yield();
		turn = !mine;
	}
}

static void *be_the_second(void *arg)
{
	take_turns(1);
	return arg;
}

static void *be_the_first(void *arg)
{
	pthread_t t = start_as(SCHED_FIFO, LOW, be_the_second, NULL);

	take_turns(0);
	finish(t);
	return arg;
}

static void equals_take_turns(void)
{
	if (!begin())
		return;
	for (int i = 0; i < ROUNDS; i++)
		finish(start_as(SCHED_RR, LOW, be_the_first, NULL));
	printf("%d\n", turn);
}

static void *wake_up_and_say_so(void *arg)
{
	for (int i = 1; i <= 5; i++) {
		usleep(1000);
		has_run = i;
	}
	return arg;
}

static void *spin_for_it(void *arg)
{
	while (has_run < 5)
		;
	return arg;
}

static void the_higher_goes_on_when_it_wakes_up(void)
{
	pthread_t t;

	if (!begin())
		return;
	t = start_as(SCHED_FIFO, HIGH, wake_up_and_say_so, NULL);
	finish(start_as(SCHED_FIFO, LOW, spin_for_it, NULL));
	finish(t);
	printf("%d\n", has_run);
}

/* --- but not for good ---------------------------------------------- */

static void *say_so_if_asked(void *arg)
{
	while (!has_run)
		sched_yield();
	has_run = 2;
	return arg;
}

static void *spin_for_an_ordinary_one(void *arg)
{
	has_run = 1;
	while (has_run != 2)
		if (arg)
			sched_yield();
	return arg;
}

#define GOES_ON		"goes on\ngoes on\n"

/* The kernel may be told to let it starve others; weft is not asked. */
static void a_spin_for_an_ordinary_thread_ends(void)
{
	if (!begin_alone(GOES_ON))
		return;
	for (int i = 0; i < 2; i++) {
		pthread_t t = start(say_so_if_asked, NULL);

		finish(start_as(SCHED_FIFO, HIGH, spin_for_an_ordinary_one,
				i ? &has_run : NULL));
		finish(t);
		has_run = 0;
		printf("goes on\n");
	}
}

/* --- when it begins and ends --------------------------------------- */

static void become(int policy, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (pthread_setschedparam(pthread_self(), policy, &param) != 0)
		abort();
}

static void *change(void *arg)
{
	struct sched_param param = { .sched_priority = LOW };

	become(SCHED_FIFO, LOW);
	tell("set");
	become(SCHED_OTHER, 0);
	if (sched_setscheduler(0, SCHED_RR, &param) != 0 ||
	    pthread_setschedprio(pthread_self(), MIDDLE) != 0)
		abort();
	tell("by id");
	param.sched_priority = LOW;
	if (sched_setparam(0, &param) != 0)
		abort();
	tell("lower");
	return arg;
}

static void *change_and_set_back(void *arg)
{
	struct sched_param param = { .sched_priority = 0 };

	let_others_run();
	become(SCHED_FIFO, LOW);
	if (arg)
		become(SCHED_BATCH, 0);
	else if (sched_setscheduler(0, SCHED_OTHER, &param) != 0)
		abort();
	let_others_run();
	return arg;
}

#define SET	KEEPS("set") KEEPS("by id") KEEPS("lower")

static void a_policy_has_effect_as_long_as_it_is_set(void)
{
	pthread_t ordinary;

	if (!begin_alone(SET))
		return;
	ordinary = start_ordinary();
	finish(start(change, NULL));
	for (int i = 0; i < ROUNDS; i++)
		finish(start(change_and_set_back, i % 2 ? &others : NULL));
	end_ordinary(ordinary);
}

static void *return_it(void *arg)
{
	return arg;
}

static void *exit_with_it(void *arg)
{
	pthread_exit(arg);
}

static void *become_higher(void *arg)
{
	become(SCHED_FIFO, MIDDLE);
	become(SCHED_RR, HIGH);
	return arg;
}

#define THREE	"set: 0\nset: 0\nset: 0\n" KEEPS("alone")

/* Three of each: the count of one is not that of all. */
static void an_ended_thread_is_no_longer_in_the_way(void)
{
	struct sched_param param = { .sched_priority = HIGH };
	pthread_t ordinary, t;

	if (!begin_alone(THREE))
		return;
	sem_init(&never, 0, 0);
	for (int i = 0; i < 3; i++) {
		finish(start_as(SCHED_FIFO, HIGH, return_it, NULL));
		finish(start_as(SCHED_RR, MIDDLE, exit_with_it, NULL));
		finish(start(become_higher, NULL));
		t = start_as(SCHED_FIFO, MIDDLE, wait_here, NULL);
		cancel(t);
		t = start(wait_here, NULL);
		show("set", pthread_setschedparam(t, SCHED_FIFO, &param));
		cancel(t);
	}
	ordinary = start_ordinary();
	finish(start_as(SCHED_FIFO, LOW, tell_as, "alone"));
	end_ordinary(ordinary);
}

static void *let_run(void *arg)
{
	let_others_run();
	return arg;
}

static void let_run_often(void)
{
	for (int i = 0; i < ROUNDS; i++)
		finish(start_as(SCHED_FIFO, LOW, let_run, NULL));
}

#define ALONE	KEEPS("alone")

/* A living thread counts, whether it waits or not; unlike in the kernel. */
static void one_of_no_less_ends_it_as_long_as_it_lives(void)
{
	pthread_t ordinary, t;

	if (!begin_alone(ALONE))
		return;
	sem_init(&never, 0, 0);
	ordinary = start_ordinary();
	t = start_as(SCHED_FIFO, HIGH, wait_here, NULL);
	let_run_often();
	cancel(t);
	t = start_as(SCHED_RR, LOW, wait_here, NULL);
	let_run_often();
	cancel(t);
	finish(start_as(SCHED_FIFO, LOW, tell_as, "alone"));
	end_ordinary(ordinary);
}

/* --- kernel threads of one priority, and one CPU for them ------------- */

#define SLEEPERS	30
#define SLEEPS		200

static void *sleep_often(void *arg)
{
	const long us = 200 + (long)(intptr_t)arg % 7 * 50;

	for (int i = 0; i < SLEEPS; i++)
		usleep((useconds_t)us);
	return NULL;
}

/*
 * All kernel threads have the policy, as the first has it when it makes them. If one
 * waited for another without sleep, the other would never get the CPU.
 */
static void kernel_threads_leave_the_cpu_to_their_equals(void)
{
	pthread_t threads[SLEEPERS];

	if (!begin())
		return;
	setenv("WEFT_VCPUS", "2", 1);
	become(SCHED_FIFO, LOW);
	for (intptr_t i = 0; i < SLEEPERS; i++)
		threads[i] = start(sleep_often, (void *)i);
	for (int i = 0; i < SLEEPERS; i++)
		finish(threads[i]);
	puts("all have slept");
}

/* Until it is cancelled, it computes: its maker goes on only if it runs after its maker. */
static void *change_type(void *arg)
{
	for (;;) {
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
		pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
	}
	return arg;
}

static void equals_run_after_their_maker(void)
{
	pthread_t threads[SLEEPERS];

	if (!begin())
		return;
	become(SCHED_FIFO, LOW);
	for (int i = 0; i < SLEEPERS; i++)
		threads[i] = start(change_type, NULL);
	for (int i = 0; i < SLEEPERS; i++)
		pthread_cancel(threads[i]);
	for (int i = 0; i < SLEEPERS; i++)
		printf("cancelled: %d\n", finish(threads[i]) == PTHREAD_CANCELED);
}

static const struct compare_case cases[] = {
	WEFT_ONLY(a_real_time_thread_keeps_its_cpu, BOTH),
	WEFT_ONLY(the_higher_runs_before_its_maker_the_lower_after_it, ORDER),
	WEFT_ONLY(it_runs_before_its_maker_among_many, ENDED),
	COMPARE(equals_take_turns),
	COMPARE(the_higher_goes_on_when_it_wakes_up),
	WEFT_ONLY(a_spin_for_an_ordinary_thread_ends, GOES_ON),
	WEFT_ONLY(a_policy_has_effect_as_long_as_it_is_set, SET),
	WEFT_ONLY(an_ended_thread_is_no_longer_in_the_way, THREE),
	WEFT_ONLY(one_of_no_less_ends_it_as_long_as_it_lives, ALONE),
	COMPARE(kernel_threads_leave_the_cpu_to_their_equals),
	COMPARE(equals_run_after_their_maker),
};

COMPARE_MAIN(cases)
