/* SPDX-License-Identifier: MIT */
/* test_pool.c - life/pool: many threads at once, and what they leave */
#include "holdings.h"
#include "threads.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cpu.h"
#include "lockfree/atomic.h"
#include "mem/stack.h"
#include "os/call/vm.h"

#define AT_ONCE		50000		/* a million at scale 20 */
#define MOST		1000000
#define LEAST		((size_t)16 << 10)	/* of stack */

static void *park(void *arg)
{
	fetch_add_relaxed((_Atomic size_t *)arg, 1);
	return (void *)(intptr_t)weft_sleep_until(WEFT_FOREVER);
}

/* Before Linux 6.13 a guard makes two mappings of a stack's, which idle ones keep. */
static int guards_are_mappings(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int error;

	CU_ASSERT_PTR_NOT_EQUAL_FATAL(at, MAP_FAILED);
	error = wefti_os_vm_guard(at, page);
	munmap(at, page);
	return error == -ENOTSUP;
}

static void park_many(unsigned flags)
{
	size_t scaled = test_scaled(AT_ONCE);
	size_t count = test_threads(scaled < MOST ? scaled : MOST);
	const struct weft_attr attr = { .stack_bytes = LEAST, .flags = flags };
	uint64_t *id = calloc(count, sizeof(*id));
	_Atomic size_t begun = 0;
	size_t of_guards = guards_are_mappings() ? 4 * count : 0;
	struct holdings now;

	CU_ASSERT_PTR_NOT_NULL_FATAL(id);
	runtime_begin();
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_EQUAL_FATAL(weft_spawn(&id[i], &attr, park, &begun),
				      0);
	while (load_relaxed(&begun) < count)
		rest();
	now = holdings();
	printf("    %zu threads, %zu mappings, %zu kernel threads\n", count,
	       now.maps, now.kernel_threads);
	/*
	 * Kernel threads have some each, most with AddressSanitizer, and a loaded
	 * machine gets more of them. ThreadSanitizer maps shadow for each thread.
	 */
	CU_ASSERT_TRUE(now.maps < 200 + 8 * now.kernel_threads + of_guards ||
		       test_threads(10000) < 10000);
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_EQUAL_FATAL(weft_cancel(id[i]), 0);
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_EQUAL_FATAL((intptr_t)join(id[i]), -ECANCELED);
	runtime_end();
	free(id);
}

static void very_many_light_threads_are_parked_at_once(void)
{
	park_many(WEFT_LIGHT);
}

static void very_many_threads_with_tls_are_parked_at_once(void)
{
	park_many(0);
}

#define PAIRS	40		/* of each colour of a stack's top */
#define ROUNDS	50

static int pair[PAIRS][2];

/* With what a program has there, and in a call that waits for a descriptor. */
static void *echoes(void *arg)
{
	const int *fd = arg;
	char buf[4096];
	ssize_t n;

	while ((n = weft_read(*fd, buf, sizeof(buf))) > 0)
		must(weft_write(*fd, buf, (size_t)n) == n);
	must(n == 0);
	return NULL;
}

static void *asks(void *arg)
{
	const int *fd = arg;
	char byte = 0;

	for (unsigned i = 0; i < test_scaled(ROUNDS); i++) {
		must(weft_write(*fd, &byte, 1) == 1);
		must(weft_read(*fd, &byte, 1) == 1);
	}
	must(weft_close(*fd) == 0);
	return NULL;
}

static void a_least_stack_is_enough_for_a_page_and_a_wait(void)
{
	const struct weft_attr least = { .stack_bytes = LEAST };
	uint64_t id[PAIRS][2];

	runtime_begin();
	for (int i = 0; i < PAIRS; i++) {
		CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0,
						 pair[i]), 0);
		CU_ASSERT_EQUAL_FATAL(weft_spawn(&id[i][0], &least, echoes,
						 &pair[i][0]), 0);
		CU_ASSERT_EQUAL_FATAL(weft_spawn(&id[i][1], &least, asks,
						 &pair[i][1]), 0);
	}
	for (int i = 0; i < PAIRS; i++) {
		join(id[i][1]);
		join(id[i][0]);
		CU_ASSERT_EQUAL(close(pair[i][0]), 0);
	}
	runtime_end();
}

#define FEW_VCPUS 16		/* more have room for all in their own pools */
#define BURST	16000		/* more than all pools of these have room for */
#define KEPT	14000		/* of them; the others end where no VCPU is */

static void burst(uint64_t *id)
{
	const struct weft_attr attr = { .stack_bytes = LEAST, .flags = WEFT_LIGHT };
	_Atomic size_t begun = 0;

	for (size_t i = 0; i < BURST; i++)
		CU_ASSERT_EQUAL_FATAL(weft_spawn(&id[i], &attr, park, &begun), 0);
	while (load_relaxed(&begun) < BURST)
		rest();
	for (size_t i = 0; i < BURST; i++)
		CU_ASSERT_EQUAL_FATAL(weft_cancel(id[i]), 0);
	for (size_t i = 0; i < BURST; i++)
		CU_ASSERT_EQUAL_FATAL((intptr_t)join(id[i]), -ECANCELED);
}

/* Stacks that no body has are without memory. */
static size_t stacks_with_bodies(void)
{
	struct wefti_stack_stat stat;

	wefti_stack_stat(&stat);
	return stat.in_use;
}

static void stacks_are_kept_for_a_program_that_missed_them(void)
{
	uint64_t *id = calloc(BURST, sizeof(*id));

	CU_ASSERT_PTR_NOT_NULL_FATAL(id);
	if (test_threads(BURST) == BURST) {
		runtime_begin();
		burst(id);
		CU_ASSERT_TRUE(stacks_with_bodies() < KEPT || weft_vcpus() > FEW_VCPUS);
		burst(id);
		burst(id);
		CU_ASSERT_TRUE(stacks_with_bodies() >= KEPT);
		runtime_end();
		CU_ASSERT_TRUE(stacks_with_bodies() < KEPT);
	}
	free(id);
}

static const struct test_case cases[] = {
	TEST(a_least_stack_is_enough_for_a_page_and_a_wait),
	TEST(very_many_light_threads_are_parked_at_once),
	TEST(very_many_threads_with_tls_are_parked_at_once),
	/* The last: the stacks that it used keep the mappings of their guards. */
	TEST(stacks_are_kept_for_a_program_that_missed_them),
};

TEST_MAIN("life/pool", cases)
