/* SPDX-License-Identifier: MIT */
/*
 * test_balance.c - sched/balance: threads that only compute share all VCPUs
 *
 * Shares of time are the kernel's as well, so no share is looked at. A thread that
 * stays on one VCPU has a wrong share of them; so each thread here computes until each
 * has been on each VCPU.
 */
#include "threads.h"

#include "lockfree/atomic.h"

#define MOST	9

static struct {
	unsigned threads, vcpus;
	_Atomic unsigned satisfied;
} round_of;

static uint64_t vcpu_bit(void)
{
	return UINT64_C(1) << wefti_self()->vcpu->index;
}

/* Returns how often it found itself on another VCPU. */
static void *compute(void *unused)
{
	const uint64_t all = (UINT64_C(1) << round_of.vcpus) - 1;
	uint64_t seen = 0, last = 0;
	uintptr_t moves = 0;

	(void)unused;
	while (load_relaxed(&round_of.satisfied) < round_of.threads) {
		uint64_t now = vcpu_bit();

		moves += last && now != last;
		last = now;
		if (seen == all)
			continue;
		seen |= now;
		if (seen == all)
			fetch_add_relaxed(&round_of.satisfied, 1);
	}
	return (void *)moves;
}

static void run(unsigned threads, unsigned vcpus)
{
	const struct weft_options options = {
		.vcpus = vcpus, .slice_ns = 1000000,
	};
	uint64_t id[MOST];

	round_of.threads = threads;
	round_of.vcpus = vcpus;
	store_relaxed(&round_of.satisfied, 0);
	CU_ASSERT_EQUAL_FATAL(weft_start(&options), 0);
	for (unsigned i = 0; i < threads; i++)
		id[i] = spawn(compute, NULL);
	for (unsigned i = 0; i < threads; i++)
		CU_ASSERT_TRUE((uintptr_t)join(id[i]) >= vcpus - 1);
	runtime_end();
}

static void three_threads_share_two_vcpus(void)
{
	if (own_tls_at_start())
		run(3, 2);
}

static void five_threads_share_two_vcpus(void)
{
	if (own_tls_at_start())
		run(5, 2);
}

static void five_threads_share_four_vcpus(void)
{
	if (own_tls_at_start())
		run(5, 4);
}

static void nine_threads_share_four_vcpus(void)
{
	if (own_tls_at_start())
		run(MOST, 4);
}

static const struct test_case cases[] = {
	TEST(three_threads_share_two_vcpus),
	TEST(five_threads_share_two_vcpus),
	TEST(five_threads_share_four_vcpus),
	TEST(nine_threads_share_four_vcpus),
};

TEST_MAIN("sched/balance", cases)
