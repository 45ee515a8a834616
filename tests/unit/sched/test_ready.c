/* SPDX-License-Identifier: MIT */
/*
 * test_ready.c - sched/ready: which thread runs when, on one VCPU and in the
 * shared queue
 */
#include "gaps.h"

#include <pthread.h>

#include "lockfree/atomic.h"

static void each_thread_runs_once_between_two_yields_of_another(void)
{
	alone_begin("steal", -1);
	for (unsigned flags = 0; flags <= WEFT_LIGHT; flags++) {
		CU_ASSERT_EQUAL(widest_gap(2, flags), 2);
		CU_ASSERT_EQUAL(widest_gap(10, flags), 10);
		CU_ASSERT_EQUAL(widest_gap(200, flags), 200);
	}
	alone_end();
}

static void wait_until_it_was(void)
{
	struct weft_sem none = WEFT_SEM_INIT;

	must(weft_sem_wait_until(&none, 1) == -ETIMEDOUT);
}

/* A wait that is over before its thread is off its stack is one time-out more. */
static void a_time_out_at_once_overtakes_nobody(void)
{
	alone_begin("steal", -1);
	CU_ASSERT_EQUAL(widest_gap_by(wait_until_it_was, 2, 0), 2);
	CU_ASSERT_EQUAL(widest_gap_by(wait_until_it_was, 10, 0), 10);
	CU_ASSERT_EQUAL(widest_gap_by(wait_until_it_was, 200, 0), 200);
	alone_end();
}

#define OUTSIDE	50

struct beside {
	struct weft_sem sem;
	size_t waiting, run;
	size_t turn, posted_at, last_at;
	int stop;
};

static void *yield_beside(void *arg)
{
	struct beside *b = arg;

	while (!b->stop) {
		b->turn++;
		weft_yield();
	}
	return NULL;
}

static void *wait_beside(void *arg)
{
	struct beside *b = arg;

	b->waiting++;
	must(weft_sem_wait(&b->sem) == 0);
	b->run++;
	b->last_at = b->turn;
	return NULL;
}

static void *post_from_outside(void *arg)
{
	struct beside *b = arg;

	for (int i = 0; i < OUTSIDE; i++)
		must(weft_sem_post(&b->sem) == 0);
	return NULL;
}

/*
 * Its kernel thread, which has the only VCPU, waits for the foreign thread. So all posts
 * come between two turns.
 */
static void *have_posted(void *arg)
{
	struct beside *b = arg;
	pthread_t foreign;

	while (b->waiting < OUTSIDE || b->turn < 2 * FAR)
		weft_yield();
	b->posted_at = b->turn;
	must(pthread_create(&foreign, NULL, post_from_outside, b) == 0);
	must(pthread_join(foreign, NULL) == 0);
	while (b->run < OUTSIDE)
		weft_yield();
	b->stop = 1;
	return NULL;
}

static void run_beside(size_t own)
{
	struct beside b = { .sem = WEFT_SEM_INIT };
	uint64_t id[FAR + OUTSIDE + 1];
	size_t n = 0;

	alone_begin("steal", -1);
	for (int i = 0; i < OUTSIDE; i++)
		id[n++] = spawn_with(WEFT_LIGHT, wait_beside, &b);
	for (size_t i = 0; i < own; i++)
		id[n++] = spawn_with(WEFT_LIGHT, yield_beside, &b);
	id[n++] = spawn(have_posted, &b);
	for (size_t i = 0; i < n; i++)
		join(id[i]);
	CU_ASSERT_TRUE(b.last_at - b.posted_at <= 64 + 2 * OUTSIDE);
	alone_end();
}

/* They do not wait behind a long ring, nor for many turns of a short one. */
static void injected_threads_run_in_turn_with_own_ones(void)
{
	run_beside(FAR);
	run_beside(20);
	run_beside(1);
}

static void the_shared_queue_is_first_in_first_out(void)
{
	alone_begin("shared", -1);
	CU_ASSERT_EQUAL(widest_gap(2, 0), 2);
	CU_ASSERT_EQUAL(widest_gap(200, WEFT_LIGHT), 200);
	CU_ASSERT_EQUAL(widest_gap(BEYOND, WEFT_LIGHT), BEYOND);
	alone_end();
}

struct order {
	uint64_t sleeper[8];
	_Atomic int parked;
	int woken[8];
	int count;
};

struct member {
	struct order *order;
	int number;
};

static void *park_and_sign(void *arg)
{
	struct member *m = arg;

	fetch_add_relaxed(&m->order->parked, 1);
	must(weft_sleep_until(WEFT_FOREVER) == -ECANCELED);
	m->order->woken[m->order->count++] = m->number;
	return NULL;
}

/* The shared queue runs threads in the order in which they became ready. */
static void the_shared_queue_runs_woken_threads_in_order(void)
{
	struct order order = { .parked = 0 };
	struct member m[8];

	alone_begin("shared", -1);
	for (int i = 0; i < 8; i++) {
		m[i] = (struct member){ &order, i };
		order.sleeper[i] = spawn(park_and_sign, &m[i]);
	}
	while (load_relaxed(&order.parked) < 8)
		weft_yield();
	weft_yield();	/* the last one parks */
	for (int i = 7; i >= 0; i--)
		CU_ASSERT_EQUAL(weft_cancel(order.sleeper[i]), 0);
	for (int i = 0; i < 8; i++)
		join(order.sleeper[i]);
	for (int i = 0; i < 8; i++)
		CU_ASSERT_EQUAL(order.woken[i], 7 - i);
	alone_end();
}

struct busy {
	struct weft_mutex mutex;
	_Atomic int stop;
	_Atomic size_t rounds;
};

static void *contend(void *arg)
{
	struct busy *b = arg;

	while (!load_relaxed(&b->stop)) {
		must(weft_mutex_lock(&b->mutex) == 0);
		weft_yield();	/* the other one queues itself */
		fetch_add_relaxed(&b->rounds, 1);
		must(weft_mutex_unlock(&b->mutex) == 0);
	}
	return NULL;
}

static void *stop_it(void *arg)
{
	struct busy *b = arg;

	store_relaxed(&b->stop, 1);
	return NULL;
}

/* Threads that wake each other all the time do not keep others from running. */
static void those_who_wake_each_other_starve_nobody(void)
{
	static const struct weft_options one = { .vcpus = 1 };
	struct busy b = { .mutex = WEFT_MUTEX_STRICT_INIT };
	uint64_t id[3];

	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	for (int i = 0; i < 2; i++)
		id[i] = spawn(contend, &b);
	while (load_relaxed(&b.rounds) < 1000)
		weft_yield();
	id[2] = spawn(stop_it, &b);
	for (int i = 0; i < 3; i++)
		join(id[i]);
	runtime_end();
}

#define FAN	10
#define DEPTH	3
#define LEAVES	1000

struct tree {
	struct weft_chan *up;
	size_t leaves;
	struct alive {
		size_t now, most;
	} *alive;
};

/* Begins all its parts, then waits for their messages, then for their ends. */
static void *tree(void *arg)
{
	struct tree *t = arg, part[FAN];
	uint64_t sum = 0, x, id[FAN];
	struct weft_chan *c;

	if (++t->alive->now > t->alive->most)
		t->alive->most = t->alive->now;
	if (t->leaves > 1) {
		must(weft_chan_create(&c, sizeof(x), 0, 0) == 0);
		for (int i = 0; i < FAN; i++) {
			part[i] = (struct tree){ c, t->leaves / FAN, t->alive };
			id[i] = spawn_with(WEFT_LIGHT, tree, &part[i]);
		}
		for (int i = 0; i < FAN; i++) {
			must(weft_chan_recv(c, &x, WEFT_FOREVER) == 0);
			sum += x;
		}
		for (int i = 0; i < FAN; i++)
			join(id[i]);
		must(weft_chan_destroy(c) == 0);
	} else {
		sum = 1;
	}
	must(weft_chan_send(t->up, &sum, WEFT_FOREVER) == 0);
	t->alive->now--;
	return NULL;
}

/* Returns how many lived at once. */
static size_t most_alive_in_a_tree(void)
{
	struct alive alive = { 0, 0 };
	struct tree root = { NULL, LEAVES, &alive };
	uint64_t id, sum = 0;

	must(weft_chan_create(&root.up, sizeof(sum), 0, 0) == 0);
	id = spawn_with(WEFT_LIGHT, tree, &root);
	must(weft_chan_recv(root.up, &sum, WEFT_FOREVER) == 0);
	CU_ASSERT_EQUAL(sum, LEAVES);
	join(id);
	must(weft_chan_destroy(root.up) == 0);
	return alive.most;
}

/*
 * Also when each waits for its children before they end. A turn that the
 * monitor asks for may begin another branch, so it looks once in half a minute:
 * a tree takes a second where it is slow. The best of some trees counts.
 */
static void a_tree_of_threads_is_run_depth_first(void)
{
	size_t least = LEAVES;

	alone_begin("steal", INT64_C(60000000000));
	for (int i = 0; i < 3; i++) {
		size_t most = most_alive_in_a_tree();

		least = most < least ? most : least;
	}
	CU_ASSERT_TRUE(least <= 2 * FAN * DEPTH);
	alone_end();
}

struct nest {
	size_t yields;
	int stop;
};

static void *yield_until_told(void *arg)
{
	struct nest *n = arg;

	while (!n->stop) {
		n->yields++;
		weft_yield();
	}
	return NULL;
}

static void *spawn_and_yield(void *arg)
{
	uint64_t id = spawn_with(WEFT_LIGHT, yield_until_told, arg);

	yield_until_told(arg);
	join(id);
	return NULL;
}

/* A parent that was overtaken waits for no more than some hundred switches. */
static void those_who_are_always_ready_do_not_starve_a_parent(void)
{
	struct nest n = { 0, 0 };
	uint64_t id;

	alone_begin("steal", -1);
	id = spawn_with(WEFT_LIGHT, spawn_and_yield, &n);
	CU_ASSERT_TRUE(n.yields <= 512);
	n.stop = 1;
	join(id);
	alone_end();
}

static const struct test_case cases[] = {
	TEST(each_thread_runs_once_between_two_yields_of_another),
	TEST(a_time_out_at_once_overtakes_nobody),
	TEST(injected_threads_run_in_turn_with_own_ones),
	TEST(the_shared_queue_is_first_in_first_out),
	TEST(the_shared_queue_runs_woken_threads_in_order),
	TEST(those_who_wake_each_other_starve_nobody),
	TEST(a_tree_of_threads_is_run_depth_first),
	TEST(those_who_are_always_ready_do_not_starve_a_parent),
};

TEST_MAIN("sched/ready", cases)
