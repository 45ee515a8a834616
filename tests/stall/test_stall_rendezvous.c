/* SPDX-License-Identifier: MIT */
/*
 * test_stall_rendezvous.c - two come to a rendezvous at once, find each other
 * waiting, and one of the two stops at each step from there on
 *
 * In test_stall_chan.c a partner comes before the victim's call or when it is
 * stopped, so the victim has found it when it looks first, or not at all. Here
 * it comes between that look and the moment at which the victim puts itself in:
 * it has waited since, and the victim sees it when it looks again. By the
 * numbers of their slots (chan/rendezvous.c: I2) the victim then ends its own wait
 * and claims the other, or sends the other back, and the other claims it. Both
 * are seen in the wait words, when the victim is stopped, so that the test
 * knows that it was there.
 *
 * While it is stopped, fresh threads send to each other through the same
 * channel. A thread that waited comes back, with two exceptions: the partner of
 * the stopped one, and the thread that the stopped one was about to run next.
 */
#include "steer.h"

#include "chan/chan.h"
#include "thread/bare.h"

#define PROBES		4
#define ARRIVALS	6
#define STEPS_MOST	300
#define TRIES		20	/* in which no step may be reached, before it is the end */
#define QUIET_NAPS	100

struct scene {
	struct stall_victim victim;
	struct weft_chan *chan[2];
	_Atomic uint64_t victim_id;	/* 0: the two have no parts yet */
	_Atomic int looked, is_in, helped, arrived;
	uint64_t wait;			/* the victim's word before its wait */
	void *(*run)(void *scene);	/* the victim's call */
};

/* The next victim that is about to put itself in; NULL: that is over. */
static struct scene *_Atomic coming;

/* The victim has looked for a partner. Its steps count from here. */
static void let_the_other_in(struct wefti_thread *self)
{
	struct scene *s = load_seq_cst(&coming);

	if (!s || wefti_thread_id(self) != load_seq_cst(&s->victim_id))
		return;
	store_seq_cst(&coming, NULL);
	s->wait = load_seq_cst(&self->wait);
	store_seq_cst(&s->looked, 1);
	while (!load_seq_cst(&s->is_in))
		stall_nap();
	store_seq_cst(&s->victim.begun, 1);
	steps_begin(s->victim.n);
}

int __real_wefti_rendezvous_wait(struct weft_chan *c, unsigned op, void *elem,
				 struct wefti_thread *self);
int __wrap_wefti_rendezvous_wait(struct weft_chan *c, unsigned op, void *elem,
				 struct wefti_thread *self);
int __real_wefti_waiters_add(struct wefti_waiters *q, uint64_t ticket,
			     struct wefti_thread *self, uint64_t place[2]);
int __wrap_wefti_waiters_add(struct wefti_waiters *q, uint64_t ticket,
			     struct wefti_thread *self, uint64_t place[2]);

/* A victim that waits off its stack: it puts itself in from there. */
int __wrap_wefti_rendezvous_wait(struct weft_chan *c, unsigned op, void *elem,
				 struct wefti_thread *self)
{
	let_the_other_in(self);
	return __real_wefti_rendezvous_wait(c, op, elem, self);
}

/* A victim with alternatives; its wait has begun. */
int __wrap_wefti_waiters_add(struct wefti_waiters *q, uint64_t ticket,
			     struct wefti_thread *self, uint64_t place[2])
{
	let_the_other_in(self);
	return __real_wefti_waiters_add(q, ticket, self, place);
}

static void *send_it(void *arg)
{
	struct scene *s = arg;
	long x = 1;

	must(weft_chan_send(s->chan[0], &x, WEFT_FOREVER) == 0);
	return NULL;
}

static void *alt_it(void *arg)
{
	struct scene *s = arg;
	long x = 1, y;
	struct weft_alt a[] = {
		{ .op = WEFT_ALT_SEND, .chan = s->chan[0], .elem = &x },
		{ .op = WEFT_ALT_RECV, .chan = s->chan[1], .elem = &y },
	};

	must(weft_alt(a, 2, WEFT_FOREVER) == 0);
	return NULL;
}

/* In its loops it is not parked: that is how it is known to wait. */
static void *play(void *arg)
{
	struct scene *s = arg;
	long x;

	while (!load_seq_cst(&s->victim_id))
		weft_yield();
	if (load_seq_cst(&s->victim_id) == weft_self()) {
		s->run(s);
		steps_end();
		store_seq_cst(&s->victim.returned, 1);
		return NULL;
	}
	while (!load_seq_cst(&s->looked))
		weft_yield();
	must(weft_chan_recv(s->chan[0], &x, WEFT_FOREVER) == 0);
	store_seq_cst(&s->helped, 1);
	return NULL;
}

static uint32_t slot_of(uint64_t id)
{
	return wefti_thread_find(id)->slot;
}

static uint64_t wait_of(uint64_t id)
{
	struct wefti_thread *t = wefti_thread_find(id);

	return t ? load_seq_cst(&t->wait) : 0;
}

static void *probe_sends(void *arg)
{
	struct scene *s = arg;

	for (long x = 0; load_seq_cst(&s->arrived) < ARRIVALS; x++)
		(void)weft_chan_send(s->chan[0], &x, weft_clock() + 300000);
	return NULL;
}

static void *probe_receives(void *arg)
{
	struct scene *s = arg;

	for (long x; load_seq_cst(&s->arrived) < ARRIVALS; )
		if (weft_chan_recv(s->chan[0], &x, weft_clock() + 300000) == 0)
			fetch_add_seq_cst(&s->arrived, 1);
	return NULL;
}

static void others_go_on(struct scene *s)
{
	uint64_t id[PROBES];

	for (unsigned i = 0; i < PROBES; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0,
				   i < 2 ? probe_sends : probe_receives, s);
	for (unsigned i = 0; i < PROBES; i++)
		join(id[i]);
}

static enum wefti_cause cause_of(uint64_t w)
{
	return (w & WEFTI_WAIT_PHASE) == WEFTI_WAIT_IDLE ?
	       (enum wefti_cause)(w >> WEFTI_WAIT_CAUSE_SHIFT & 15) :
	       WEFTI_CAUSE_NONE;
}

/* Was the wait that had the word `was` ended as woken, and nothing else yet? */
static int goes_back(uint64_t id, uint64_t was)
{
	uint64_t w = wait_of(id);

	return w >> WEFTI_WAIT_SEQ_SHIFT == was >> WEFTI_WAIT_SEQ_SHIFT &&
	       cause_of(w) == WEFTI_CAUSE_WOKEN;
}

/* The same of another's, which has gone on then, or is about to. */
static int was_sent_back(uint64_t id, uint64_t was)
{
	uint64_t w = wait_of(id);

	return w >> WEFTI_WAIT_SEQ_SHIFT != was >> WEFTI_WAIT_SEQ_SHIFT ||
	       (w & WEFTI_WAIT_SUMMONED) || goes_back(id, was);
}

/*
 * Is it the partner of one that is stopped? By one that sent it back it is not
 * held: the wait that is ended so is in nobody's hands.
 */
static int is_held(uint64_t id)
{
	uint64_t w = wait_of(id);

	return cause_of(w) == WEFTI_CAUSE_HANDED ||
	       ((w & WEFTI_WAIT_PHASE) != WEFTI_WAIT_IDLE &&
		(w & WEFTI_WAIT_CLAIMED));
}

/*
 * Has a VCPU taken it out of a queue, to run it? That may be the victim's: one that
 * parks looks for the next thread, and holds it when it is stopped there.
 */
static int is_picked(uint64_t id)
{
	uint64_t w = wait_of(id);

	return (w & WEFTI_WAIT_PHASE) == WEFTI_WAIT_IDLE ||
	       ((w & WEFTI_WAIT_SUMMONED) &&
		wefti_fifo_is_empty(&wefti_rt.inject));
}

struct arrival {
	const char *name;
	void *(*run)(void *scene);
	int is_higher;		/* the victim's slot: it goes back by itself */
};

struct counts {
	size_t stops, back, helped;
};

/* `waited`: the other's word since it waits. */
static void look(struct scene *s, const struct arrival *m, uint64_t other,
		 uint64_t waited, struct counts *n)
{
	uint64_t begun = s->wait;
	int open = !is_held(other);

	/* A victim with alternatives had begun its wait. */
	if ((begun & WEFTI_WAIT_PHASE) == WEFTI_WAIT_IDLE)
		begun += UINT64_C(1) << WEFTI_WAIT_SEQ_SHIFT;
	n->stops++;
	n->back += (size_t)(m->is_higher ?
			    goes_back(s->victim.id, begun) :
			    was_sent_back(other, waited));
	others_go_on(s);
	/*
	 * A helper that was sent back waits behind all others, and these have
	 * gone.
	 */
	for (int quiet = 0; open && quiet < QUIET_NAPS &&
	     !load_seq_cst(&s->helped); stall_nap()) {
		long x = 0;

		(void)weft_chan_send(s->chan[0], &x, WEFT_NO_WAIT);
		quiet = is_picked(other) ? quiet + 1 : 0;
	}
	n->helped += (size_t)load_seq_cst(&s->helped);
}

static int run_step(const struct arrival *m, size_t step, struct counts *n)
{
	struct scene s = { .victim.n = step, .run = m->run };
	uint64_t id[2], other, waited;
	int stopped, first;

	for (int i = 0; i < 2; i++) {
		must(weft_chan_create(&s.chan[i], sizeof(long), 0, 0) == 0);
		id[i] = spawn(play, &s);
	}
	first = (slot_of(id[0]) > slot_of(id[1])) == m->is_higher;
	s.victim.id = first ? id[0] : id[1];
	other = first ? id[1] : id[0];
	store_seq_cst(&coming, &s);
	store_seq_cst(&s.victim_id, s.victim.id);
	while (!load_seq_cst(&s.looked))
		stall_nap();
	stall_await_parked(other);
	waited = wait_of(other);
	store_seq_cst(&s.is_in, 1);
	stopped = stall_await_stop(&s.victim);
	if (stopped)
		look(&s, m, other, waited, n);
	steps_release();
	/* One of the two may have met a probe, and the other then waits. */
	for (long x = 0; !load_seq_cst(&s.victim.returned); stall_nap())
		(void)weft_chan_recv(s.chan[0], &x, WEFT_NO_WAIT);
	for (long x = 0; !load_seq_cst(&s.helped); stall_nap())
		(void)weft_chan_send(s.chan[0], &x, WEFT_NO_WAIT);
	for (int i = 0; i < 2; i++)
		join(id[i]);
	for (int i = 0; i < 2; i++)
		must(weft_chan_destroy(s.chan[i]) == 0);
	return stopped;
}

static const struct arrival arrivals[] = {
	{ "a send goes back", send_it, 1 },
	{ "a send sends the other back", send_it, 0 },
	{ "an alt goes back", alt_it, 1 },
	{ "an alt sends the other back", alt_it, 0 },
};

static void *steer(void *arg)
{
	for (size_t i = 0; i < sizeof(arrivals) / sizeof(arrivals[0]); i++) {
		struct counts n = { 0, 0, 0 };
		size_t step = 1;

		/*
		 * When the other has gone back, it ends the victim's wait as soon as it
		 * can. How many steps the victim still makes until then differs.
		 */
		for (int tries = 0; step < STEPS_MOST && tries < TRIES; tries++)
			for (; step < STEPS_MOST && run_step(&arrivals[i], step, &n); step++)
				tries = 0;
		printf("    %s: stopped at %zu steps, behind that at %zu, the "
		       "one that waited came back at %zu\n", arrivals[i].name,
		       n.stops, n.back, n.helped);
		fflush(stdout);
		must(n.stops > 0 && n.back > 0 && n.helped > 0);
	}
	return arg;
}

static void two_find_each_other_one_goes_back_and_delays_no_other(void)
{
	stall_steer(steer, NULL);
}

static const struct test_case cases[] = {
	TEST(two_find_each_other_one_goes_back_and_delays_no_other),
};

TEST_MAIN("stall/rendezvous", cases)
