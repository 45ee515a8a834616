/* SPDX-License-Identifier: MIT */
/*
 * barrier.c - scenarios: sync/barrier.c
 *
 * Each thread writes what is its own before it comes, and reads what the others have
 * written when it may go.
 */
#include "listed.h"

#include "weft/barrier.h"

static struct weft_barrier barrier;
static char own[MODEL_THREADS];
static int needed, serials, passed, timed_out;

static _Atomic uint64_t *word(void)
{
	return (_Atomic uint64_t *)(void *)&barrier;
}

static void init_for(int count)
{
	init_threads();
	m_check(weft_barrier_init(&barrier, (unsigned)count) == 0);
	store_relaxed(word(), (uint64_t)0);
	m_data_write(&barrier);
	for (int i = 0; i < MODEL_THREADS; i++)
		m_data_write(&own[i]);
	needed = count;
	serials = passed = timed_out = 0;
}

static void init_two(void)
{
	init_for(2);
}

static void init_three(void)
{
	init_for(3);
}

static void pass(int result)
{
	m_check(result == 0 || result == WEFT_BARRIER_SERIAL);
	for (int i = 0; i < needed; i++)
		m_data_read(&own[i]);
	passed++;
	serials += result == WEFT_BARRIER_SERIAL;
}

static void come(void)
{
	m_data_write(&own[m_self()]);
	pass(weft_barrier_wait(&barrier));
}

static void come_again(void)
{
	m_data_write(&own[m_self()]);
	pass(weft_barrier_wait(&barrier));
	m_check(weft_barrier_wait(&barrier) >= 0);
}

/*
 * A thread that has passed frees it: nobody comes any more, and there are no
 * deadlines.
 */
static void come_and_free(void)
{
	come();
	m_data_write(&barrier);
}

/* In time or not, and then as long as it takes. */
static void come_in_time(void)
{
	int result;

	m_data_write(&own[m_self()]);
	result = weft_barrier_wait_until(&barrier, LATER);
	if (result == -ETIMEDOUT) {
		timed_out++;
		come();
	} else {
		pass(result);
	}
}

static void try_to_come(void)
{
	int result;

	m_data_write(&own[m_self()]);
	result = weft_barrier_wait_until(&barrier, WEFT_NO_WAIT);
	if (result != -EAGAIN)
		pass(result);
}

static void come_in_time_only(void)
{
	int result;

	m_data_write(&own[m_self()]);
	result = weft_barrier_wait_until(&barrier, LATER);
	if (result == -ETIMEDOUT)
		timed_out++;
	else
		pass(result);
}

static void check_word(void)
{
	m_check(load_relaxed(word()) == 0);
	m_check(weft_barrier_destroy(&barrier) == 0);
	check_nodes();
}

static void check(void)
{
	m_check(passed == needed && serials == 1);
	check_word();
}

/* Both have come, or neither. */
static void check_both(void)
{
	m_check(passed == (timed_out ? 0 : 2) && serials == !timed_out);
	check_word();
}

static void check_passed(void)
{
	m_check(passed == needed && serials == 1);
}

SCENARIO(barrier) = { init_two, { come, come }, check };
SCENARIO(barrier_again) = { init_two, { come_again, come_again }, check };
SCENARIO(barrier_three) = { init_three, { come, come, come }, check };
SCENARIO(barrier_free) = { init_two, { come_and_free, come }, check_passed };
SCENARIO(barrier_timed) = { init_two, { come_in_time, come, clock }, check };
SCENARIO(barrier_tried) = {
	init_two, { come_in_time_only, try_to_come, clock_surely }, check_both,
};
