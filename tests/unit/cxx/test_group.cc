/* SPDX-License-Identifier: MIT */
/* test_group.cc - weft.hpp: groups, and what crosses them */
#include "cxx.h"

namespace {

void a_group_waits_for_all_and_is_new_again()
{
	weft::runtime runtime;
	weft::group group;
	std::atomic<int> ran { 0 };

	for (int round = 1; round <= 3; round++) {
		for (int i = 0; i < 50; i++)
			CU_ASSERT_TRUE(group.spawn([&] {
				weft::this_thread::yield();
				ran++;
			}));
		group.wait();
		CU_ASSERT_EQUAL(ran.load(), 50 * round);
	}
}

void the_first_exception_cancels_the_others_and_comes_out()
{
	weft::runtime runtime;
	weft::group group;
	std::atomic<int> cancelled { 0 };
	bool caught = false;

	for (int i = 0; i < 8; i++)
		group.spawn([&] {
			try {
				weft::this_thread::sleep_for(24h);
			} catch (const weft::canceled &) {
				cancelled++;
				throw;
			}
		});
	group.spawn([] { throw std::runtime_error("the first"); });
	try {
		group.wait();
	} catch (const std::runtime_error &error) {
		caught = std::string(error.what()) == "the first";
	}
	CU_ASSERT_TRUE(caught);
	CU_ASSERT_EQUAL(cancelled.load(), 8);
	group.spawn([&] { cancelled = 0; });
	group.wait();
	CU_ASSERT_EQUAL(cancelled.load(), 0);
}

void a_deadline_and_a_cancel_end_the_threads()
{
	weft::runtime runtime;
	weft::group group;
	std::atomic<int> ended { 0 };
	auto sleep = [&] {
		try {
			weft::this_thread::sleep_for(24h);
		} catch (const weft::canceled &) {
			ended++;
		}
	};

	group.spawn(sleep);
	CU_ASSERT_FALSE(group.wait_for(1ms));
	CU_ASSERT_EQUAL(ended.load(), 1);
	group.spawn(sleep);
	CU_ASSERT_FALSE(group.wait_until(std::chrono::system_clock::now() + 1ms));
	CU_ASSERT_EQUAL(ended.load(), 2);
	group.spawn([] {});
	CU_ASSERT_TRUE(group.wait_for(24h));

	group.spawn(sleep);
	group.cancel();
	CU_ASSERT_FALSE(group.spawn([] { must(false); }));
	CU_ASSERT_TRUE(thrown_by([&] { group.wait(); }) ==
		       std::errc::operation_canceled);
	CU_ASSERT_EQUAL(ended.load(), 3);
}

void groups_nest_and_cancellation_goes_down()
{
	weft::runtime runtime;
	weft::group outer;
	std::atomic<int> inner_ended { 0 };
	weft::latch all_sleep(4);

	outer.spawn([&] {
		weft::group inner;

		for (int i = 0; i < 4; i++)
			inner.spawn([&] {
				all_sleep.count_down();
				try {
					weft::this_thread::sleep_for(24h);
				} catch (const weft::canceled &) {
					inner_ended++;
				}
			});
		inner.wait();
	});
	all_sleep.wait();
	outer.cancel();
	CU_ASSERT_TRUE(thrown_by([&] { outer.wait(); }) ==
		       std::errc::operation_canceled);
	CU_ASSERT_EQUAL(inner_ended.load(), 4);
}

void the_destructor_cancels_and_waits()
{
	weft::runtime runtime;
	std::atomic<int> ended { 0 };
	auto shared = std::make_shared<int>(1);

	{
		weft::group group;
		weft::thread_options options;

		options.name = "member";
		for (int i = 0; i < 4; i++)
			group.spawn(options, [&ended, shared] {
				try {
					weft::this_thread::sleep_for(24h);
				} catch (const weft::canceled &) {
					ended++;
				}
			});
		group.spawn([] { throw std::runtime_error("nobody sees it"); });
	}
	CU_ASSERT_EQUAL(ended.load(), 4);
	CU_ASSERT_EQUAL(shared.use_count(), 1);
}

const struct test_case cases[] = {
	TEST(a_group_waits_for_all_and_is_new_again),
	TEST(the_first_exception_cancels_the_others_and_comes_out),
	TEST(a_deadline_and_a_cancel_end_the_threads),
	TEST(groups_nest_and_cancellation_goes_down),
	TEST(the_destructor_cancels_and_waits),
};

} /* namespace */

TEST_MAIN("cxx/group", cases)
