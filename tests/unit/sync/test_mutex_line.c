/* SPDX-License-Identifier: MIT */
/*
 * test_mutex_line.c - sync/mutex_line: which nodes have arrived, and which have
 * left
 *
 * The owner, the waiters and the sweeper are all this one thread, which does what
 * each of them does, in an order of its choice.
 */
#include "sync/mutex_line.h"

#include <string.h>

#include "support.h"
#include "thread/bare.h"
#include "thread/wait.h"

#define LEAST	16	/* that have left call for a sweep */
#define WAITERS	40

static struct wefti_mutex m;
static struct wefti_thread *t[WAITERS];
static struct wefti_node *node[WAITERS];

static void begin(uint32_t policy)
{
	memset(&m, 0, sizeof(m));
	m.policy = policy;
	store_relaxed(&m.word, WEFTI_MUTEX_LOCKED);
	for (int i = 0; i < WAITERS; i++) {
		if (!t[i])
			t[i] = wefti_thread_bare(WEFTI_KIND_GREEN, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(t[i]);
		CU_ASSERT_TRUE_FATAL(wefti_node_is_free(t[i]));
	}
}

static void push(int i)
{
	uint64_t w = load_relaxed(&m.word);

	CU_ASSERT_TRUE(cas_release(&m.word, &w,
				   wefti_line_pushed(w, node[i])));
}

static void arrive(int i)
{
	node[i] = wefti_node_get(t[i]);
	CU_ASSERT_PTR_EQUAL_FATAL(node[i], &t[i]->node);
	node[i]->seq = wefti_wait_begin(t[i], WEFTI_WAIT_TIMED);
	node[i]->stamp = 0;
	push(i);
}

static void time_out(int i)
{
	CU_ASSERT_EQUAL(wefti_wait_resolve(t[i], node[i]->seq,
			WEFTI_CAUSE_TIMEDOUT), WEFTI_WAS_ARMED);
	wefti_line_leave(&m, node[i]);
}

static void end_wait(int i)
{
	wefti_wait_resolve(t[i], node[i]->seq, WEFTI_CAUSE_HANDED);
	wefti_node_drop(node[i]);
}

static int is_free(int i)
{
	return wefti_node_is_free(t[i]);
}

/* The line holds exactly these, and then nobody. */
static void take_is(const int *who, int n)
{
	uint64_t flags = load_relaxed(&m.word) &
			 WEFTI_MUTEX_FLAGS & ~WEFTI_MUTEX_SWEEP;
	struct wefti_node *line = wefti_line_take(&m);

	for (int i = 0; i < n; i++) {
		CU_ASSERT_PTR_EQUAL_FATAL(line, node[who[i]]);
		line = line->next;
	}
	CU_ASSERT_PTR_NULL(line);
	CU_ASSERT_EQUAL(load_relaxed(&m.word), flags);
}

static void the_owner_takes_all_the_oldest_first(void)
{
	const int all[] = { 0, 1, 2, 3, 4 };

	for (uint32_t policy = 0; policy < 2; policy++) {
		begin(policy);
		take_is(NULL, 0);
		for (int i = 0; i < 5; i++)
			arrive(i);
		fetch_or_relaxed(&m.word, UINT64_C(6));	/* other flags stay */
		take_is(all, 5);
		CU_ASSERT_EQUAL(load_relaxed(&m.word), WEFTI_MUTEX_LOCKED | 6);
		take_is(NULL, 0);
		for (int i = 0; i < 5; i++)
			end_wait(i);
	}
}

/* Taken out, what was a link is none, so that no sweeper's CAS can hit it. */
static void a_link_is_gone_when_it_is_taken_from_a_sweeper(void)
{
	for (uint32_t policy = 0; policy < 2; policy++) {
		begin(policy);
		for (int i = 0; i < 3; i++) {
			arrive(i);
			node[i]->stamp = 100u + (unsigned)i;
			CU_ASSERT_NOT_EQUAL(load_relaxed(&node[i]->data) &
					    WEFTI_LINK, 0);
		}
		fetch_or_relaxed(&m.word, WEFTI_MUTEX_SWEEP);
		take_is((const int[]){ 0, 1, 2 }, 3);
		for (int i = 0; i < 3; i++) {
			CU_ASSERT_EQUAL(load_relaxed(&node[i]->data),
					100u + (unsigned)i);
			end_wait(i);
		}
	}
}

static void a_node_that_comes_again_has_another_link(void)
{
	uint64_t link;

	begin(0);
	arrive(0);
	link = load_relaxed(&node[0]->data);
	take_is((const int[]){ 0 }, 1);
	end_wait(0);
	arrive(0);	/* in the same place */
	CU_ASSERT_NOT_EQUAL(load_relaxed(&node[0]->data), link);
	CU_ASSERT_EQUAL(load_relaxed(&node[0]->data) & WEFTI_LINK_SLOT,
			link & WEFTI_LINK_SLOT);
	take_is((const int[]){ 0 }, 1);
	end_wait(0);
}

static void a_node_that_an_owner_met_is_not_counted(void)
{
	begin(0);
	arrive(0);
	take_is((const int[]){ 0 }, 1);
	CU_ASSERT_EQUAL(wefti_wait_resolve(t[0], node[0]->seq,
			WEFTI_CAUSE_TIMEDOUT), WEFTI_WAS_ARMED);
	wefti_node_let_out(node[0], WEFTI_NODE_OUT);
	wefti_line_leave(&m, node[0]);
	CU_ASSERT_TRUE(is_free(0));
	CU_ASSERT_EQUAL(load_relaxed(&m.left), 0);
	CU_ASSERT_EQUAL(load_relaxed(&m.sweep_at), 0);
}

/* The first to leave sweeps, since nothing is known; then every 16th and more. */
static void those_who_left_are_swept_out_from_between_the_others(void)
{
	int stay[WAITERS], n = 0;

	begin(1);
	for (int i = 0; i < WAITERS; i++)
		arrive(i);
	time_out(7);
	CU_ASSERT_TRUE(is_free(7));
	CU_ASSERT_EQUAL(load_relaxed(&m.sweep_at), LEAST + WAITERS - 1);
	/* A new line, of which nothing is known but the number that calls. */
	store_relaxed(&m.sweep_at, (uint32_t)LEAST);
	for (int i = 0; i < LEAST; i++) {
		int who = i < 3 ? WAITERS - 1 - i :	/* the newest: the top */
			  i < 6 ? i - 3 :		/* the oldest */
			  8 + i + (i > 10);		/* neighbours, a gap */

		for (int k = 0; k < i; k++)	/* not before the last one */
			CU_ASSERT_FALSE(is_free(stay[k]));
		stay[i] = who;
		time_out(who);
	}
	for (int i = 0; i < LEAST; i++)
		CU_ASSERT_TRUE(is_free(stay[i]));
	CU_ASSERT_EQUAL(load_relaxed(&m.left), 0);
	CU_ASSERT_EQUAL(load_relaxed(&m.sweep_at), LEAST + WAITERS - 1 - LEAST);
	CU_ASSERT_EQUAL(load_relaxed(&m.word) & WEFTI_MUTEX_SWEEP, 0);
	for (int i = 0; i < WAITERS; i++)
		if (!is_free(i))
			stay[n++] = i;
	CU_ASSERT_EQUAL(n, WAITERS - 1 - LEAST);
	take_is(stay, n);
	for (int i = 0; i < n; i++)
		end_wait(stay[i]);
}

static void a_line_of_nobody_else_is_empty_behind_the_sweep(void)
{
	begin(0);
	store_relaxed(&m.sweep_at, 4u);
	for (int i = 0; i < 4; i++)
		arrive(i);
	for (int i = 0; i < 4; i++)
		time_out(i);
	for (int i = 0; i < 4; i++)
		CU_ASSERT_TRUE(is_free(i));
	CU_ASSERT_EQUAL(load_relaxed(&m.word), WEFTI_MUTEX_LOCKED);
	CU_ASSERT_EQUAL(load_relaxed(&m.sweep_at), LEAST);
	/* And with nothing to sweep it only counts. */
	store_relaxed(&m.sweep_at, 1u);
	arrive(0);
	take_is((const int[]){ 0 }, 1);
	time_out(0);
	CU_ASSERT_EQUAL(wefti_node_state(node[0]), WEFTI_NODE_GONE);
	CU_ASSERT_EQUAL(load_relaxed(&m.word), WEFTI_MUTEX_LOCKED);
	CU_ASSERT_EQUAL(load_relaxed(&m.sweep_at), LEAST);
	wefti_node_let_out(node[0], WEFTI_NODE_OUT);
	CU_ASSERT_TRUE(is_free(0));
}

static void beside_a_sweeper_there_is_no_other(void)
{
	begin(0);
	store_relaxed(&m.sweep_at, UINT32_MAX);
	for (int i = 0; i < 2 * LEAST; i++)
		arrive(i);
	for (int i = 0; i < 2 * LEAST; i++)
		time_out(i);
	CU_ASSERT_EQUAL(load_relaxed(&m.left), 2 * LEAST);
	CU_ASSERT_EQUAL(load_relaxed(&m.sweep_at), UINT32_MAX);
	for (int i = 0; i < 2 * LEAST; i++)
		CU_ASSERT_EQUAL(wefti_node_state(node[i]), WEFTI_NODE_GONE);
	/*
	 * The sweeper ends; the next thread that leaves sweeps for all of them.
	 */
	store_relaxed(&m.sweep_at, (uint32_t)LEAST);
	arrive(WAITERS - 1);
	time_out(WAITERS - 1);
	for (int i = 0; i < 2 * LEAST; i++)
		CU_ASSERT_TRUE(is_free(i));
	CU_ASSERT_EQUAL(load_relaxed(&m.word), WEFTI_MUTEX_LOCKED);
}

static const struct test_case cases[] = {
	TEST(the_owner_takes_all_the_oldest_first),
	TEST(a_link_is_gone_when_it_is_taken_from_a_sweeper),
	TEST(a_node_that_comes_again_has_another_link),
	TEST(a_node_that_an_owner_met_is_not_counted),
	TEST(those_who_left_are_swept_out_from_between_the_others),
	TEST(a_line_of_nobody_else_is_empty_behind_the_sweep),
	TEST(beside_a_sweeper_there_is_no_other),
};

TEST_MAIN("sync/mutex_line", cases)
