/* SPDX-License-Identifier: MIT */
/*
 * node.c - scenarios: sync/node.c; a node is left in a queue, let out, and used again
 *
 * One thread at a time writes the node: its own thread until it leaves the
 * node, the queue until it has let the node out, and then the next user.
 */
#include "listed.h"

#include "life/pool.h"

static struct wefti_node *node;
static char left;			/* what the thread did before it left */

static void init_node(uint32_t home)
{
	init_threads();
	store_relaxed(&thread[home].depot_next, 0u);
	node = &thread[home].node;
	wefti_node_lend(&thread[home]);
	node->thread = &thread[1];
	m_data_write(&left);
}

static void init_own(void)
{
	init_node(1);
}

static void init_spare(void)
{
	init_node(3);
}

static void leave(void)
{
	m_data_write(&left);
	wefti_node_leave(node);
}

/* If it is back already, for the thread's next wait. */
static void leave_and_lend(void)
{
	leave();
	if (!wefti_node_is_free(&thread[1]))
		return;
	wefti_node_lend(&thread[1]);
	m_data_write(node);
	wefti_node_drop(node);
}

static void let_out(void)
{
	m_data_write(node);
	wefti_node_let_out(node, WEFTI_NODE_OUT);
}

/* A spare node that is in the depot has been left. */
static void use_spare(void)
{
	if (load_relaxed(&spares.word) >> 32 == 0)
		return;
	m_check(wefti_node_get_spare(&thread[3]) == node);
	m_data_write(node);
	m_data_write(&left);
	wefti_node_drop_spare(node);
}

/* The thread has ended, and its struct becomes a spare one when its node is out. */
static void init_ended(void)
{
	init_node(MODEL_THREADS);
	node->thread = &thread[MODEL_THREADS];
	store_relaxed(&node->thread->node_lent, (uint8_t)WEFTI_NODE_GONE);
}

static void make_spare(void)
{
	if (load_relaxed(&thread[MODEL_THREADS].node_lent) != WEFTI_NODE_FREE)
		return;
	m_check(wefti_node_get_spare(&thread[3]) == node);
	m_data_write(node);
}

/* Or into a VCPU's pool; a struct whose node is not out goes elsewhere. */
static struct wefti_vcpu vcpu;

void wefti_thread_bare_free(struct wefti_thread *t)
{
	m_check(t == &thread[MODEL_THREADS]);
}

static void init_pool(void)
{
	init_ended();
	vcpu.slots.top = NULL;
	vcpu.slots.count = 0;
}

static void put_into_pool(void)
{
	wefti_pool_put_slot(&vcpu, &thread[MODEL_THREADS]);
	if (vcpu.slots.top == node)
		m_data_write(node);
}

static void check_nothing(void)
{
}

static void check_free(void)
{
	m_check(load_relaxed(&wefti_node_home(node)->node_lent) ==
		WEFTI_NODE_FREE);
}

SCENARIO(node) = { init_own, { leave_and_lend, let_out }, check_free };
SCENARIO(node_made) = { init_ended, { let_out, make_spare }, check_nothing };
SCENARIO(node_pooled) = { init_pool, { let_out, put_into_pool }, check_nothing };
SCENARIO(node_spare) = { init_spare, { leave, let_out, use_spare }, check_free };
