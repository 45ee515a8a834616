/* SPDX-License-Identifier: MIT */
/* test_tp.c - os/tp: the register is set, and the watcher is told before */
#include "os/tls/tp.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/call/vm.h"
#include "os/tls/tls.h"
#include "support.h"

#define STACK	((size_t)64 << 10)

static char *memory;
static struct wefti_tls block;
static uintptr_t told[4], was[4];
static size_t told_count;

/* Uses no TLS: it runs on one block, and then on another. */
static void watch(uintptr_t tp)
{
	if (told_count < 4) {
		told[told_count] = tp;
		was[told_count] = wefti_arch_tp_get();
	}
	told_count++;
}

static void watch_too(uintptr_t tp)
{
	(void)tp;
	told_count += 100;
}

static void begin(void)
{
	wefti_arch_init();
	told_count = 0;
	memory = NULL;
	if (wefti_tls_init() != 0) {
		/* Then the register goes from a block to the same one. */
		block.tp = wefti_arch_tp_get();
		printf("    no other block: %s\n", wefti_tls_reason());
		return;
	}
	memory = wefti_os_vm_reserve(STACK);
	if (!memory || wefti_tls_build(memory, memory + STACK, &block) != 0)
		abort();
}

static void end(void)
{
	wefti_tp_watch(NULL);
	if (!memory)
		return;
	wefti_tls_destroy(block.tp);
	wefti_os_vm_unmap(memory, STACK);
}

/* There and back. Returns where the register was between. */
__attribute__((noinline)) static uintptr_t visit(void)
{
	uintptr_t here = wefti_arch_tp_get(), there;

	wefti_tp_change(block.tp);
	there = wefti_arch_tp_get();
	wefti_tp_change(here);
	return there;
}

static void without_a_watcher_it_is_what_the_cpu_can(void)
{
	begin();
	wefti_tp_watch(NULL);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_tp_is_plain),
			(uint32_t)wefti_arch_tp_is_fast());
	CU_ASSERT_EQUAL(visit(), block.tp);
	CU_ASSERT_EQUAL(told_count, 0);
	end();
}

static void a_watcher_is_told_on_the_old_block_each_time(void)
{
	uintptr_t here = wefti_arch_tp_get();

	begin();
	wefti_tp_watch(watch);
	CU_ASSERT_EQUAL(load_seq_cst(&wefti_tp_is_plain), 0);
	CU_ASSERT_EQUAL(visit(), block.tp);
	CU_ASSERT_EQUAL(wefti_arch_tp_get(), here);
	CU_ASSERT_EQUAL(told_count, 2);
	CU_ASSERT_EQUAL(told[0], block.tp);
	CU_ASSERT_EQUAL(was[0], here);
	CU_ASSERT_EQUAL(told[1], here);
	CU_ASSERT_EQUAL(was[1], block.tp);
	end();
}

static void the_last_watcher_is_the_one_and_none_is_none(void)
{
	begin();
	wefti_tp_watch(watch);
	wefti_tp_watch(watch_too);
	CU_ASSERT_EQUAL(visit(), block.tp);
	CU_ASSERT_EQUAL(told_count, 200);
	wefti_tp_watch(NULL);
	CU_ASSERT_EQUAL(visit(), block.tp);
	CU_ASSERT_EQUAL(told_count, 200);
	end();
}

/* As where there is no such instruction, or whoever watched has just gone. */
static void the_slow_road_leads_there_without_a_watcher(void)
{
	begin();
	wefti_tp_watch(NULL);
	store_seq_cst(&wefti_tp_is_plain, 0);
	CU_ASSERT_EQUAL(visit(), block.tp);
	CU_ASSERT_EQUAL(told_count, 0);
	end();
}

static _Atomic int is_over;

static void *come_and_go(void *unused)
{
	while (!load_seq_cst(&is_over)) {
		wefti_tp_watch(watch);
		wefti_tp_watch(NULL);
	}
	return unused;
}

/* "At any time, by any thread": the register is right in any case. */
static void watchers_may_come_and_go_meanwhile(void)
{
	size_t times = test_scaled(20000), wrong = 0;
	pthread_t other;

	begin();
	store_seq_cst(&is_over, 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, come_and_go, NULL),
			      0);
	for (size_t i = 0; i < times; i++)
		wrong += visit() != block.tp;
	store_seq_cst(&is_over, 1);
	pthread_join(other, NULL);
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_TRUE(told_count <= 2 * times);
	end();
}

static const struct test_case cases[] = {
	TEST(without_a_watcher_it_is_what_the_cpu_can),
	TEST(a_watcher_is_told_on_the_old_block_each_time),
	TEST(the_last_watcher_is_the_one_and_none_is_none),
	TEST(the_slow_road_leads_there_without_a_watcher),
	TEST(watchers_may_come_and_go_meanwhile),
};

TEST_MAIN("os/tp", cases)
