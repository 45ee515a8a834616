/* SPDX-License-Identifier: MIT */
/*
 * sem.c - scenarios: threads wait for a semaphore and post it
 *
 * It stands for all objects that keep their waiters in sync/waitlist.c, where that
 * is concerned.
 */
#include "listed.h"

#include "weft/sem.h"

static struct weft_sem sem;
static char shared;			/* the semaphore's, when it is a lock */
static char gift, second_gift;
static int taken;			/* of a wait with a deadline */

static _Atomic uint64_t *word(void)
{
	return (_Atomic uint64_t *)(void *)&sem;
}

static void init(uint64_t value)
{
	init_threads();
	store_relaxed(word(), value * WEFTI_LIST_ONE);
	sem = (struct weft_sem){ { 0 } };
	taken = 0;
	m_data_write(&sem);
	m_data_write(&shared);
	m_data_write(&gift);
	m_data_write(&second_gift);
}

static void init_lock(void)
{
	init(1);
}

static void init_empty(void)
{
	init(0);
}

static void lock_and_unlock(void)
{
	m_check(weft_sem_wait(&sem) == 0);
	m_data_write(&shared);
	m_check(weft_sem_post(&sem) == 0);
}

static void twice(void)
{
	lock_and_unlock();
	lock_and_unlock();
}

static void wait(void)
{
	m_check(weft_sem_wait(&sem) == 0);
}

static void wait_for_gift(void)
{
	wait();
	m_data_read(&gift);
}

static void wait_until(void)
{
	int error = weft_sem_wait_until(&sem, LATER);

	m_check(error == 0 || error == -ETIMEDOUT);
	taken = error == 0;
}

static void post(void)
{
	m_check(weft_sem_post(&sem) == 0);
}

static void give(void)
{
	m_data_write(&gift);
	post();
}

static void post_twice(void)
{
	post();
	post();
}

static void post_thrice(void)
{
	post_twice();
	post();
}

/* Its node is its own again, or it has another. */
static void wait_until_and_wait(void)
{
	wait_until();
	wait();
}

static void check_lock(void)
{
	m_check(load_relaxed(word()) == WEFTI_LIST_ONE);
	m_data_write(&shared);
	check_nodes();
}

static void check_empty(void)
{
	m_check(load_relaxed(word()) == 0);
	check_nodes();
}

static void check_one(void)
{
	m_check(load_relaxed(word()) == (uint64_t)(1 - taken) * WEFTI_LIST_ONE);
	check_nodes();
}

static void wait_for_both(void)
{
	wait();
	wait();
	m_data_read(&gift);
	m_data_read(&second_gift);
}

static void give_second(void)
{
	m_data_write(&second_gift);
	post();
}

/* Three wait that the scenario has not; a post leaves its request with another. */
static void init_three(void)
{
	init_empty();
	for (uint32_t i = 2; i <= MODEL_THREADS; i++)
		push_waiting(word(), i);
}

static void check_three(void)
{
	m_check(load_relaxed(word()) == 0);
	for (uint32_t i = 2; i <= MODEL_THREADS; i++)
		m_check(is_woken(i));
}

/* Two wait. The time of a third is over, and it meets the server. */
static void init_late(void)
{
	init_empty();
	push_waiting(word(), 3);
	push_waiting(word(), 4);
	is_late = 1;
}

static void check_late(void)
{
	m_check(load_relaxed(word()) == 0 && is_woken(3) && is_woken(4));
	m_check(!taken);
	m_check(load_relaxed(&thread[1].node_lent) == WEFTI_NODE_FREE);
}

SCENARIO(sem_two_gifts) = {
	init_empty, { wait_for_both, give, give_second }, check_empty,
};
SCENARIO(sem_requests) = { init_three, { post, post, post }, check_three };
SCENARIO(sem_late) = { init_late, { wait_until, post_twice }, check_late };
SCENARIO(sem_one) = { init_empty, { wait_for_gift, give }, check_empty };
SCENARIO(sem_lock) = { init_lock, { twice, lock_and_unlock }, check_lock };
SCENARIO(sem_lock_three) = {
	init_lock, { lock_and_unlock, lock_and_unlock, lock_and_unlock },
	check_lock,
};
SCENARIO(sem_two_posters) = {
	init_empty, { wait, wait, post, post }, check_empty,
};
SCENARIO(sem_three_wait) = {
	init_empty, { wait, wait, wait, post_thrice }, check_empty,
};
SCENARIO(sem_timed) = { init_empty, { wait_until, post, clock }, check_one };
SCENARIO(sem_timed_two) = {
	init_empty, { wait_until, wait, post_twice, clock }, check_one,
};
SCENARIO(sem_timed_again) = {
	init_empty, { wait_until_and_wait, post_twice, clock }, check_one,
};
