/* SPDX-License-Identifier: MIT */
/*
 * test_stall_queue.c - one kernel thread stops at each step of a steal, of an
 * enqueue and of a dequeue; the others go on
 *
 * The calls of test_stall pass through the queues as it happens. Here the n-th
 * atomic operation is one of the queue's own, on whichever kernel thread makes
 * it (the linker puts our functions in front of the queue's). It takes half of
 * another VCPU's ring, or it puts a thread into the queue that all VCPUs share
 * (WEFT_SCHED=shared), or takes one out. While it is stopped, fresh threads
 * make every call, as in test_stall. The threads that were in the ring run,
 * except those in its hands.
 */
#include "steer.h"

#include "cpu.h"
#include "lockfree/fifo.h"
#include "lockfree/ready_ring.h"

#define READY	16	/* threads in the ring that is stolen from */
#define LEAST	4	/* of them, when the steal begins */
#define CROWD	5	/* more than VCPUs, so that some are always queued */

/* What the next kernel thread to come is stopped in. */
enum { NOTHING, STEAL, PUSH, POP };

static _Atomic uint32_t armed;
static _Atomic size_t step;
static _Atomic int returned;
static _Atomic(struct wefti_ring *) stolen_from;
static _Atomic int is_full;		/* that ring */

/* Only one that carries a VCPU: not the monitor, nor the one that steers. */
static int begin(uint32_t what)
{
	struct wefti_thread *self;

	if (load_seq_cst(&armed) != what)
		return 0;
	self = wefti_self();
	if (!self || !self->vcpu || !cas_seq_cst(&armed, &what, NOTHING))
		return 0;
	steps_begin(load_seq_cst(&step));
	return 1;
}

static void end(int has_begun)
{
	if (!has_begun)
		return;
	steps_end();
	store_seq_cst(&returned, 1);
}

unsigned __real_wefti_ring_steal(struct wefti_ring *victim,
		struct wefti_ring *mine, struct wefti_thread **first);
unsigned __wrap_wefti_ring_steal(struct wefti_ring *victim,
		struct wefti_ring *mine, struct wefti_thread **first);
void __real_wefti_fifo_push(struct wefti_fifo *q, uint32_t node, void *item);
void __wrap_wefti_fifo_push(struct wefti_fifo *q, uint32_t node, void *item);
void *__real_wefti_fifo_pop(struct wefti_fifo *q, uint32_t *spare);
void *__wrap_wefti_fifo_pop(struct wefti_fifo *q, uint32_t *spare);

unsigned __wrap_wefti_ring_steal(struct wefti_ring *victim,
		struct wefti_ring *mine, struct wefti_thread **first)
{
	int has_begun = 0;
	unsigned n;

	if (load_seq_cst(&armed) == STEAL &&
	    load_seq_cst(&stolen_from) == victim) {
		if (!load_seq_cst(&is_full))
			return 0;	/* nothing yet */
		if (wefti_ring_len_hint(victim) >= LEAST)
			has_begun = begin(STEAL);
	}
	n = __real_wefti_ring_steal(victim, mine, first);
	end(has_begun);
	return n;
}

void __wrap_wefti_fifo_push(struct wefti_fifo *q, uint32_t node, void *item)
{
	int has_begun = begin(PUSH);

	__real_wefti_fifo_push(q, node, item);
	end(has_begun);
}

void *__wrap_wefti_fifo_pop(struct wefti_fifo *q, uint32_t *spare)
{
	int has_begun = begin(POP);
	void *item = __real_wefti_fifo_pop(q, spare);

	end(has_begun);
	return item;
}

static void arm(uint32_t what, size_t n)
{
	store_seq_cst(&returned, 0);
	store_seq_cst(&step, n);
	store_seq_cst(&armed, what);
}

/* Returns 1 if nobody has come, and nobody will. */
static int disarm(uint32_t what)
{
	return cas_seq_cst(&armed, &what, NOTHING);
}

static int has_come(void)
{
	return steps_stopped() || load_seq_cst(&returned);
}

/* Behind it nobody counts steps any more. */
static void let_go_on(int stopped)
{
	steps_release();
	while (stopped > 0 && !load_seq_cst(&returned))
		stall_nap();
}

/* A ring full of threads, on a VCPU that does not come to run them. */

struct ring_scene {
	struct weft_sem sem;
	_Atomic uint32_t waiting, ran;
	_Atomic int let_go;
};

static void *wait_and_run(void *arg)
{
	struct ring_scene *s = arg;

	fetch_add_seq_cst(&s->waiting, 1);
	must(weft_sem_wait(&s->sem) == 0);
	fetch_add_seq_cst(&s->ran, 1);
	return arg;
}

/* It makes them ready, and computes. */
static void *fill(void *arg)
{
	struct ring_scene *s = arg;

	store_seq_cst(&stolen_from, &wefti_self()->vcpu->ring);
	for (int i = 0; i < READY; i++)
		must(weft_sem_post(&s->sem) == 0);
	store_seq_cst(&is_full, 1);
	while (!load_seq_cst(&s->let_go))
		wefti_arch_pause();
	return arg;
}

/* Returns 1 if a steal was stopped, 0 if one had less steps, -1 if none came. */
static int stop_a_steal(size_t n)
{
	struct ring_scene s = { .waiting = 0 };
	uint64_t id[READY], filler;
	int stopped;

	for (int i = 0; i < READY; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, wait_and_run, &s);
	for (int i = 0; i < READY; i++)
		stall_await_parked(id[i]);
	store_seq_cst(&is_full, 0);
	arm(STEAL, n);
	filler = spawn(fill, &s);
	/* They can be taken one by one from its `next` as well. */
	while (!has_come() && load_seq_cst(&s.ran) < READY)
		stall_nap();
	if (!has_come() && disarm(STEAL)) {
		stopped = -1;
	} else {
		while (!has_come())
			stall_nap();
		stopped = steps_stopped();
	}
	if (stopped > 0) {
		stall_all_end(stall_probe, NULL);
		while (load_seq_cst(&s.ran) < READY / 2)
			stall_nap();
		stall_all_end(stall_probe, NULL);
	}
	let_go_on(stopped);
	store_seq_cst(&s.let_go, 1);
	join(filler);
	for (int i = 0; i < READY; i++)
		join(id[i]);
	must(load_seq_cst(&s.ran) == READY);
	return stopped;
}

/* Threads that go through the shared queue. */

static void *give_way(void *arg)
{
	_Atomic int *let_go = arg;

	while (!load_seq_cst(let_go))
		weft_yield();
	return arg;
}

static int stop_in_the_queue(uint32_t what, size_t n)
{
	_Atomic int let_go = 0;
	uint64_t id[CROWD];
	int stopped;

	for (unsigned i = 0; i < CROWD; i++)
		id[i] = spawn_with(i & WEFT_LIGHT, give_way, &let_go);
	arm(what, n);
	while (!has_come())
		stall_nap();
	stopped = steps_stopped();
	if (stopped)
		stall_all_end(stall_probe, NULL);
	let_go_on(stopped);
	store_seq_cst(&let_go, 1);
	for (int i = 0; i < CROWD; i++)
		join(id[i]);
	return stopped;
}

static int stop_in(uint32_t what, size_t n)
{
	return what == STEAL ? stop_a_steal(n) : stop_in_the_queue(what, n);
}

static void *steer(void *arg)
{
	uint32_t what = *(uint32_t *)arg;
	size_t n = 1;

	for (int stopped = 1; stopped && n < STALL_STEPS_MOST; ) {
		stopped = stop_in(what, n);
		n += stopped > 0;
	}
	printf("    stopped at %zu steps\n", n - 1);
	fflush(stdout);
	must(n > 3);
	return NULL;
}

static void run(const char *queues, uint32_t what)
{
	setenv("WEFT_SCHED", queues, 1);
	stall_steer(steer, &what);
	unsetenv("WEFT_SCHED");
}

static void stopped_in_a_steal_it_delays_no_other(void)
{
	run("steal", STEAL);
}

static void stopped_in_an_enqueue_neither(void)
{
	run("shared", PUSH);
}

static void stopped_in_a_dequeue_neither(void)
{
	run("shared", POP);
}

static const struct test_case cases[] = {
	TEST(stopped_in_a_steal_it_delays_no_other),
	TEST(stopped_in_an_enqueue_neither),
	TEST(stopped_in_a_dequeue_neither),
};

TEST_MAIN("stall/queue", cases)
