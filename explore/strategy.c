/* SPDX-License-Identifier: MIT */
/*
 * explore/strategy.c - which of the ready threads makes the next step
 *
 *	random     each with the same chance
 *	pct        the highest priority. Priorities are drawn at the begin of a thread, and
 *	           at d - 1 random steps the running thread falls below all others: it finds
 *	           each bug of depth d with a known least chance. d and the expected number
 *	           of steps are drawn too, so that the seed alone says all
 *	pos        the highest priority, which is drawn anew for each step, and for each
 *	           thread whose next step is on the object of the step that was made
 *	weights    each with a chance by its weight, which is drawn at its begin: some threads
 *	           are slow, as no random walk among equals has them. SURW takes the number
 *	           of steps that a thread has left, which only a profile run can tell
 *	robin      each in turn, for a number of steps that the seed says
 *	changes    as in the plain run (choice.c), but for one to three random steps. There
 *	           another thread runs. It finds bugs in long runs that need few changes
 *	portfolio  one of those, by the seed: see MIX
 *	list       by a list of choices (choice.c)
 *
 * A loop that waits for another thread must not go on for ever. So a thread yields, and
 * another one makes a step:
 *	at sched_yield()
 *	at a wait whose deadline has come when it begins
 *	behind the second call in one turn that finds nothing: a lock is taken, a pipe is empty
 *	at the last of many calls in a row that are no points (time.c: ASKED)
 * For PCT and POS such a thread falls below all others. So does one that reads a location
 * again and again, or has made ROW steps while others could run.
 *
 * Source
 *   S. Burckhardt and others, "A randomized scheduler with probabilistic guarantees of
 *   finding bugs", ASPLOS 2010. X. Yuan, J. Yang, R. Gu, "Partial order aware concurrency
 *   sampling", CAV 2018. M. Emmi, S. Qadeer, Z. Rakamaric, "Delay-bounded scheduling", POPL
 *   2011, for few changes of a plain run. H. Zhao and others, "Selectively uniform concurrency testing",
 *   ASPLOS 2025.
 */
#include "explore.h"

#include <string.h>

#define CHANGES_MOST	3u
#define LOG_STEPS_LEAST	3u	/* of 8 steps */
#define LOG_STEPS_KINDS	8u	/* ... 1,024 */
#define ROW		200u
#define SPUN		16u	/* readings of a location in a row */
#define FRUITLESS	2u	/* calls that find nothing */
#define EARLY_KINDS	6u	/* one step in 2, 4 ... 64 */
#define TURNS		16u
#define WEIGHTS_KINDS	7u	/* 1, 2 ... 64 */
#define HIGH		(UINT64_C(1) << 62)

enum strategy { RANDOM, PCT, POS, WEIGHTS, ROBIN, CHANGES, PORTFOLIO, LIST, KINDS };

static const char *const names[] = { "random", "pct", "pos", "weights", "robin",
				     "changes", "portfolio", "list" };

/*
 * In bench explore WEIGHTS needs the fewest runs for most programs, and POS and PCT find
 * sooner the bugs that it finds late. CHANGES alone finds that of qsort_mt.
 */
static const enum strategy MIX[] = { WEIGHTS, POS, WEIGHTS, PCT, WEIGHTS, POS, CHANGES, PCT };

static enum strategy strategy;
static uint64_t turn;		/* of a thread of ROBIN, in steps */
static uint64_t random_state;
static uint64_t lowest = HIGH;	/* counts down: the priority of the next that falls */
static uint64_t change_at[CHANGES_MOST];
static unsigned changes;

/* splitmix64 */
uint64_t wefti_ex_random(void)
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t high(void)
{
	return HIGH + (wefti_ex_random() >> 2);
}

/*
 * The number of steps of a run is not known, so it is guessed. Short runs are the more likely
 * guess, but CHANGES is for long ones as well.
 */
static uint64_t steps_drawn(void)
{
	const uint64_t a = wefti_ex_random() % LOG_STEPS_KINDS;
	const uint64_t b = strategy == CHANGES ? a : wefti_ex_random() % LOG_STEPS_KINDS;

	return UINT64_C(1) << (LOG_STEPS_LEAST + (a < b ? a : b));
}

/* Returns its place in `names`, or their number. */
static unsigned find(const char *name)
{
	unsigned i;

	for (i = 0; i < KINDS && strcmp(name, names[i]) != 0; i++)
		;
	return i;
}

int wefti_ex_strategy_is_known(const char *name)
{
	const unsigned i = find(name);

	return i < KINDS && (i != LIST || wefti_ex_has_list());
}

/*
 * With the second thread: before it there is nothing to choose, and a process that makes a
 * child for each run (serve.c) does not know the seed yet.
 */
void wefti_ex_strategy_begin(const char *name, uint64_t seed)
{
	const unsigned i = find(name);

	strategy = i == PORTFOLIO ? MIX[seed % (sizeof(MIX) / sizeof(*MIX))] : (enum strategy)i;
	random_state = seed;
	turn = 1 + seed % TURNS;
	wefti_ex.early = UINT64_C(2) << wefti_ex_random() % EARLY_KINDS;
	if (strategy == PCT || strategy == CHANGES) {
		const uint64_t steps = steps_drawn();

		changes = 1 + (unsigned)(wefti_ex_random() % CHANGES_MOST);
		for (unsigned c = 0; c < changes; c++)
			change_at[c] = 1 + wefti_ex_random() % steps;
	}
	wefti_ex_strategy_thread(wefti_ex.all);
}

void wefti_ex_strategy_thread(struct wefti_ex_thread *t)
{
	if (strategy == PCT || strategy == POS)
		t->priority = high();
	if (strategy == WEIGHTS)
		t->weight = UINT64_C(1) << wefti_ex_random() % WEIGHTS_KINDS;
}

int wefti_ex_yields(const struct wefti_ex_thread *t)
{
	return t->op == WEFTI_EX_YIELD || t->op == WEFTI_EX_ASK || t->is_due ||
	       t->fruitless >= FRUITLESS;
}

/* It reads one location and nothing else: it waits for another thread to change it. */
static int spins(const struct wefti_ex_thread *t)
{
	return t->spun > SPUN && t->spun % SPUN == 0;
}

int wefti_ex_gives_way(const struct wefti_ex_thread *t, uint32_t row)
{
	return wefti_ex_yields(t) || t->in_row >= row || spins(t);
}

void wefti_ex_found_nothing(void)
{
	if (wefti_ex_controlled())
		wefti_ex_self->fruitless++;
}

static void fall(struct wefti_ex_thread *t)
{
	t->priority = --lowest;
}

static struct wefti_ex_thread *highest(struct wefti_ex_thread **ready, unsigned n)
{
	struct wefti_ex_thread *best = ready[0];

	for (unsigned i = 1; i < n; i++)
		if (ready[i]->priority > best->priority)
			best = ready[i];
	return best;
}

static struct wefti_ex_thread *any(struct wefti_ex_thread **ready, unsigned n,
				   struct wefti_ex_thread *self)
{
	struct wefti_ex_thread *t = ready[wefti_ex_random() % n];

	while (t == self && wefti_ex_yields(self))
		t = ready[wefti_ex_random() % n];
	return t;
}

static struct wefti_ex_thread *by_weight(struct wefti_ex_thread **ready, unsigned n,
					 const struct wefti_ex_thread *self)
{
	const int yields = wefti_ex_yields(self);
	uint64_t sum = 0, drawn;

	for (unsigned i = 0; i < n; i++)
		if (ready[i] != self || !yields)
			sum += ready[i]->weight;
	drawn = wefti_ex_random() % sum;
	for (unsigned i = 0; i < n; i++) {
		if (ready[i] == self && yields)
			continue;
		if (drawn < ready[i]->weight)
			return ready[i];
		drawn -= ready[i]->weight;
	}
	return ready[0];
}

static struct wefti_ex_thread *in_turn(struct wefti_ex_thread **ready, unsigned n,
				       struct wefti_ex_thread *self)
{
	struct wefti_ex_thread *t = ready[0];

	if (self->state == WEFTI_EX_READY && !wefti_ex_yields(self) &&
	    self->in_row + 1 < turn)
		return self;
	for (unsigned i = n; i-- > 0;)
		if (ready[i]->number > self->number)
			t = ready[i];
	return t;
}

/* How many of the changes come at this step. */
static unsigned changes_now(void)
{
	unsigned now = 0;

	for (unsigned i = 0; i < changes; i++)
		if (change_at[i] && change_at[i] <= wefti_ex.report->steps) {
			change_at[i] = 0;
			now++;
		}
	return now;
}

static struct wefti_ex_thread *changed(struct wefti_ex_thread **ready, unsigned n,
				       struct wefti_ex_thread *self)
{
	const unsigned drawn = (unsigned)(wefti_ex_random() % n);

	if (changes_now() == 0)
		return wefti_ex_plain(ready, n, self);
	return ready[drawn] != self ? ready[drawn] : ready[(drawn + 1) % n];
}

static struct wefti_ex_thread *by_priority(struct wefti_ex_thread **ready, unsigned n,
					   struct wefti_ex_thread *self)
{
	for (unsigned now = changes_now(); now > 0; now--)
		fall(self);
	if (wefti_ex_gives_way(self, ROW))
		fall(self);
	return highest(ready, n);
}

struct wefti_ex_thread *wefti_ex_pick(struct wefti_ex_thread **ready, unsigned n,
				      struct wefti_ex_thread *self)
{
	if (strategy == RANDOM)
		return any(ready, n, self);
	if (strategy == LIST)
		return wefti_ex_by_list(ready, n, self);
	if (strategy == WEIGHTS)
		return by_weight(ready, n, self);
	if (strategy == ROBIN)
		return in_turn(ready, n, self);
	if (strategy == CHANGES)
		return changed(ready, n, self);
	return by_priority(ready, n, self);
}

void wefti_ex_stepped(struct wefti_ex_thread *self)
{
	if (strategy != POS)
		return;
	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (t == self || (self->object && t->object == self->object))
			t->priority = high();
}

/*
 * A program may lock a million times before it makes a thread. While it has one, which waits
 * for nothing, these steps do not count for the bound.
 */
static int counts(const struct wefti_ex_thread *self)
{
	return wefti_ex.all != wefti_ex.last ||
	       (self->op != WEFTI_EX_LOCK && self->op != WEFTI_EX_UNLOCK &&
		self->op != WEFTI_EX_READ && self->op != WEFTI_EX_WRITE &&
		self->op != WEFTI_EX_ONCE);
}

uint64_t wefti_ex_count_step(const struct wefti_ex_thread *self)
{
	static uint64_t counted;

	return counted += (uint64_t)counts(self);
}
