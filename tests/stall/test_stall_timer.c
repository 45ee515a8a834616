/* SPDX-License-Identifier: MIT */
/*
 * test_stall_timer.c - a kernel thread that serves a heap of timers stops at each
 * step
 *
 * All timers are at home on VCPU 0. A kernel thread that arms one, or runs what is
 * due, stops before its n-th step; not the monitor, which stands in. While it is
 * stopped,
 *   - a thread that waited there before goes on at its deadlines. Exceptions are
 *     the thread that the stopped one was to make ready, and the caller on the
 *     stopped kernel thread, which arms a timer, or is about to park and serves its
 *     VCPU's timers first;
 *   - fresh threads that come, wait there in each kind of call, and end, all do.
 * Each wait ends once, by its deadline, also when it goes on. At one step so many
 * come, wait at another home and end that bodies are given back to the system,
 * while the monitor looks at all there are.
 */
#include "mem/stack.h"
#include "sched/timer.h"
#include "steer.h"
#include "thread/bare.h"
#include "thread/wait.h"

#define VCPUS		3
#define STEPS_MOST	100
#define TRIES		20
#define SOON_NS		300000
#define WAITERS		10
#define FRESH		10
#define CROWD		6000	/* more than are kept when they have ended */
#define MIDDLE		9	/* a step of many */
#define ROUNDS		2
#define KINDS		5

enum mode { ARMS, RUNS };

struct waiter {
	int kind;
	struct weft_mutex mutex;	/* the holder's */
	_Atomic int rounds;
	uint64_t id;
};

static struct {
	enum mode mode;
	_Atomic int aimed, over;
	_Atomic unsigned home;		/* of those that have none */
	_Atomic uint64_t caller;	/* the thread on the stopped kernel
					 * thread */
	size_t n;
} aim;

static struct {
	_Atomic int over, held;
	struct waiter waiter[WAITERS];
	size_t in_hand, most_in_hand;
} scene;

void __real_wefti_timer_arm(struct wefti_thread *self, uint64_t seq,
			    int64_t deadline);
void __wrap_wefti_timer_arm(struct wefti_thread *self, uint64_t seq,
			    int64_t deadline);
void __real_wefti_timers_run(struct wefti_vcpu *v);
void __wrap_wefti_timers_run(struct wefti_vcpu *v);
void __real_wefti_timers_run_all(void);
void __wrap_wefti_timers_run_all(void);

static int is_aimed(enum mode mode)
{
	struct wefti_thread *self = wefti_self();
	int yes = 1;

	if (!load_seq_cst(&aim.aimed) || aim.mode != mode ||
	    self == load_seq_cst(&wefti_rt.monitor) ||
	    !cas_seq_cst(&aim.aimed, &yes, 0))
		return 0;
	store_seq_cst(&aim.caller, wefti_thread_id(self));
	return 1;
}

void __wrap_wefti_timer_arm(struct wefti_thread *self, uint64_t seq,
			    int64_t deadline)
{
	struct wefti_timer *tm = &self->cold->timer;

	if (!tm->home)
		tm->home = wefti_vcpu_at(load_seq_cst(&aim.home));
	if (load_seq_cst(&tm->key) <= deadline || !is_aimed(ARMS)) {
		__real_wefti_timer_arm(self, seq, deadline);
		return;
	}
	steps_begin(aim.n);
	__real_wefti_timer_arm(self, seq, deadline);
	steps_end();
	store_seq_cst(&aim.over, 1);
}

static int is_due(void)
{
	return load_seq_cst(&wefti_vcpu_at(0)->timers.next) <= weft_clock();
}

void __wrap_wefti_timers_run(struct wefti_vcpu *v)
{
	if (v->index != 0 || !is_due() || !is_aimed(RUNS)) {
		__real_wefti_timers_run(v);
		return;
	}
	steps_begin(aim.n);
	__real_wefti_timers_run(v);
	steps_end();
	store_seq_cst(&aim.over, 1);
}

void __wrap_wefti_timers_run_all(void)
{
	if (!is_due() || !is_aimed(RUNS)) {
		__real_wefti_timers_run_all();
		return;
	}
	steps_begin(aim.n);
	__real_wefti_timers_run_all();
	steps_end();
	store_seq_cst(&aim.over, 1);
}

static int64_t soon(void)
{
	return weft_clock() + SOON_NS;
}

static void wait_in_cond(void)
{
	struct weft_mutex mutex = WEFT_MUTEX_INIT;
	struct weft_cond cond = WEFT_COND_INIT;

	must(weft_mutex_lock(&mutex) == 0);
	must(weft_cond_wait_until(&cond, &mutex, soon()) == -ETIMEDOUT);
	must(weft_mutex_unlock(&mutex) == 0);
}

static void wait_in_alt(void)
{
	struct weft_chan *chan;
	uint64_t x;

	must(weft_chan_create(&chan, 8, 0, 0) == 0);

	struct weft_alt alt[] = {
		{ .op = WEFT_ALT_RECV, .chan = chan, .elem = &x },
	};

	must(weft_alt(alt, 1, soon()) == -ETIMEDOUT);
	must(weft_chan_destroy(chan) == 0);
}

static void wait_once(struct waiter *w)
{
	struct weft_sem sem = WEFT_SEM_INIT;

	switch (w->kind) {
	case 0:
		must(weft_sleep_until(soon()) == 0);
		break;
	case 1:
		must(weft_mutex_lock_until(&w->mutex, soon()) == -ETIMEDOUT);
		break;
	case 2:
		must(weft_sem_wait_until(&sem, soon()) == -ETIMEDOUT);
		break;
	case 3:
		wait_in_alt();
		break;
	default:
		wait_in_cond();
	}
}

static void *wait_on(void *arg)
{
	struct waiter *w = arg;

	while (!load_seq_cst(&scene.over)) {
		wait_once(w);
		fetch_add_seq_cst(&w->rounds, 1);
	}
	return arg;
}

/* One that comes and goes. */
static void *wait_and_end(void *arg)
{
	wait_once(arg);
	return arg;
}

/* Has the mutexes that others ask for; parked without a deadline. */
static void *hold(void *arg)
{
	struct waiter *w = arg;

	for (int i = 0; i < WAITERS; i++)
		must(weft_mutex_lock(&w[i].mutex) == 0);
	store_seq_cst(&scene.held, 1);
	(void)!weft_sleep_until(WEFT_FOREVER);
	for (int i = 0; i < WAITERS; i++)
		must(weft_mutex_unlock(&w[i].mutex) == 0);
	return NULL;
}

/* Its wait has been ended, and it is not ready yet. */
static int is_in_hand(const struct waiter *w)
{
	struct wefti_thread *t = wefti_thread_find(w->id);
	uint64_t word;

	must(t != NULL);
	word = load_seq_cst(&t->wait);
	return (word & WEFTI_WAIT_PHASE) == WEFTI_WAIT_IDLE &&
	       (word >> WEFTI_WAIT_CAUSE_SHIFT & 15) == WEFTI_CAUSE_TIMEDOUT;
}

/* Returns 1 when all go on that can. */
static int all_go_on(const int *before)
{
	size_t in_hand = 0;

	for (int i = 0; i < WAITERS; i++) {
		struct waiter *w = &scene.waiter[i];

		if (load_seq_cst(&w->rounds) - before[i] >= ROUNDS ||
		    w->id == load_seq_cst(&aim.caller))
			continue;
		if (!is_in_hand(w))
			return 0;
		in_hand++;
	}
	scene.in_hand = in_hand;
	return in_hand <= 1;
}

/* Makes one of each kind in turn; more come than are there. */
static void fresh_ones_come_and_go(void)
{
	uint64_t id[FRESH];

	for (int i = 0; i < FRESH; i++)
		id[i] = spawn_with(i % 3 == 0 ? WEFT_LIGHT : 0, wait_and_end,
				   &scene.waiter[i % WAITERS]);
	for (int i = 0; i < FRESH; i++)
		join(id[i]);
}

static int await_stop(void)
{
	while (!steps_stopped() && !load_seq_cst(&aim.over))
		stall_nap();
	return steps_stopped();
}

static int stop_at(size_t n)
{
	aim.n = n;
	store_seq_cst(&aim.over, 0);
	store_seq_cst(&aim.aimed, 1);
	return await_stop();
}

static void let_go(void)
{
	steps_release();
	while (!load_seq_cst(&aim.over))
		stall_nap();
}

/* Returns 1 if one was stopped before its n-th step. */
static int run_step(size_t n)
{
	int before[WAITERS], stopped = stop_at(n);

	if (stopped) {
		for (int i = 0; i < WAITERS; i++)
			before[i] = load_seq_cst(&scene.waiter[i].rounds);
		fresh_ones_come_and_go();
		while (!all_go_on(before))
			stall_nap();
		if (scene.in_hand > scene.most_in_hand)
			scene.most_in_hand = scene.in_hand;
		fresh_ones_come_and_go();
	}
	let_go();
	return stopped;
}

static void begin(uint64_t *holder)
{
	store_seq_cst(&scene.over, 0);
	store_seq_cst(&scene.held, 0);
	*holder = spawn(hold, scene.waiter);
	while (!load_seq_cst(&scene.held))
		stall_nap();
	for (int i = 0; i < WAITERS; i++) {
		struct waiter *w = &scene.waiter[i];

		w->kind = i % KINDS;
		w->id = spawn_with(i % 2 ? WEFT_LIGHT : 0, wait_on, w);
	}
}

static void end(uint64_t holder)
{
	store_seq_cst(&scene.over, 1);
	for (int i = 0; i < WAITERS; i++)
		must(join(scene.waiter[i].id) == &scene.waiter[i]);
	must(weft_cancel(holder) == 0);
	join(holder);
}

static void *steer(void *name)
{
	uint64_t random = test_seed(3), holder;
	size_t stops = 0, n = 1;

	scene.most_in_hand = 0;
	begin(&holder);
	for (int tries = 0; n < STEPS_MOST && tries < TRIES;) {
		if (!run_step(n)) {
			tries++;
			continue;
		}
		tries = 0;
		stops++;
		n = stall_next_step(n, &random);
	}
	end(holder);
	printf("    %s: stopped at %zu steps, up to %zu; %zu in its hands\n",
	       (const char *)name, stops, n, scene.most_in_hand);
	fflush(stdout);
	must(stops > 0);
	return NULL;
}

static size_t bodies(void)
{
	struct wefti_stack_stat stat;

	wefti_stack_stat(&stat);
	return stat.in_use;
}

static void *sleep_and_end(void *until)
{
	must(weft_sleep_until(*(int64_t *)until) == 0);
	return until;
}

static size_t crowd_comes_and_goes(void)
{
	static uint64_t id[CROWD];
	int64_t until = weft_clock() + 100 * SOON_NS;
	size_t most;

	for (int i = 0; i < CROWD; i++)
		id[i] = spawn_with(WEFT_LIGHT, sleep_and_end, &until);
	most = bodies();
	for (int i = 0; i < CROWD; i++)
		must(join(id[i]) == &until);
	return most - bodies();
}

static void *steer_crowd(void *unused)
{
	uint64_t holder;
	size_t given_back = 0;

	begin(&holder);
	while (!stop_at(MIDDLE))
		let_go();
	store_seq_cst(&aim.home, 1);
	for (int i = 0; i < ROUNDS; i++)
		given_back += crowd_comes_and_goes();
	store_seq_cst(&aim.home, 0);
	let_go();
	end(holder);
	printf("    %zu bodies were given back\n", given_back);
	fflush(stdout);
	return unused;
}

static void arming_a_timer_delays_none_but_itself_and_one(void)
{
	aim.mode = ARMS;
	stall_steer_on(VCPUS, steer, (void *)(uintptr_t)"arms");
}

static void running_timers_delays_none_but_one(void)
{
	aim.mode = RUNS;
	stall_steer_on(VCPUS, steer, (void *)(uintptr_t)"runs");
}

static void bodies_are_given_back_meanwhile(void)
{
	aim.mode = RUNS;
	stall_steer_on(VCPUS, steer_crowd, NULL);
}

static const struct test_case cases[] = {
	TEST(arming_a_timer_delays_none_but_itself_and_one),
	TEST(running_timers_delays_none_but_one),
	TEST(bodies_are_given_back_meanwhile),
};

TEST_MAIN("stall/timer", cases)
