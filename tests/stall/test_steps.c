/* SPDX-License-Identifier: MIT */
/*
 * test_steps.c - how many steps a call on a mutex, a park and an unpark take,
 * until they return or park, while another kernel thread is stopped at a step
 *
 * The calls in which one is stopped are test_stall's; for the queues' own see
 * test_steps_queue.c, for one-to-one channels test_steps_one.c. A step is an atomic
 * operation. Those are counted that a thread makes on its own thread pointer:
 * of a call that parks, what it does before the switch and after it. What was
 * begun for it on the next thread's stack (the post-switch action) is counted
 * with that one's call, so that all are counted once. What a kernel thread does
 * between threads is no call's.
 *
 * A call that has the object alone takes the steps that its code has in a line,
 * up to 100 where it parks with a deadline. The stopped one adds none: its
 * changes are made or not. The call is lock-free. Each change that a running
 * thread makes between the call's look and its compare-and-swap costs the call
 * a try, of 8 steps at most. It could lose any number of tries. But only two
 * threads and a foreign one that call, and the kernel thread that searches for
 * work, can make it lose. Each of them may be in the middle of one call. Such a
 * call changes a word that another needs three times at most: a word of a
 * mutex, `next`, the set of idle VCPUs. So a call loses 12 tries. CALL_MOST is
 * the sum, doubled. To cost it more, others would have to make a change between
 * each two of its steps, again and again. A call with its CPU taken loses one
 * try by that.
 *
 * A thread that times out in line leaves a node behind. The one that has left
 * with 16 others and as many more as wait sweeps the line (sync/mutex_line.c).
 * LATE_MOST has these 23 in addition, of 12 steps each. While the CPU is taken
 * from a sweeper, any number leave, and none sweeps. Those that this makes more
 * than 23 are allowed for, each with as many steps.
 *
 * A waiter that an adaptive unlock wakes may find the mutex taken by a later thread.
 * It then parks again, and so on until it has waited for 1 ms (sync/mutex.c). What
 * is bounded is each such turn, not their number: others may lock and unlock any
 * number of times in 1 ms. So each turn after the first allows for TURN_STEPS more.
 * A turn has 20 to 27 steps in a line, and may lose a few tries.
 *
 * That it does not grow is shown by ten times as many calls, while the one stays
 * stopped. A mutex whose queue is behind a spin lock goes on counting up.
 */
#include "calls.h"

#include <pthread.h>
#include <string.h>

#include "sched/park.h"
#include "steer.h"
#include "sync/mutex.h"

#define CALL_MOST	400
#define LATE_NODES	23
#define NODE_STEPS	12
#define LATE_MOST	(CALL_MOST + LATE_NODES * NODE_STEPS)
#define TURN_STEPS	60

#define ROUNDS		12	/* and ten times that */
#define TENFOLD_EVERY	8	/* stops */
#define WORKERS		2	/* two VCPUs are left to them */

enum kind {
	LOCK, UNLOCK, TRY, LATE, TIMED, PARK, UNPARK, KINDS,
};

static const char *const kind_name[] = {
	"lock", "unlock", "try", "late", "timed", "park", "unpark",
};

enum { ONCE, TENFOLD, COUNTS };

struct tally {
	size_t most[COUNTS][KINDS], calls[COUNTS][KINDS];
};

/* A thread that waits to be unparked, once for each round of its partner. */
struct bell {
	_Atomic uint64_t seq;		/* of its wait; 0: not yet, or over */
	_Atomic(struct wefti_thread *) thread;
};

struct worker {
	struct others *others;
	struct weft_mutex own;		/* nobody else's */
	struct bell bell;
	struct tally tally;
};

/* The threads that run while one is stopped. */
struct others {
	struct weft_mutex *victims;	/* the mutex that it calls */
	int victims_is_free;		/* it does not own it, nor will soon */
	struct weft_mutex shared;
	size_t rounds;
	int count;			/* ONCE or TENFOLD */
	_Atomic size_t late;		/* calls that were begun */
	struct worker worker[WORKERS];
	struct worker foreign;
};

static void add_steps(struct worker *w, enum kind kind, size_t steps)
{
	int count = w->others->count;

	if (steps > w->tally.most[count][kind])
		w->tally.most[count][kind] = steps;
	w->tally.calls[count][kind]++;
}

/* How often the calling thread has begun to wait. It is not a step. */
static uint64_t waits_begun(void)
{
	struct wefti_thread *self = wefti_enter();
	uint64_t seq = load_relaxed(&self->wait) >> WEFTI_WAIT_SEQ_SHIFT;

	wefti_leave(self);
	return seq;
}

/* The steps of a call, less those of the turns that it lost after its first wait. */
static size_t steps_since(size_t steps, uint64_t waits)
{
	size_t turns, more;

	steps = steps_own() - steps;
	turns = (size_t)(waits_begun() - waits);
	more = turns > 1 ? (turns - 1) * TURN_STEPS : 0;
	return steps > more ? steps - more : 0;
}

#define COUNT(w, kind, call)						\
	do {								\
		uint64_t waits_ = waits_begun();			\
		size_t before_ = steps_own();				\
		call;							\
		add_steps(w, kind, steps_since(before_, waits_));	\
	} while (0)

static void unlock(struct worker *w, struct weft_mutex *m)
{
	int error;

	COUNT(w, UNLOCK, error = weft_mutex_unlock(m));
	must(error == 0);
}

/* What it may find in the line: those that had left it, or leave meanwhile. */
static int lock_late(struct worker *w, struct weft_mutex *m)
{
	_Atomic size_t *late = &w->others->late;
	size_t begun = fetch_add_relaxed(late, 1) + 1, nodes, more = 0;
	size_t before, steps;
	int error;

	nodes = load_relaxed(&wefti_mutex_of(m)->left);
	before = steps_own();
	error = weft_mutex_lock_until(m, 1);
	steps = steps_own() - before;
	nodes += load_relaxed(late) - begun;
	if (nodes > LATE_NODES)
		more = (nodes - LATE_NODES) * NODE_STEPS;
	add_steps(w, LATE, steps > more ? steps - more : 0);
	return error;
}

/* Calls that do not wait for its owner. */
static void use_taken(struct worker *w, struct weft_mutex *m)
{
	int error;

	COUNT(w, TRY, error = weft_mutex_try_lock(m));
	if (error == 0)
		unlock(w, m);
	error = lock_late(w, m);
	if (error == 0)
		unlock(w, m);
}

static void use_mutex(struct worker *w, struct weft_mutex *m)
{
	int error;

	COUNT(w, LOCK, error = weft_mutex_lock(m));
	must(error == 0);
	weft_yield();
	unlock(w, m);
	use_taken(w, m);
	COUNT(w, TIMED, error = weft_mutex_lock_until(m, WEFT_FOREVER - 1));
	must(error == 0);
	unlock(w, m);
}

/* Until somebody rings. */
static void wait_for_bell(struct worker *w, struct bell *b)
{
	struct wefti_thread *self;
	enum wefti_cause cause;
	uint64_t seq;

	COUNT(w, PARK, {
		self = wefti_enter();
		seq = wefti_park_begin(self, 0, WEFTI_WHY_SLEEP, b);
		store_seq_cst(&b->thread, self);
		store_seq_cst(&b->seq, seq);
		cause = wefti_park(self, WEFT_FOREVER);
		wefti_leave(self);
	});
	must(cause == WEFTI_CAUSE_WOKEN);
}

static void ring(struct worker *w, struct bell *b)
{
	uint64_t seq;
	int done;

	while (!(seq = load_seq_cst(&b->seq)))
		wefti_os_yield();
	store_seq_cst(&b->seq, 0);
	COUNT(w, UNPARK, {
		struct wefti_thread *self = wefti_enter();

		done = wefti_unpark(load_seq_cst(&b->thread), seq,
				    WEFTI_CAUSE_WOKEN);
		wefti_leave(self);
	});
	must(done);
}

static void use_mutexes(struct worker *w)
{
	for (size_t i = 0; i < w->others->rounds; i++) {
		use_mutex(w, &w->own);
		use_mutex(w, &w->others->shared);
		if (w->others->victims_is_free)
			use_mutex(w, w->others->victims);
		else
			use_taken(w, w->others->victims);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;

	use_mutexes(w);
	for (size_t i = 0; i < w->others->rounds; i++)
		wait_for_bell(w, &w->bell);
	return NULL;
}

static void add_tally(struct tally *sum, const struct worker *w)
{
	for (int c = 0; c < COUNTS; c++)
		for (int k = 0; k < KINDS; k++) {
			sum->calls[c][k] += w->tally.calls[c][k];
			if (sum->most[c][k] < w->tally.most[c][k])
				sum->most[c][k] = w->tally.most[c][k];
		}
}

/* By the steering thread, which is none of weft's. */
static void run_others(struct others *o, unsigned policy, struct tally *sum)
{
	uint64_t id[WORKERS];

	must(weft_mutex_init(&o->shared, policy) == 0);
	for (int i = 0; i < WORKERS; i++) {
		o->worker[i].others = o;
		must(weft_mutex_init(&o->worker[i].own, policy) == 0);
		id[i] = spawn(work, &o->worker[i]);
	}
	o->foreign.others = o;
	must(weft_mutex_init(&o->foreign.own, policy) == 0);
	use_mutexes(&o->foreign);
	for (size_t i = 0; i < o->rounds; i++)
		for (int k = 0; k < WORKERS; k++)
			ring(&o->foreign, &o->worker[k].bell);
	for (int i = 0; i < WORKERS; i++) {
		join(id[i]);
		add_tally(sum, &o->worker[i]);
	}
	add_tally(sum, &o->foreign);
}

struct run {
	const struct call *call;
	unsigned policy, flags;
	uint64_t random;
	size_t stops;
	struct tally sum;
};

/* The victim is stopped. */
static void count_others(struct run *run, struct scene *s)
{
	const struct call *c = run->call;
	struct others o = { .victims = &s->mutex.weft };
	int tenfold = run->stops++ % TENFOLD_EVERY == 0;

	o.count = tenfold ? TENFOLD : ONCE;
	o.rounds = tenfold ? 10 * ROUNDS : ROUNDS;
	if (c->stopped)
		c->stopped(s);
	if (c->mutex == STALL_BEHIND_HOLDER) {
		join(s->helper);
		s->helper = 0;
	}
	o.victims_is_free = c->mutex != STALL_NO_MUTEX &&
		load_seq_cst(&wefti_mutex_of(&s->mutex.weft)->word) == 0;
	run_others(&o, run->policy, &run->sum);
}

/* Returns 1 if the call had an n-th step. */
static int run_step(struct run *run, size_t n)
{
	const struct call *c = run->call;
	struct scene s = { .flags = run->flags, .victim.n = n };
	int stopped;

	must(weft_mutex_init(&s.mutex.weft, run->policy) == 0);
	if (c->prepare)
		c->prepare(&s);
	s.victim.id = spawn_with(run->flags, c->run, &s);
	stopped = stall_await_stop(&s.victim);
	if (stopped)
		count_others(run, &s);
	else if (c->stopped)
		c->stopped(&s);
	store_seq_cst(&s.let_go, 1);
	steps_release();
	join(s.victim.id);
	if (s.helper) {
		(void)!weft_cancel(s.helper);
		join(s.helper);
	}
	return stopped;
}

static void *steer(void *arg)
{
	struct run *run = arg;
	size_t n = 1;

	while (n < STALL_STEPS_MOST && run_step(run, n))
		n = stall_next_step(n, &run->random);
	return NULL;
}

static void say_and_check(const struct run *run)
{
	const struct tally *t = &run->sum;

	printf("    %s stopped at %zu steps:", run->call->name, run->stops);
	for (int k = 0; k < KINDS; k++)
		printf(" %s %zu %zu", kind_name[k], t->most[ONCE][k],
		       t->most[TENFOLD][k]);
	printf("\n");
	fflush(stdout);
	CU_ASSERT_TRUE(run->stops > 1);
	for (int k = 0; k < KINDS; k++) {
		size_t most = k == LATE ? LATE_MOST : CALL_MOST;

		CU_ASSERT_TRUE(t->calls[TENFOLD][k] > 0);
		CU_ASSERT_TRUE(t->most[TENFOLD][k] > 1);
		CU_ASSERT_TRUE(t->most[ONCE][k] <= most);
		CU_ASSERT_TRUE(t->most[TENFOLD][k] <= most);
	}
}

static void run_calls(unsigned policy, unsigned flags)
{
	if (!own_tls_at_start()) {
		printf("    skipped: threads have no TLS, where steps are "
		       "counted\n");
		return;
	}
	for (size_t i = 0; i < stall_call_count; i++) {
		struct run run = {
			&stall_calls[i], policy, flags, .random = test_seed(i),
		};

		if (!strncmp(run.call->name, "join", 4))
			continue;	/* a park, as that which follows */
		if (policy == WEFT_MUTEX_STRICT && test_scaled(2) == 2 &&
		    !strstr(run.call->name, "lock"))
			continue;
		stall_steer(steer, &run);
		say_and_check(&run);
	}
}

static void others_take_a_bounded_number_of_steps_adaptive(void)
{
	run_calls(WEFT_MUTEX_ADAPTIVE, 0);
}

static void others_take_a_bounded_number_of_steps_strict(void)
{
	run_calls(WEFT_MUTEX_STRICT, WEFT_LIGHT);
}

/* One that locks the spinning mutex, and what it has counted until now. */
struct spinner {
	struct scene *s;
	_Atomic(_Atomic size_t *) steps;
	_Atomic int returned;
};

static void *lock_spinning(void *arg)
{
	struct spinner *p = arg;

	store_seq_cst(&p->steps, steps_own_place());
	must(bench_spin_lock(&p->s->mutex.spin) == 0);
	must(bench_spin_unlock(&p->s->mutex.spin) == 0);
	store_seq_cst(&p->returned, 1);
	return NULL;
}

/* Returns 1 if it has not returned after ten times as many steps as may be. */
static int exceeds(struct spinner *p)
{
	size_t before;

	while (!load_seq_cst(&p->steps))
		stall_nap();
	before = load_seq_cst(load_seq_cst(&p->steps));
	for (;; stall_nap()) {
		if (load_seq_cst(&p->returned))
			return 0;
		if (load_seq_cst(load_seq_cst(&p->steps)) - before >
		    10 * LATE_MOST)
			return 1;
	}
}

static void *steer_spinning(void *arg)
{
	size_t *exceeded = arg;

	for (size_t n = 1; n < STALL_STEPS_MOST && !*exceeded; n++) {
		struct scene s = { .victim.n = n, .mutex.spins = 1 };
		struct spinner p = { .s = &s };
		pthread_t thread;
		int stopped;

		s.victim.id = spawn(stall_call_lock, &s);
		stopped = stall_await_stop(&s.victim);
		must(pthread_create(&thread, NULL, lock_spinning, &p) == 0);
		if (stopped)
			*exceeded += (size_t)exceeds(&p);
		steps_release();
		pthread_join(thread, NULL);
		join(s.victim.id);
		if (!stopped)
			break;
	}
	return NULL;
}

static void the_spin_lock_mutex_exceeds_the_bound(void)
{
	size_t exceeded = 0;

	stall_steer(steer_spinning, &exceeded);
	CU_ASSERT_TRUE(exceeded > 0);
}

static const struct test_case cases[] = {
	TEST(others_take_a_bounded_number_of_steps_adaptive),
	TEST(others_take_a_bounded_number_of_steps_strict),
	TEST(the_spin_lock_mutex_exceeds_the_bound),
};

TEST_MAIN("stall/steps", cases)
