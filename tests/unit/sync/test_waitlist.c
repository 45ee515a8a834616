/* SPDX-License-Identifier: MIT */
/*
 * test_waitlist.c - sync/waitlist, sync/node: order, delegation, what times out
 *
 * The object under test wakes as many as are requested, drops requests that
 * find nobody, and writes down what the server does. Its waiters are bare
 * structs whose waits the test begins and ends by hand; in the last tests they
 * are threads, and the server is a kernel thread that is stopped on purpose.
 */
#include "crowd.h"

#include "sched/park.h"
#include "sched/ready.h"
#include "sync/waitlist.h"
#include "thread/bare.h"

#define WAITERS	8
#define TIMED	4	/* threads with deadlines */

struct object {
	struct wefti_waitlist list;
	char log[256];			/* by one thread, or not at all */
	int keeps_no_log;
	_Atomic uint32_t hold, held;	/* the server stops in a request */
};

static struct object *served(struct wefti_service *s)
{
	return container_of(s->list, struct object, list);
}

static void note(struct object *o, char what, unsigned who)
{
	size_t length = strlen(o->log);

	if (!o->keeps_no_log && length + 4 < sizeof(o->log))
		snprintf(o->log + length, 4, "%c%u ", what, who % 10);
}

static void arrive(struct wefti_service *s, struct wefti_node *node)
{
	note(served(s), 'a', (uint32_t)load_relaxed(&node->data));
	wefti_waitlist_append(s, node);
}

static void request(struct wefti_service *s, uint32_t n)
{
	struct object *o = served(s);

	if (n)
		note(o, 'r', n);
	while (n && load_seq_cst(&o->hold)) {
		store_seq_cst(&o->held, 1);
		wefti_os_yield();
	}
	while (n-- && wefti_waitlist_wake_oldest(s))
		;
}

static uint64_t rest_word(struct wefti_service *s)
{
	(void)s;
	return 0;
}

static void wake(struct wefti_service *s, struct wefti_node *node)
{
	struct wefti_thread *t = node->thread;

	note(served(s), 'w', (uint32_t)load_relaxed(&node->data));
	if (wefti_wait_finish(t, WEFTI_CAUSE_WOKEN))
		wefti_ready(t);
}

static const struct wefti_waitlist_ops ops = {
	.arrive = arrive, .request = request, .rest = rest_word, .wake = wake,
};

/* What an object does to wait and to wake. */

static void push(struct object *o, struct wefti_node *node, uint32_t who)
{
	uint64_t w = load_relaxed(&o->list.word);

	while (!cas_weak_release(&o->list.word, &w,
				 wefti_waitlist_pushed(w, node, who)))
		;
}

static int become_server(struct object *o, uint64_t *w)
{
	*w = load_relaxed(&o->list.word);
	while ((*w & WEFTI_LIST_QUEUED) && !(*w & WEFTI_LIST_BUSY))
		if (cas_weak_acq_rel(&o->list.word, w,
				     wefti_waitlist_taken(*w)))
			return 1;
	return 0;
}

static void request_one(struct object *o)
{
	uint64_t w;

	for (;;) {
		if (become_server(o, &w)) {
			wefti_waitlist_serve(&o->list, w + WEFTI_LIST_ONE,
					     &ops);
			return;
		}
		if (!(w & WEFTI_LIST_QUEUED) ||
		    cas_weak_release(&o->list.word, &w, w + WEFTI_LIST_ONE))
			return;
	}
}

/* Waiters by hand. */

struct waiter {
	struct wefti_thread *t;
	struct wefti_node *node;
};

static struct waiter waiters[WAITERS];

static void wait_by_hand(struct object *o, unsigned i)
{
	struct waiter *w = &waiters[i];

	if (!w->t)
		w->t = wefti_thread_bare(WEFTI_KIND_GREEN, NULL);
	must(w->t);
	w->node = wefti_node_get(w->t);
	must(w->node);
	w->node->seq = wefti_wait_begin(w->t, WEFTI_WAIT_TIMED);
	push(o, w->node, i);
}

static enum wefti_cause cause_of(unsigned i)
{
	return wefti_wait_cause(waiters[i].t);
}

static void time_out(unsigned i)
{
	struct waiter *w = &waiters[i];

	must(wefti_wait_resolve(w->t, w->node->seq, WEFTI_CAUSE_TIMEDOUT) ==
	     WEFTI_WAS_ARMED);
}

static void withdraw(struct object *o, unsigned i)
{
	wefti_waitlist_withdraw(&o->list, waiters[i].node, waiters[i].t, &ops);
}

static void give_back(unsigned i)
{
	must(cause_of(i) == WEFTI_CAUSE_WOKEN);
	wefti_node_drop(waiters[i].node);
}

static unsigned lent(unsigned i)
{
	return load_seq_cst(&waiters[i].t->node_lent);
}

static void requests_wake_in_the_order_of_the_pushes(void)
{
	struct object o = { .log = "" };

	for (unsigned i = 0; i < 4; i++)
		wait_by_hand(&o, i);
	request_one(&o);
	CU_ASSERT_STRING_EQUAL(o.log, "a0 a1 a2 a3 r1 w0 ");
	CU_ASSERT_EQUAL(o.list.length, 3);
	wait_by_hand(&o, 4);
	for (unsigned i = 1; i < 5; i++) {
		CU_ASSERT_EQUAL(cause_of(i), WEFTI_CAUSE_NONE);
		request_one(&o);
		CU_ASSERT_EQUAL(cause_of(i), WEFTI_CAUSE_WOKEN);
	}
	CU_ASSERT_EQUAL(load_seq_cst(&o.list.word), 0);
	request_one(&o);
	CU_ASSERT_EQUAL(load_seq_cst(&o.list.word), 0);
	for (unsigned i = 0; i < 5; i++)
		give_back(i);
}

static void one_waiter_is_told_from_many(void)
{
	struct object o = { .log = "" };
	uint64_t w;

	wait_by_hand(&o, 0);
	w = load_seq_cst(&o.list.word);
	CU_ASSERT(wefti_waitlist_is_single(w));
	CU_ASSERT_PTR_EQUAL(wefti_waitlist_top(w), waiters[0].node);
	wait_by_hand(&o, 1);
	CU_ASSERT(!wefti_waitlist_is_single(load_seq_cst(&o.list.word)));
	request_one(&o);
	/* In the list, where only a server finds it. */
	CU_ASSERT(!wefti_waitlist_is_single(load_seq_cst(&o.list.word)));
	request_one(&o);
	give_back(0);
	give_back(1);
}

static void what_is_left_to_a_server_is_done_in_order(void)
{
	struct object o = { .log = "" };
	uint64_t w;

	wait_by_hand(&o, 0);
	CU_ASSERT(become_server(&o, &w));
	/* All of these return, though nobody serves. */
	request_one(&o);
	request_one(&o);	/* finds nobody: must not wake a later one */
	wait_by_hand(&o, 1);
	wait_by_hand(&o, 2);
	request_one(&o);
	wait_by_hand(&o, 3);
	CU_ASSERT_STRING_EQUAL(o.log, "");
	wefti_waitlist_serve(&o.list, w, &ops);
	CU_ASSERT_STRING_EQUAL(o.log, "a0 r2 a1 a2 r1 a3 w0 w1 ");
	CU_ASSERT_EQUAL(cause_of(2), WEFTI_CAUSE_NONE);
	CU_ASSERT_EQUAL(cause_of(3), WEFTI_CAUSE_NONE);
	request_one(&o);
	request_one(&o);
	CU_ASSERT_EQUAL(load_seq_cst(&o.list.word), 0);
	for (unsigned i = 0; i < 4; i++)
		give_back(i);
}

static void a_wait_that_timed_out_is_passed_over(void)
{
	struct object o = { .log = "" };

	for (unsigned i = 0; i < 3; i++)
		wait_by_hand(&o, i);
	time_out(0);
	request_one(&o);
	CU_ASSERT_EQUAL(cause_of(1), WEFTI_CAUSE_WOKEN);
	CU_ASSERT_EQUAL(lent(0), WEFTI_NODE_OUT);
	withdraw(&o, 0);	/* finds itself out */
	CU_ASSERT_EQUAL(lent(0), WEFTI_NODE_FREE);
	CU_ASSERT_EQUAL(o.list.length, 1);
	request_one(&o);
	give_back(1);
	give_back(2);
}

static void the_last_to_time_out_leaves_nothing(void)
{
	struct object o = { .log = "" };

	for (unsigned i = 0; i < 3; i++)
		wait_by_hand(&o, i);
	for (unsigned i = 0; i < 3; i++) {
		time_out(i);
		withdraw(&o, i);
		CU_ASSERT(o.list.length <= 2 * (2 - i));
	}
	CU_ASSERT_EQUAL(load_seq_cst(&o.list.word), 0);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(lent(i), WEFTI_NODE_FREE);
}

static void a_time_out_while_another_serves_leaves_its_node(void)
{
	struct object o = { .log = "" };
	uint64_t w;

	wait_by_hand(&o, 0);
	wait_by_hand(&o, 1);
	CU_ASSERT(become_server(&o, &w));
	time_out(0);
	withdraw(&o, 0);
	CU_ASSERT_EQUAL(lent(0), WEFTI_NODE_GONE);
	/* It waits elsewhere meanwhile, in a spare struct's node. */
	struct wefti_node *spare = wefti_node_get(waiters[0].t);

	CU_ASSERT_PTR_NOT_EQUAL(spare, waiters[0].node);
	CU_ASSERT_PTR_EQUAL(spare->thread, waiters[0].t);
	wefti_node_drop(spare);
	wefti_waitlist_serve(&o.list, w, &ops);
	CU_ASSERT_EQUAL(lent(0), WEFTI_NODE_FREE);
	CU_ASSERT_EQUAL(o.list.length, 1);
	request_one(&o);
	CU_ASSERT_EQUAL(load_seq_cst(&o.list.word), 0);
	give_back(1);
}

static void a_woken_wait_does_not_time_out(void)
{
	struct object o = { .log = "" };
	uint64_t w;

	wait_by_hand(&o, 0);
	wait_by_hand(&o, 1);
	CU_ASSERT(become_server(&o, &w));
	struct wefti_service s = { .list = &o.list, .ops = &ops };

	/* Kept, though not woken yet: the server has to leave first. */
	CU_ASSERT(wefti_waitlist_keep(&s, waiters[1].node));
	CU_ASSERT_EQUAL(cause_of(1), WEFTI_CAUSE_NONE);
	CU_ASSERT_EQUAL(wefti_wait_resolve(waiters[1].t, waiters[1].node->seq,
			WEFTI_CAUSE_TIMEDOUT), WEFTI_LOST);
	wake(&s, waiters[1].node);
	give_back(1);
	time_out(0);
	CU_ASSERT(!wefti_waitlist_keep(&s, waiters[0].node));
	wefti_node_let_out(waiters[0].node, WEFTI_NODE_OUT);
	CU_ASSERT_EQUAL(wefti_node_leave(waiters[0].node), WEFTI_NODE_OUT);
}

static void the_count_moves_to_the_node_that_is_pushed(void)
{
	struct object o = { .log = "" };
	uint64_t w;

	wait_by_hand(&o, 0);
	CU_ASSERT(become_server(&o, &w));
	store_relaxed(&o.list.word, wefti_waitlist_taken(w) | WEFTI_LIST_COUNT);
	wait_by_hand(&o, 1);
	CU_ASSERT_EQUAL(wefti_waitlist_count(load_relaxed(
				&waiters[1].node->data)),
			WEFTI_LIST_COUNT_MAX);
	CU_ASSERT_EQUAL(wefti_waitlist_count(load_relaxed(&o.list.word)), 0);
	wefti_waitlist_serve(&o.list, w, &ops);
	CU_ASSERT_EQUAL(cause_of(0), WEFTI_CAUSE_WOKEN);
	CU_ASSERT_EQUAL(cause_of(1), WEFTI_CAUSE_NONE);
	request_one(&o);
	give_back(0);
	give_back(1);
}

/* The server is a kernel thread that stops in the middle. */

struct scene {
	struct object o;
	_Atomic uint32_t woken, come;
	unsigned timed_waits;
};

static void wait_as_thread(unsigned me, void *arg)
{
	struct scene *s = arg;
	struct wefti_thread *self = wefti_enter();
	struct wefti_node *node = wefti_node_get(self);

	must(node);
	node->seq = wefti_park_begin(self, 0, WEFTI_WHY_NOTHING, s);
	push(&s->o, node, me);
	must(wefti_park(self, INT64_MAX) == WEFTI_CAUSE_WOKEN);
	wefti_node_drop(node);
	wefti_leave(self);
	fetch_add_seq_cst(&s->woken, 1);
}

static void wait_with_deadline(struct scene *s)
{
	struct wefti_thread *self = wefti_enter();
	struct wefti_node *node = wefti_node_get(self);

	must(node);
	node->seq = wefti_park_begin(self, WEFTI_WAIT_TIMED,
				     WEFTI_WHY_NOTHING, s);
	push(&s->o, node, 9);
	must(wefti_park(self, weft_clock() + 10000) == WEFTI_CAUSE_TIMEDOUT);
	wefti_waitlist_withdraw(&s->o.list, node, self, &ops);
	wefti_leave(self);
}

static void time_out_as_thread(unsigned me, void *arg)
{
	struct scene *s = arg;

	(void)me;
	/* Not in the struct of another that has left its node and ended. */
	fetch_add_seq_cst(&s->come, 1);
	while (load_seq_cst(&s->come) < TIMED)
		rest();
	for (unsigned i = 0; i < s->timed_waits; i++)
		wait_with_deadline(s);
}

static void *serve_and_stop(void *arg)
{
	struct scene *s = arg;
	struct wefti_thread *self = wefti_enter();

	request_one(&s->o);
	wefti_leave(self);
	return NULL;
}

static pthread_t stop_a_server(struct scene *s)
{
	pthread_t server;

	store_seq_cst(&s->o.hold, 1);
	must(pthread_create(&server, NULL, serve_and_stop, s) == 0);
	while (!load_seq_cst(&s->o.held))
		rest();
	return server;
}

static void let_it_go(struct scene *s, pthread_t server)
{
	store_seq_cst(&s->o.hold, 0);
	must(pthread_join(server, NULL) == 0);
}

static void calls_return_or_park_while_the_server_is_stopped(void)
{
	static struct member early, late[6], timed[TIMED];
	struct scene s = { .o.keeps_no_log = 1, .timed_waits = 1 };

	runtime_begin();
	member_start(&early, 0, wait_as_thread, &s);
	until_waits_for(&early, &s);
	pthread_t server = stop_a_server(&s);

	/* Each of these times out, and returns, once. */
	for (unsigned i = 0; i < TIMED; i++)
		member_start(&timed[i], i, time_out_as_thread, &s);
	for (unsigned i = 0; i < TIMED; i++)
		member_join(&timed[i]);
	for (unsigned i = 0; i < 6; i++) {
		member_start(&late[i], i, wait_as_thread, &s);
		until_waits_for(&late[i], &s);
	}
	for (unsigned i = 0; i < 6; i++) {
		struct wefti_thread *self = wefti_enter();

		request_one(&s.o);
		wefti_leave(self);
	}
	CU_ASSERT_EQUAL(load_seq_cst(&s.woken), 0);
	let_it_go(&s, server);
	member_join(&early);
	for (unsigned i = 0; i < 6; i++)
		member_join(&late[i]);
	CU_ASSERT_EQUAL(load_seq_cst(&s.woken), 7);
	CU_ASSERT_EQUAL(load_seq_cst(&s.o.list.word), 0);
	runtime_end();
}

static void a_stopped_server_does_not_make_memory_grow(void)
{
	static struct member early, timed[TIMED];
	struct scene s = {
		.o.keeps_no_log = 1,
		.timed_waits = (unsigned)test_scaled(2000),
	};
	uint32_t slots;

	runtime_begin();
	member_start(&early, 0, wait_as_thread, &s);
	until_waits_for(&early, &s);
	slots = wefti_slot_limit();
	pthread_t server = stop_a_server(&s);

	for (unsigned i = 0; i < TIMED; i++)
		member_start(&timed[i], i, time_out_as_thread, &s);
	/* All are in their second wait, and have left the first one's node. */
	for (unsigned i = 0; i < TIMED; i++) {
		struct wefti_thread *t;

		while (!(t = load_seq_cst(&timed[i].self)))
			rest();
		while (load_seq_cst(&t->node_lent) != WEFTI_NODE_GONE)
			rest();
	}
	let_it_go(&s, server);
	member_join(&early);
	for (unsigned i = 0; i < TIMED; i++)
		member_join(&timed[i]);
	CU_ASSERT(wefti_slot_limit() - slots <= 2 * 64);
	CU_ASSERT_EQUAL(load_seq_cst(&s.o.list.word), 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(requests_wake_in_the_order_of_the_pushes),
	TEST(one_waiter_is_told_from_many),
	TEST(what_is_left_to_a_server_is_done_in_order),
	TEST(a_wait_that_timed_out_is_passed_over),
	TEST(the_last_to_time_out_leaves_nothing),
	TEST(a_time_out_while_another_serves_leaves_its_node),
	TEST(a_woken_wait_does_not_time_out),
	TEST(the_count_moves_to_the_node_that_is_pushed),
	TEST(calls_return_or_park_while_the_server_is_stopped),
	TEST(a_stopped_server_does_not_make_memory_grow),
};

TEST_MAIN("sync/waitlist", cases)
