/* SPDX-License-Identifier: MIT */
/* test_stacks.c - sched/stacks: a wait has the stack of its thread */
#include "recorded_stacks.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define WAITS	2000
#define SPAWNS	100	/* with all stacks, the rings hold what is recorded */

static void want(uint32_t bytes, uint32_t every)
{
	store_seq_cst(&wefti_stacks.bytes, bytes);
	store_seq_cst(&wefti_stacks.every, every);
}

/* A long wait, with the mark on the stack. */
static NOINLINE void *naps(void *arg)
{
	volatile uint64_t mark[4] = { MARK, MARK, MARK, MARK };

	must(weft_sleep(30000000) == 0);
	must(mark[1] == MARK);
	return arg;
}

static uint64_t nap_recorded(void)
{
	uint64_t id;

	must(weft_spawn(&id, NULL, naps, NULL) == 0);
	must(weft_join(id, NULL) == 0);
	return id;
}

static void a_wait_has_the_stack_of_its_thread(void)
{
	runtime_begin();
	must(weft_trace_start(0) == 0);
	read_all(nap_recorded());
	CU_ASSERT_TRUE(seen.runs > 0);
	CU_ASSERT_EQUAL(seen.stacks, 0);
	want(4096, 1);
	read_all(nap_recorded());
	CU_ASSERT_EQUAL(seen.sleeps, 1);
	CU_ASSERT_TRUE(seen.marked >= 1);
	CU_ASSERT_EQUAL(seen.spawns, 1);	/* its stack is main's */
	CU_ASSERT_EQUAL(seen.marked + 1, seen.stacks);	/* the VCPU may be taken, too */
	CU_ASSERT_EQUAL(seen.waits, seen.stacks);
	want(0, 0);
	read_all(nap_recorded());
	CU_ASSERT_EQUAL(seen.stacks, 0);
	runtime_end();
}

/* Then the mark of the thread's own function is beyond it. */
static void a_stack_is_cut_off(void)
{
	runtime_begin();
	must(weft_trace_start(0) == 0);
	want(16, 1);
	read_all(nap_recorded());
	CU_ASSERT_EQUAL(seen.sleeps, 1);
	CU_ASSERT_EQUAL(seen.marked, 0);
	want(0, 0);
	runtime_end();
}

#define PAGES	16

static ucontext_t outside, inside;

static void naps_inside(void)
{
	(void)naps(NULL);
}

/* On a stack with a guard page above, which is shorter than what is wanted of it. */
static void *naps_in_a_coroutine(void *arg)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, (PAGES + 1) * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(memory != MAP_FAILED);
	must(mprotect(memory + PAGES * page, page, PROT_NONE) == 0);
	must(getcontext(&inside) == 0);
	inside.uc_stack.ss_sp = memory;
	inside.uc_stack.ss_size = PAGES * page;
	inside.uc_link = &outside;
	makecontext(&inside, naps_inside, 0);
	must(swapcontext(&outside, &inside) == 0);
	must(munmap(memory, (PAGES + 1) * page) == 0);
	return arg;
}

/* The copy ends where the memory does. */
static void so_has_a_wait_on_another_stack(void)
{
	uint64_t id;

	runtime_begin();
	must(weft_trace_start(0) == 0);
	want(WEFTI_STACK_BYTES_MOST, 1);
	must(weft_spawn(&id, NULL, naps_in_a_coroutine, NULL) == 0);
	must(weft_join(id, NULL) == 0);
	read_all(id);
	CU_ASSERT_EQUAL(seen.sleeps, 1);
	CU_ASSERT_TRUE(seen.marked >= 1);
	want(0, 0);
	runtime_end();
}

static void *nothing(void *arg)
{
	return arg;
}

/* Spawns, with the mark on its stack. */
static NOINLINE void *spawns(void *arg)
{
	volatile uint64_t mark[4] = { MARK, MARK, MARK, MARK };
	uint64_t id;

	for (int i = 0; i < SPAWNS; i++) {
		must(weft_spawn(&id, NULL, nothing, NULL) == 0);
		must(weft_join(id, NULL) == 0);
	}
	must(mark[1] == MARK);
	*(uint64_t *)arg = id;
	return NULL;
}

/* How many stacks of spawns there are, with one of so many wanted. */
static uint64_t stacks_of_spawns(uint32_t every)
{
	uint64_t before, id, last;

	read_all(0);
	before = seen.spawned_at;
	want(1024, every);
	must(weft_spawn(&id, NULL, spawns, &last) == 0);
	must(weft_join(id, NULL) == 0);
	want(0, 0);
	read_all(0);
	CU_ASSERT_EQUAL(seen.lost, 0);
	return seen.spawned_at - before;
}

static void a_spawn_has_the_stack_of_the_spawning_thread(void)
{
	uint64_t few;

	runtime_begin();
	must(weft_trace_start(0) == 0);
	CU_ASSERT_EQUAL(stacks_of_spawns(0), 0);
	CU_ASSERT_EQUAL(stacks_of_spawns(1), SPAWNS);
	/* Each VCPU counts for itself. */
	few = stacks_of_spawns(10);
	CU_ASSERT_TRUE(few <= SPAWNS / 10 + 1 && few + weft_vcpus() >= SPAWNS / 10);
	runtime_end();
}

static struct weft_sem ping = WEFT_SEM_INIT, pong = WEFT_SEM_INIT;

static void *answers(void *arg)
{
	for (int i = 0; i < WAITS; i++) {
		must(weft_sem_wait(&ping) == 0);
		weft_sem_post(&pong);
	}
	return arg;
}

/* A stack of a short wait stands for so many. */
static void few_short_waits_have_a_stack(void)
{
	uint64_t id;

	runtime_begin();
	must(weft_trace_start(0) == 0);
	want(1024, 100);
	must(weft_spawn(&id, NULL, answers, NULL) == 0);
	for (int i = 0; i < WAITS; i++) {
		weft_sem_post(&ping);
		must(weft_sem_wait(&pong) == 0);
	}
	must(weft_join(id, NULL) == 0);
	read_all(0);
	CU_ASSERT_TRUE(seen.stacks < seen.runs / 4 + 1);
	CU_ASSERT_TRUE(seen.stacks == 0 || seen.waits >= seen.stacks);
	want(0, 0);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(a_spawn_has_the_stack_of_the_spawning_thread),	/* the rings are new */
	TEST(a_wait_has_the_stack_of_its_thread),
	TEST(so_has_a_wait_on_another_stack),
	TEST(a_stack_is_cut_off),
	TEST(few_short_waits_have_a_stack),
};

TEST_MAIN("sched/stacks", cases)
