/* SPDX-License-Identifier: MIT */
/* test_spawn.c - life/spawn: results, attributes, ids, errors, many threads */
#include "threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "life/life.h"
#include "lockfree/atomic.h"

#define MANY	10000

static void *give_back(void *arg)
{
	return arg;
}

static void *give_id(void *arg)
{
	*(uint64_t *)arg = weft_self();
	return arg;
}

static void a_thread_runs_its_function_and_join_has_its_result(void)
{
	static const unsigned kinds[] = { 0, WEFT_LIGHT };
	int x;

	runtime_begin();
	for (int i = 0; i < 2; i++)
		CU_ASSERT_PTR_EQUAL(join(spawn_with(kinds[i], give_back, &x)),
				    &x);
	runtime_end();
}

static void spawn_refuses_what_its_entry_says(void)
{
	struct weft_attr attr = { .flags = 0 };
	uint64_t id = 77;

	CU_ASSERT_EQUAL(weft_spawn(&id, NULL, give_back, NULL), -ESRCH);
	runtime_begin();
	CU_ASSERT_EQUAL(weft_spawn(&id, NULL, NULL, NULL), -EINVAL);
	attr.flags = 4;
	CU_ASSERT_EQUAL(weft_spawn(&id, &attr, give_back, NULL), -EINVAL);
	attr.flags = 0;
	attr.reserved0 = 1;
	CU_ASSERT_EQUAL(weft_spawn(&id, &attr, give_back, NULL), -EINVAL);
	attr.reserved0 = 0;
	attr.reserved[3] = 1;
	CU_ASSERT_EQUAL(weft_spawn(&id, &attr, give_back, NULL), -EINVAL);
	attr.reserved[3] = 0;
	attr.stack_bytes = 16 * 1024 - 1;
	CU_ASSERT_EQUAL(weft_spawn(&id, &attr, give_back, NULL), -EINVAL);
	attr.stack_bytes = SIZE_MAX / 2;
	CU_ASSERT_NOT_EQUAL(weft_spawn(&id, &attr, give_back, NULL), 0);
	CU_ASSERT_EQUAL(id, 77);	/* an error leaves it alone */
	runtime_end();
	CU_ASSERT_EQUAL(weft_spawn(&id, NULL, give_back, NULL), -ESRCH);
}

static void an_id_is_the_threads_own_and_never_comes_again(void)
{
	static uint64_t seen[MANY];
	uint64_t inside;
	int is_again = 0;

	runtime_begin();
	/* Until a slot was used more than once, and some more. */
	for (int i = 0; i < 64 || !is_again; i++) {
		CU_ASSERT_FATAL(i < MANY);
		inside = 0;
		seen[i] = spawn(give_id, &inside);
		join(seen[i]);
		CU_ASSERT_EQUAL(inside, seen[i]);
		CU_ASSERT_NOT_EQUAL(seen[i], 0);
		CU_ASSERT_NOT_EQUAL(seen[i], weft_self());
		for (int k = 0; k < i; k++) {
			CU_ASSERT_NOT_EQUAL(seen[i], seen[k]);
			is_again |= (uint32_t)seen[i] == (uint32_t)seen[k];
		}
	}
	runtime_end();
}

/* Recursion that uses `left` bytes of stack, and writes all of them. */
static __attribute__((noinline, no_sanitize("address")))
int use_stack(size_t left)
{
	volatile char block[1024];

	for (size_t i = 0; i < sizeof(block); i++)
		block[i] = (char)left;
	if (left > sizeof(block) + 256)
		return use_stack(left - sizeof(block) - 128) + block[7];
	return block[9];
}

static void *use_most(void *arg)
{
	/* What is left for the block above, for signals, and for libc. */
	use_stack(*(size_t *)arg);
	return NULL;
}

static void the_stack_has_the_size_that_was_asked_for(void)
{
	static const size_t sizes[] = {
		16 << 10, 64 << 10, 100000, 1 << 20, 8 << 20,
	};

	runtime_begin();
	for (unsigned flags = 0; flags <= WEFT_LIGHT; flags++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			struct weft_attr attr = {
				.stack_bytes = sizes[i], .flags = flags,
			};
			size_t use = sizes[i] - (12 << 10);
			uint64_t id;

			CU_ASSERT_EQUAL_FATAL(weft_spawn(&id, &attr, use_most,
							 &use), 0);
			join(id);
		}
	runtime_end();
}

static void *copy_name(void *arg)
{
	must(weft_name(weft_self(), arg, WEFT_NAME_MAX) == 0);
	return NULL;
}

static void a_thread_has_the_name_that_was_asked_for(void)
{
	static const char *const names[] = {
		"weaver", "", "a name of more than thirty-two bytes is cut",
	};
	char seen[WEFT_NAME_MAX];

	runtime_begin();
	for (int i = 0; i < 3; i++) {
		struct weft_attr attr = { .name = names[i] };
		uint64_t id;

		memset(seen, 'x', sizeof(seen));
		CU_ASSERT_EQUAL_FATAL(weft_spawn(&id, &attr, copy_name, seen),
				      0);
		join(id);
		CU_ASSERT_EQUAL(strlen(seen), strlen(names[i]) <
				WEFT_NAME_MAX ? strlen(names[i]) :
				WEFT_NAME_MAX - 1);
		CU_ASSERT_EQUAL(strncmp(seen, names[i], strlen(seen)), 0);
	}
	CU_ASSERT_EQUAL(join(spawn(copy_name, seen)), NULL);
	CU_ASSERT_STRING_EQUAL(seen, "");	/* not the last one's */
	runtime_end();
}

static void *see_light(void *arg)
{
	static _Thread_local int variable;

	*(void **)arg = &variable;
	return NULL;
}

static void a_light_thread_shares_tls_and_another_has_its_own(void)
{
	const struct weft_options one = { .vcpus = 1 };
	void *first, *second, *own;

	setenv("WEFT_SPARE_MAX", "0", 1);	/* and one kernel thread */
	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	join(spawn_with(WEFT_LIGHT, see_light, &first));
	join(spawn_with(WEFT_LIGHT, see_light, &second));
	CU_ASSERT_PTR_EQUAL(first, second);
	join(spawn(see_light, &own));
	CU_ASSERT_EQUAL(own != first, own_tls());
	runtime_end();
	unsetenv("WEFT_SPARE_MAX");
}

static void *add_one(void *arg)
{
	weft_yield();
	fetch_add_relaxed((_Atomic size_t *)arg, 1);
	return NULL;
}

static void many_threads_are_spawned_and_then_joined(void)
{
	size_t count = test_threads(test_scaled(MANY));
	uint64_t *id = calloc(count, sizeof(*id));
	_Atomic size_t ran = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(id);
	runtime_begin();
	for (unsigned flags = 0; flags <= WEFT_LIGHT; flags++) {
		for (size_t i = 0; i < count; i++)
			id[i] = spawn_with(flags, add_one, &ran);
		for (size_t i = 0; i < count; i++)
			join(id[i]);
	}
	CU_ASSERT_EQUAL(load_relaxed(&ran), 2 * count);
	runtime_end();
	free(id);
}

static void *foreign(void *arg)
{
	uint64_t id[16];
	_Atomic size_t *ran = arg;

	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 16; i++)
			id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, add_one,
					   ran);
		for (int i = 0; i < 16; i++)
			join(id[i]);
	}
	return NULL;
}

static void a_foreign_thread_spawns_and_joins(void)
{
	_Atomic size_t ran = 0;
	pthread_t thread[2];

	runtime_begin();
	for (int i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, foreign,
						     &ran), 0);
	weft_block_begin();
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	weft_block_end();
	CU_ASSERT_EQUAL(load_relaxed(&ran), 2 * 20 * 16);
	runtime_end();
}

#define PAIRS	100

struct pair {
	struct weft_sem turn[2];
	_Atomic int *over;
};

static void *wake_the_other(void *arg)
{
	struct pair *p = arg;

	while (!load_relaxed(p->over)) {
		must(weft_sem_post(&p->turn[1]) == 0);
		must(weft_sem_wait(&p->turn[0]) == 0);
	}
	must(weft_sem_post(&p->turn[1]) == 0);
	return NULL;
}

static void *be_woken_and_wake(void *arg)
{
	struct pair *p = arg;

	while (!load_relaxed(p->over)) {
		must(weft_sem_wait(&p->turn[1]) == 0);
		must(weft_sem_post(&p->turn[0]) == 0);
	}
	must(weft_sem_post(&p->turn[0]) == 0);
	return NULL;
}

/*
 * Each pair keeps a VCPU for a slice. With a turn among all for each spawn, this
 * would take minutes.
 */
static void children_that_never_end_do_not_hold_up_their_parent(void)
{
	static struct pair pairs[PAIRS];
	uint64_t id[2 * PAIRS];
	_Atomic int over;

	store_relaxed(&over, 0);
	runtime_begin();
	for (int i = 0; i < PAIRS; i++) {
		pairs[i].over = &over;
		for (int k = 0; k < 2; k++)
			must(weft_sem_init(&pairs[i].turn[k], 0) == 0);
		id[2 * i] = spawn(wake_the_other, &pairs[i]);
		id[2 * i + 1] = spawn(be_woken_and_wake, &pairs[i]);
	}
	store_relaxed(&over, 1);
	for (int i = 0; i < 2 * PAIRS; i++)
		join(id[i]);
	runtime_end();
}

#define SHORT_PAIRS	2000
#define FEW		10
#define TRIES		30

struct short_pairs {
	struct weft_chan *chan;
	size_t ended;
};

static void *send_once(void *arg)
{
	struct short_pairs *p = arg;
	int x = 1;

	must(weft_chan_send(p->chan, &x, WEFT_FOREVER) == 0);
	p->ended++;
	return NULL;
}

static void *receive_once(void *arg)
{
	struct short_pairs *p = arg;
	int x;

	must(weft_chan_recv(p->chan, &x, WEFT_FOREVER) == 0);
	p->ended++;
	return NULL;
}

/* Returns how many lived at once. The second of a pair wakes the first. */
static size_t most_alive_in_short_pairs(void *(*first)(void *), void *(*second)(void *))
{
	struct short_pairs p = { .ended = 0 };
	static uint64_t id[2 * SHORT_PAIRS];
	size_t most = 0;

	must(weft_chan_create(&p.chan, sizeof(int), 0, 0) == 0);
	for (size_t i = 0; i < 2 * SHORT_PAIRS; i++) {
		id[i] = spawn_with(WEFT_LIGHT, i % 2 ? second : first, &p);
		if (i + 1 - p.ended > most)
			most = i + 1 - p.ended;
	}
	for (size_t i = 0; i < 2 * SHORT_PAIRS; i++)
		join(id[i]);
	must(weft_chan_destroy(p.chan) == 0);
	return most;
}

/* It waits for the others, which end, again and again. */
static void *receive_all(void *arg)
{
	for (size_t i = 0; i < SHORT_PAIRS; i++)
		receive_once(arg);
	return NULL;
}

/*
 * The same where the thread that is woken lasts, and waits again. Returns behind how many
 * spawns more than FEW lived.
 */
static size_t crowded_before_one_that_lasts(void)
{
	struct short_pairs p = { .ended = 0 };
	static uint64_t id[SHORT_PAIRS + 1];
	size_t crowded = 0;

	must(weft_chan_create(&p.chan, sizeof(int), 0, 0) == 0);
	id[SHORT_PAIRS] = spawn_with(WEFT_LIGHT, receive_all, &p);
	for (size_t i = 0; i < SHORT_PAIRS; i++) {
		id[i] = spawn_with(WEFT_LIGHT, send_once, &p);
		crowded += 2 * (i + 1) - p.ended > FEW;
	}
	for (size_t i = 0; i <= SHORT_PAIRS; i++)
		join(id[i]);
	must(weft_chan_destroy(p.chan) == 0);
	return crowded;
}

/*
 * Where weft is slow, FIFO turns come between the spawns, and they count as overtakings. So
 * in some tries many live for a while. (Without the rule it is so behind nearly all spawns
 * of all tries.)
 */
static int few_live_before_one_that_lasts(void)
{
	for (int i = 0; i < TRIES; i++)
		if (crowded_before_one_that_lasts() <= SHORT_PAIRS / 2)
			return 1;
	return 0;
}

/*
 * A thread that wakes another and ends does not put its parent behind others, so each pair
 * has ended before the next begins. (A thousand lived at once, each on its own stack.)
 */
static void pairs_that_end_at_once_use_the_stacks_of_the_pair_before(void)
{
	static const struct weft_options one = { .vcpus = 1, .slice_ns = -1 };

	setenv("WEFT_SPARE_MAX", "0", 1);
	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	CU_ASSERT_TRUE(most_alive_in_short_pairs(send_once, receive_once) <= FEW);
	CU_ASSERT_TRUE(most_alive_in_short_pairs(receive_once, send_once) <= FEW);
	CU_ASSERT_TRUE(few_live_before_one_that_lasts());
	runtime_end();
	unsetenv("WEFT_SPARE_MAX");
}

static void *set_it(void *arg)
{
	*(int *)arg = 1;
	return NULL;
}

/* Did the child run before its parent went on? */
static int child_is_first(enum wefti_spawn_order order)
{
	static const struct weft_attr plain;
	int ran = 0, was_first;
	uint64_t id;
	const struct wefti_spawn how = { .id = &id, .order = order };

	must(wefti_spawn(&how, &plain, set_it, &ran) == 0);
	was_first = ran;
	join(id);
	CU_ASSERT_EQUAL(ran, 1);
	return was_first;
}

/* Nobody is preempted or loses the VCPU, and so the answer is the spawn's. */
static void a_layer_above_says_which_runs_first(void)
{
	static const struct weft_options one = { .vcpus = 1, .slice_ns = -1 };
	struct wefti_cold *body;

	setenv("WEFT_SPARE_MAX", "0", 1);
	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	body = wefti_self()->cold;
	body->overtaken = 0;
	CU_ASSERT_EQUAL(child_is_first(WEFTI_SPAWN_AS_EVER), 1);
	CU_ASSERT_EQUAL(child_is_first(WEFTI_SPAWN_LAST), 0);
	CU_ASSERT_EQUAL(child_is_first(WEFTI_SPAWN_FIRST), 1);
	body->overtaken = UINT16_MAX;
	CU_ASSERT_EQUAL(child_is_first(WEFTI_SPAWN_AS_EVER), 0);
	CU_ASSERT_EQUAL(child_is_first(WEFTI_SPAWN_LAST), 0);
	CU_ASSERT_EQUAL(child_is_first(WEFTI_SPAWN_FIRST), 1);
	CU_ASSERT_EQUAL(body->overtaken, UINT16_MAX - 1);
	body->overtaken = 0;
	runtime_end();
	unsetenv("WEFT_SPARE_MAX");
}

static const struct test_case cases[] = {
	TEST(a_thread_runs_its_function_and_join_has_its_result),
	TEST(spawn_refuses_what_its_entry_says),
	TEST(an_id_is_the_threads_own_and_never_comes_again),
	TEST(the_stack_has_the_size_that_was_asked_for),
	TEST(a_thread_has_the_name_that_was_asked_for),
	TEST(a_light_thread_shares_tls_and_another_has_its_own),
	TEST(many_threads_are_spawned_and_then_joined),
	TEST(a_foreign_thread_spawns_and_joins),
	TEST(children_that_never_end_do_not_hold_up_their_parent),
	TEST(pairs_that_end_at_once_use_the_stacks_of_the_pair_before),
	TEST(a_layer_above_says_which_runs_first),
};

TEST_MAIN("life/spawn", cases)
