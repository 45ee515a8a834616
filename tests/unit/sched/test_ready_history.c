/* SPDX-License-Identifier: MIT */
/*
 * test_ready_history.c - sched/ready: what threads of a running runtime saw of
 * the shared queue is what a queue does
 *
 * WEFT_SCHED=shared. A yield takes the oldest thread out of the queue and, from
 * that one's stack, puts its caller in; or it finds the queue empty, and returns
 * at once. So a thread that runs knows of a pop: its own, after the stamp of the
 * thread that left the same VCPU before it. And it knows that this one has been
 * put in. What threads do before the first stamp and after their last is not in
 * the history, nor is main; the order of the rest is not changed by that.
 */
#include "threads.h"

#include <string.h>

#include "history.h"
#include "lockfree/atomic.h"
#include "sched/park.h"

#define CREW_MOST	12
#define CALLS_MOST	7

enum { OP_PUSH, OP_POP, OP_POP_NOTHING };

static const char *const names[] = { "push", "pop", "pop of nothing" };

/* Items are threads, from 1 up. */
struct model {
	uint64_t item[CREW_MOST];	/* item[0] is the oldest; 0 behind */
};

static void model_begin(void *state, const void *setup)
{
	(void)setup;
	memset(state, 0, sizeof(struct model));
}

static int model_step(void *state, const struct history_op *op)
{
	struct model *m = state;
	size_t len = 0;

	while (len < CREW_MOST && m->item[len])
		len++;
	if (op->kind == OP_POP_NOTHING)
		return len == 0;
	if (op->kind == OP_PUSH) {
		m->item[len] = op->arg;
		return 1;
	}
	if (len == 0 || m->item[0] != op->arg)
		return 0;
	memmove(m->item, m->item + 1, sizeof(m->item) - sizeof(m->item[0]));
	m->item[CREW_MOST - 1] = 0;
	return 1;
}

static const struct history_model model = {
	sizeof(struct model), model_begin, model_step, names,
};

struct runner {
	unsigned me;
	struct history_op op[2 * CALLS_MOST];
	size_t count;
	/*
	 * When it was known to be in the queue: the next thread on its VCPU
	 * says so.
	 */
	_Atomic uint64_t pushed[CALLS_MOST];
};

/* A VCPU's. Only the VCPU's threads touch it, one at a time. */
struct trace {
	_Atomic uint64_t last;		/* the stamp of the last to leave */
	_Atomic(_Atomic uint64_t *) leaver;	/* its entry in pushed */
};

static struct {
	unsigned members, calls;
	_Atomic unsigned arrived;
	_Atomic uint64_t clock;
	struct trace trace[WEFTI_VCPUS_MAX];
	struct runner runner[CREW_MOST];
} crew;

static uint64_t stamp(void)
{
	return fetch_add_seq_cst(&crew.clock, (uint64_t)1);
}

/* The caller has run on since it came to this VCPU. */
static uint64_t stamp_here(struct trace *trace)
{
	uint64_t now = stamp();
	_Atomic uint64_t *leaver = load_relaxed(&trace->leaver);

	if (leaver)
		store_relaxed(leaver, now);
	store_relaxed(&trace->leaver, NULL);
	return now;
}

/* From behind one stamp to before another. */
static void add(struct runner *r, int kind, uint64_t called, uint64_t returned)
{
	r->op[r->count++] = (struct history_op){
		.kind = kind, .who = (int)r->me, .arg = r->me + 1,
		.called = 2 * called + 1, .returned = 2 * returned,
	};
}

static void recorded_yield(struct runner *r, struct wefti_thread *self,
			   unsigned call)
{
	struct wefti_vcpu *v = self->vcpu;
	struct trace *trace = &crew.trace[v->index];
	uint64_t ticks = load_relaxed(&v->ticks);
	uint64_t begin = stamp_here(trace), before, now;

	store_relaxed(&trace->last, begin);
	store_relaxed(&trace->leaver, &r->pushed[call]);
	wefti_yield(self);
	trace = &crew.trace[self->vcpu->index];
	if (self->vcpu == v && load_relaxed(&v->ticks) == ticks) {
		store_relaxed(&trace->leaver, NULL);
		add(r, OP_POP_NOTHING, begin, stamp());
		return;
	}
	before = load_relaxed(&trace->last);
	now = stamp_here(trace);
	add(r, OP_PUSH, begin, call);	/* until judge() knows better */
	add(r, OP_POP, before, now);
}

static void *run(void *arg)
{
	struct runner *r = arg;
	struct wefti_thread *self;
	struct trace *trace;

	fetch_add_seq_cst(&crew.arrived, 1u);
	while (load_seq_cst(&crew.arrived) < crew.members)
		weft_yield();
	self = wefti_enter();	/* the VCPU is not taken meanwhile */
	for (unsigned call = 0; call < crew.calls; call++)
		recorded_yield(r, self, call);
	trace = &crew.trace[self->vcpu->index];
	store_relaxed(&trace->last, stamp_here(trace));
	wefti_leave(self);
	return NULL;
}

static size_t play_round(struct history_op *all)
{
	uint64_t id[CREW_MOST];
	size_t count = 0;

	memset(&crew.runner, 0, sizeof(crew.runner));
	memset(&crew.trace, 0, sizeof(crew.trace));
	store_relaxed(&crew.arrived, 0u);
	store_relaxed(&crew.clock, (uint64_t)1);
	for (unsigned i = 0; i < crew.members; i++) {
		crew.runner[i].me = i;
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, run,
				   &crew.runner[i]);
	}
	for (unsigned i = 0; i < crew.members; i++)
		join(id[i]);
	for (unsigned i = 0; i < crew.members; i++) {
		struct runner *r = &crew.runner[i];

		for (size_t n = 0; n < r->count; n++) {
			struct history_op *op = &all[count++];
			uint64_t pushed;

			*op = r->op[n];
			if (op->kind != OP_PUSH)
				continue;
			pushed = load_relaxed(&r->pushed[op->returned / 2]);
			op->returned = pushed ? 2 * pushed : UINT64_MAX;
		}
	}
	return count;
}

/* The same with the first two pops of different threads the wrong way round. */
static int is_refused_when_swapped(struct history_op *all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++) {
			uint64_t arg = all[i].arg;

			if (all[i].kind != OP_POP || all[j].kind != OP_POP ||
			    all[j].arg == arg)
				continue;
			all[i].arg = all[j].arg;
			all[j].arg = arg;
			return history_check(&model, NULL, all, count) ==
			       HISTORY_BROKEN;
		}
	return 0;
}

static void histories_of_the_shared_queue_linearize(void)
{
	static const struct weft_options options = { .slice_ns = -1 };
	struct history_op all[HISTORY_MAX];
	size_t rounds = test_scaled(400), pushes = 0;
	size_t broken = 0, undecided = 0, refused = 0;

	CU_ASSERT_EQUAL_FATAL(setenv("WEFT_SCHED", "shared", 1), 0);
	CU_ASSERT_EQUAL_FATAL(weft_start(&options), 0);
	/* Some wait in the queue, and the checker takes the history. */
	crew.members = weft_vcpus() < 9 ? weft_vcpus() + 3 : CREW_MOST;
	crew.calls = HISTORY_MAX / 2 / crew.members;
	if (crew.calls > CALLS_MOST)
		crew.calls = CALLS_MOST;
	for (size_t i = 0; i < rounds; i++) {
		size_t count = play_round(all);
		enum history_verdict verdict =
			history_check(&model, NULL, all, count);

		for (size_t n = 0; n < count; n++)
			pushes += all[n].kind == OP_PUSH;
		undecided += verdict == HISTORY_UNDECIDED;
		if (verdict == HISTORY_BROKEN && broken++ == 0)
			history_print(&model, all, count);
		refused += (size_t)is_refused_when_swapped(all, count);
	}
	runtime_end();
	unsetenv("WEFT_SCHED");
	printf("    %zu rounds, %zu pushes; undecided: %zu; refused when changed: %zu\n",
	       rounds, pushes, undecided, refused);
	CU_ASSERT_EQUAL(broken, 0);
	CU_ASSERT_TRUE(undecided < rounds);
	CU_ASSERT_TRUE(refused > 0 || rounds < 50);
}

/* Twelve pushes at once and a pop too many: 12! orders, and none is right. */
static void a_search_without_end_is_given_up(void)
{
	struct history_op all[CREW_MOST + 1];

	for (unsigned i = 0; i < CREW_MOST; i++)
		all[i] = (struct history_op){
			.kind = OP_PUSH, .who = (int)i, .arg = i + 1,
			.called = 1, .returned = 2,
		};
	all[CREW_MOST] = (struct history_op){
		.kind = OP_POP, .arg = CREW_MOST + 1, .called = 3, .returned = 4,
	};
	CU_ASSERT_EQUAL(history_check(&model, NULL, all, CREW_MOST + 1),
			HISTORY_UNDECIDED);
	all[CREW_MOST].arg = 1;
	CU_ASSERT_EQUAL(history_check(&model, NULL, all, CREW_MOST + 1),
			HISTORY_LINEARIZABLE);
	all[CREW_MOST].arg = CREW_MOST;
	CU_ASSERT_EQUAL(history_check(&model, NULL, all, 6), HISTORY_LINEARIZABLE);
	all[5] = all[CREW_MOST];	/* of five pushes, none of which is its own */
	CU_ASSERT_EQUAL(history_check(&model, NULL, all, 6), HISTORY_BROKEN);
}

static const struct test_case cases[] = {
	TEST(a_search_without_end_is_given_up),
	TEST(histories_of_the_shared_queue_linearize),
};

TEST_MAIN("sched/ready_history", cases)
