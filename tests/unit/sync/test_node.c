/* SPDX-License-Identifier: MIT */
/*
 * test_node.c - sync/node: the owner of a node, and when it is given back
 *
 * The threads are bare structs; the queue is what the test says that it is. The
 * edges that a wait list takes anyway are in test_waitlist.c.
 */
#include <errno.h>

#include "lockfree/atomic.h"
#include "support.h"
#include "sync/node.h"
#include "thread/bare.h"
#include "thread/wait.h"

static int no_memory;

int __real_wefti_slot_grow(uint32_t *first, uint32_t *count);
int __wrap_wefti_slot_grow(uint32_t *first, uint32_t *count);

int __wrap_wefti_slot_grow(uint32_t *first, uint32_t *count)
{
	return no_memory ? -ENOMEM : __real_wefti_slot_grow(first, count);
}

static struct wefti_thread *make(void)
{
	struct wefti_thread *t = wefti_thread_bare(WEFTI_KIND_GREEN, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	return t;
}

static uint64_t loans(struct wefti_node *node)
{
	return load_relaxed(&wefti_node_home(node)->wait) >>
	       WEFTI_WAIT_SEQ_SHIFT;
}

static void the_first_node_is_the_threads_own_and_others_are_spare(void)
{
	struct wefti_thread *t = make();
	struct wefti_node *own = wefti_node_get(t), *one, *two;
	uint64_t before;

	CU_ASSERT_PTR_EQUAL(own, &t->node);
	CU_ASSERT_PTR_EQUAL(own->thread, t);
	CU_ASSERT_FALSE(wefti_node_is_free(t));
	one = wefti_node_get(t);
	two = wefti_node_get(t);
	CU_ASSERT_TRUE_FATAL(one && two && one != two && one != own);
	CU_ASSERT_PTR_EQUAL(one->thread, t);
	CU_ASSERT_PTR_NOT_EQUAL(wefti_node_home(one), t);
	CU_ASSERT_EQUAL(wefti_node_state(two), WEFTI_NODE_LENT);

	/* The next loan is the same struct's, and has another number. */
	before = loans(one);
	wefti_node_drop(one);
	CU_ASSERT_PTR_EQUAL(wefti_node_get(t), one);
	CU_ASSERT_EQUAL(loans(one), before + 1);

	wefti_node_drop(one);
	wefti_node_drop(two);
	wefti_node_drop(own);
	CU_ASSERT_TRUE(wefti_node_is_free(t));
	CU_ASSERT_PTR_EQUAL(wefti_node_get(t), own);	/* comes first again */
	wefti_node_drop(own);
	wefti_thread_bare_free(t);
}

static void a_struct_whose_node_is_lent_is_no_spare_one(void)
{
	struct wefti_thread *t = make(), *dead = make(), *next;
	struct wefti_node *left = wefti_node_get(dead), *own, *spare[8];

	/* It has ended, and its node is in a queue still. */
	CU_ASSERT_EQUAL(wefti_node_leave(left), WEFTI_NODE_LENT);
	wefti_thread_bare_free(dead);
	own = wefti_node_get(t);
	for (int i = 0; i < 8; i++) {
		spare[i] = wefti_node_get(t);
		CU_ASSERT_PTR_NOT_NULL_FATAL(spare[i]);
		CU_ASSERT_PTR_NOT_EQUAL(spare[i], left);
	}
	CU_ASSERT_EQUAL(wefti_node_state(left), WEFTI_NODE_GONE);
	/* It was put aside only: the next thread gets it. */
	next = make();
	CU_ASSERT_PTR_EQUAL(next, dead);
	wefti_thread_bare_free(next);
	wefti_node_let_out(left, WEFTI_NODE_OUT);
	CU_ASSERT_EQUAL(wefti_node_state(left), WEFTI_NODE_FREE);
	for (int i = 0; i < 8; i++)
		wefti_node_drop(spare[i]);
	wefti_node_drop(own);
	wefti_thread_bare_free(t);
}

static void without_memory_there_is_no_spare_one_and_nothing_changed(void)
{
	enum { MOST = 1 << 16 };
	static struct wefti_node *spare[MOST];
	struct wefti_thread *t = make();
	struct wefti_node *own = wefti_node_get(t);
	int n = 0;

	no_memory = 1;
	while (n < MOST && (spare[n] = wefti_node_get(t)))
		n++;
	CU_ASSERT_TRUE_FATAL(n < MOST);
	CU_ASSERT_EQUAL(wefti_node_state(own), WEFTI_NODE_LENT);
	CU_ASSERT_PTR_EQUAL(own->thread, t);
	CU_ASSERT_TRUE_FATAL(n > 0);
	/* One that is given back is there for the next. */
	wefti_node_drop(spare[0]);
	CU_ASSERT_PTR_EQUAL(wefti_node_get(t), spare[0]);
	no_memory = 0;
	spare[n] = wefti_node_get(t);
	CU_ASSERT_PTR_NOT_NULL_FATAL(spare[n]);
	for (int i = 0; i <= n; i++)
		wefti_node_drop(spare[i]);
	wefti_node_drop(own);
	wefti_thread_bare_free(t);
}

static void a_leaver_learns_how_it_was_let_out(void)
{
	const enum wefti_node_state how[] = {
		WEFTI_NODE_OUT, WEFTI_NODE_COUNTED,
	};
	struct wefti_thread *t = make();

	for (int i = 0; i < 4; i++) {
		struct wefti_node *own = wefti_node_get(t), *node = own;

		if (i >= 2)
			node = wefti_node_get(t);	/* a spare one */
		wefti_node_let_out(node, how[i % 2]);
		CU_ASSERT_EQUAL(wefti_node_state(node), how[i % 2]);
		CU_ASSERT_EQUAL(wefti_node_leave(node), how[i % 2]);
		CU_ASSERT_EQUAL(wefti_node_state(node), WEFTI_NODE_FREE);
		if (node != own)
			wefti_node_drop(own);

		/*
		 * The other way round: the queue takes it out and gives it
		 * back.
		 */
		own = node = wefti_node_get(t);
		if (i >= 2)
			node = wefti_node_get(t);
		CU_ASSERT_EQUAL(wefti_node_leave(node), WEFTI_NODE_LENT);
		CU_ASSERT_EQUAL(wefti_node_state(node), WEFTI_NODE_GONE);
		wefti_node_let_out(node, how[i % 2]);
		CU_ASSERT_EQUAL(wefti_node_state(node), WEFTI_NODE_FREE);
		if (node != own) {
			CU_ASSERT_PTR_EQUAL(wefti_node_get(t), node);
			wefti_node_drop(node);
			wefti_node_drop(own);
		}
		CU_ASSERT_TRUE(wefti_node_is_free(t));
	}
	wefti_thread_bare_free(t);
}

static void an_asker_is_woken_when_it_is_out_or_learns_that_it_was(void)
{
	struct wefti_thread *t = make();
	struct wefti_node *node = wefti_node_get(t);

	wefti_wait_begin(t, 0);
	CU_ASSERT_EQUAL(wefti_node_ask(node), WEFTI_NODE_LENT);
	CU_ASSERT_EQUAL(wefti_node_state(node), WEFTI_NODE_ASKED);
	CU_ASSERT_EQUAL(wefti_wait_cause(t), WEFTI_CAUSE_NONE);
	wefti_node_let_out(node, WEFTI_NODE_COUNTED);
	CU_ASSERT_EQUAL(wefti_wait_cause(t), WEFTI_CAUSE_WOKEN);
	CU_ASSERT_EQUAL(wefti_node_state(node), WEFTI_NODE_COUNTED);
	wefti_node_drop(node);

	/* Too late: it is not woken, and knows. */
	node = wefti_node_get(t);
	wefti_node_let_out(node, WEFTI_NODE_OUT);
	wefti_wait_begin(t, 0);
	CU_ASSERT_EQUAL(wefti_node_ask(node), WEFTI_NODE_OUT);
	CU_ASSERT_EQUAL(wefti_wait_cause(t), WEFTI_CAUSE_NONE);
	wefti_wait_resolve(t, load_relaxed(&t->wait) >> WEFTI_WAIT_SEQ_SHIFT,
			   WEFTI_CAUSE_WOKEN);
	wefti_node_drop(node);
	CU_ASSERT_TRUE(wefti_node_is_free(t));
	wefti_thread_bare_free(t);
}

static const struct test_case cases[] = {
	TEST(the_first_node_is_the_threads_own_and_others_are_spare),
	TEST(a_struct_whose_node_is_lent_is_no_spare_one),
	TEST(without_memory_there_is_no_spare_one_and_nothing_changed),
	TEST(a_leaver_learns_how_it_was_let_out),
	TEST(an_asker_is_woken_when_it_is_out_or_learns_that_it_was),
};

TEST_MAIN("sync/node", cases)
