/* SPDX-License-Identifier: MIT */
/* test_thread.cc - weft.hpp: threads, their ends, times, errors */
#include "cxx.h"

#include <sstream>
#include <unistd.h>
#include <unordered_set>

namespace {

/* Counts its copies that live. */
struct counted {
	static std::atomic<int> alive;
	int value;

	explicit counted(int v) : value(v)
	{
		alive++;
	}

	counted(const counted &other) : value(other.value)
	{
		alive++;
	}

	counted(counted &&other) noexcept : value(other.value)
	{
		alive++;
		other.value = -1;
	}

	~counted()
	{
		alive--;
	}
};

std::atomic<int> counted::alive { 0 };

void functions_small_and_large_run_with_their_arguments()
{
	weft::runtime runtime;
	long sum = 0;
	char large[100] = { 1, 2, 3 };
	auto add = [](long &to, long n) { to += n; };

	weft::thread([&] { sum += 1; }).join();
	weft::thread([&sum, large] { sum += large[2]; }).join();
	weft::thread(add, std::ref(sum), 10).join();
	weft::thread([&sum](std::unique_ptr<int> p) { sum += *p; },
		     std::make_unique<int>(100)).join();
	weft::thread([] {}).join();
	CU_ASSERT_EQUAL(sum, 114);
}

void functions_are_destroyed_once()
{
	weft::runtime runtime;

	for (int i = 0; i < 20; i++) {
		counted c(i);
		weft::thread t([c, i] { must(c.value == i); });
		weft::thread u([](counted &&d) { must(d.value >= 0); }, c);
		weft::thread v(&counted::value, counted(i));

		t.join();
		u.join();
		v.join();
	}
	CU_ASSERT_EQUAL(counted::alive.load(), 0);
}

void the_destructor_asks_the_thread_to_end_and_waits()
{
	weft::runtime runtime;
	bool slept = false, computed = false;

	{
		weft::thread sleeps([&] {
			try {
				weft::this_thread::sleep_for(24h);
			} catch (const weft::canceled &) {
				slept = weft::this_thread::stop_requested();
				throw;		/* ends the thread quietly */
			}
		});
		weft::thread computes([&] {
			while (!weft::this_thread::stop_requested())
				weft::this_thread::yield();
			computed = true;
		});
	}
	CU_ASSERT_TRUE(slept);
	CU_ASSERT_TRUE(computed);
}

void threads_move_and_swap()
{
	weft::runtime runtime;
	std::atomic<int> ran { 0 };
	weft::thread a([&] { ran++; }), b;
	weft::thread::id id = a.get_id();

	CU_ASSERT_TRUE(a.joinable());
	CU_ASSERT_FALSE(b.joinable());
	b = std::move(a);
	CU_ASSERT_FALSE(a.joinable());
	CU_ASSERT_TRUE(b.get_id() == id);
	swap(a, b);
	CU_ASSERT_TRUE(a.get_id() == id);
	a.join();
	CU_ASSERT_FALSE(a.joinable());
	CU_ASSERT_TRUE(a.get_id() == weft::thread::id());

	std::vector<weft::thread> many;

	for (int i = 0; i < 100; i++)
		many.emplace_back([&] { ran++; });
	many.clear();
	CU_ASSERT_EQUAL(ran.load(), 101);
}

void ids_are_values()
{
	weft::runtime runtime;
	weft::thread::id of_other;
	weft::thread t([&] { of_other = weft::this_thread::get_id(); });
	weft::thread::id id = t.get_id();
	std::ostringstream out;

	t.join();
	CU_ASSERT_TRUE(of_other == id);
	CU_ASSERT_TRUE(id != weft::this_thread::get_id());
	CU_ASSERT_TRUE(weft::thread::id() < id);
	out << id;
	CU_ASSERT_EQUAL(out.str(), std::to_string(id.native()));

	std::unordered_set<weft::thread::id> set = { id, id, of_other };

	CU_ASSERT_EQUAL(set.size(), 1);
}

void joins_end_in_time()
{
	weft::runtime runtime;
	weft::binary_semaphore end(0);
	weft::thread t([&] { end.acquire(); });
	auto before = weft::clock::now();

	CU_ASSERT_FALSE(t.try_join_for(5ms));
	CU_ASSERT_FALSE(t.try_join_until(std::chrono::system_clock::now() + 5ms));
	CU_ASSERT_FALSE(t.try_join_until(weft::clock::time_point::min()));
	CU_ASSERT_TRUE(weft::clock::now() - before >= 10ms);
	end.release();
	CU_ASSERT_TRUE(t.try_join_for(std::chrono::hours::max()));
	CU_ASSERT_FALSE(t.joinable());
	CU_ASSERT_TRUE(thrown_by([&] { t.join(); }) == std::errc::no_such_process);
	CU_ASSERT_TRUE(thrown_by([&] { t.detach(); }) == std::errc::no_such_process);
	CU_ASSERT_FALSE(t.request_stop());
}

void a_detached_thread_goes_on()
{
	weft::runtime runtime;
	std::atomic<int> step { 0 };

	weft::thread([&] {
		await([&] { return step == 1; });
		step = 2;
	}).detach();
	step = 1;
	await([&] { return step == 2; });
	/* It may still be ending. */
	await([&] {
		return thrown_by([&] { runtime.stop(); }) != std::errc::device_or_resource_busy;
	});
}

void a_cancelled_wait_throws_unless_held()
{
	weft::runtime runtime;
	weft::binary_semaphore never(0);
	int caught = 0;
	weft::thread t([&] {
		await([] { return weft::this_thread::stop_requested(); });
		{
			weft::cancel_hold hold;

			weft::this_thread::sleep_for(1us);
			must(!never.try_acquire_for(1us));
		}
		try {
			never.acquire();
		} catch (const weft::canceled &error) {
			must(error.code() == std::errc::operation_canceled);
			caught++;
		}
		weft::thread inner([] { weft::this_thread::yield(); });

		must(thrown_by([&] { inner.join(); }) ==
		     std::errc::operation_canceled);
		must(inner.joinable());		/* its destructor joins it */
	});

	CU_ASSERT_TRUE(t.request_stop());
	t.join();
	CU_ASSERT_EQUAL(caught, 1);
}

void options_are_kept()
{
	weft::runtime runtime(2);
	weft::thread_options options;
	char name[WEFT_NAME_MAX];

	CU_ASSERT_EQUAL(weft::runtime::vcpus(), 2);
	CU_ASSERT_EQUAL(weft::thread::hardware_concurrency(), 2);
	options.name = "a name";
	options.light = true;
	options.stack_bytes = 256 * 1024;
	weft::thread(options, [&] {
		volatile char room[200 * 1024];

		room[0] = 1;
		room[sizeof(room) - 1] = 1;
		must(room[0] == 1);
		must(weft_name(weft_self(), name, sizeof(name)) == 0);
	}).join();
	CU_ASSERT_STRING_EQUAL(name, "a name");
	options.stack_bytes = 1;
	CU_ASSERT_TRUE(thrown_by([&] { weft::thread t(options, [] {}); }) ==
		       std::errc::invalid_argument);
}

void the_runtime_says_what_is_wrong()
{
	CU_ASSERT_TRUE(thrown_by([] { weft::runtime r(100000); }) ==
		       std::errc::invalid_argument);
	CU_ASSERT_TRUE(thrown_by([] { weft::thread t([] {}); }) ==
		       std::errc::no_such_process);

	weft::runtime runtime;

	CU_ASSERT_TRUE(thrown_by([] { weft::runtime again; }) ==
		       std::errc::connection_already_in_progress);

	weft::binary_semaphore end(0);
	weft::thread t([&] { end.acquire(); });

	CU_ASSERT_TRUE(thrown_by([&] { runtime.stop(); }) ==
		       std::errc::device_or_resource_busy);
	end.release();
	t.join();
	runtime.stop();
}

void errors_have_names_and_compare()
{
	std::error_code closed = weft::errc::closed;

	CU_ASSERT_STRING_EQUAL(closed.category().name(), "weft");
	CU_ASSERT_EQUAL(closed.message(), weft_strerror(-EPIPE));
	CU_ASSERT_TRUE(closed == weft::errc::closed);
	CU_ASSERT_TRUE(closed != std::errc::broken_pipe);
	CU_ASSERT_TRUE(weft::detail::code_of(-ETIMEDOUT) == std::errc::timed_out);
	CU_ASSERT_FALSE(weft::detail::code_of(0));
	CU_ASSERT_FALSE(weft::detail::code_of(3));
}

void durations_of_all_sizes_are_deadlines()
{
	using std::chrono::duration;
	using weft::detail::deadline_in;
	using weft::detail::nanoseconds_of;

	CU_ASSERT_EQUAL(nanoseconds_of(1ms), 1000000);
	CU_ASSERT_EQUAL(nanoseconds_of(-1h), 0);
	CU_ASSERT_EQUAL(nanoseconds_of(duration<double>(0.5)), 500000000);
	CU_ASSERT_EQUAL(nanoseconds_of(duration<double, std::nano>(0.5)), 1);
	CU_ASSERT_EQUAL(nanoseconds_of(duration<double>(1e30)), weft::detail::latest);
	CU_ASSERT_EQUAL(nanoseconds_of(std::chrono::hours::max()), weft::detail::latest);
	CU_ASSERT_EQUAL(deadline_in(std::chrono::hours::max()), weft::detail::latest);
	CU_ASSERT_EQUAL(deadline_in(std::chrono::nanoseconds::max()),
			weft::detail::latest);
	CU_ASSERT_TRUE(deadline_in(0s) > 0);
	CU_ASSERT_TRUE(deadline_in(1h) > weft_clock());
}

void sleeps_and_ticks_take_their_time()
{
	weft::runtime runtime;
	auto before = weft::clock::now();
	weft::ticker ticker(2ms);

	weft::this_thread::sleep_for(1ms);
	weft::this_thread::sleep_until(weft::clock::now() + 1ms);
	weft::this_thread::sleep_until(std::chrono::system_clock::now() + 1ms);
	weft::this_thread::sleep_until(std::chrono::steady_clock::now() - 1h);
	CU_ASSERT_TRUE(weft::clock::now() - before >= 3ms);
	CU_ASSERT_TRUE(ticker.wait() >= 1);
	CU_ASSERT_TRUE(ticker.next() > before);
	CU_ASSERT_TRUE(thrown_by([] { weft::ticker never(0s); }) ==
		       std::errc::invalid_argument);
	{
		weft::blocking_region region;

		::usleep(100);
	}
}

const struct test_case cases[] = {
	TEST(functions_small_and_large_run_with_their_arguments),
	TEST(functions_are_destroyed_once),
	TEST(the_destructor_asks_the_thread_to_end_and_waits),
	TEST(threads_move_and_swap),
	TEST(ids_are_values),
	TEST(joins_end_in_time),
	TEST(a_detached_thread_goes_on),
	TEST(a_cancelled_wait_throws_unless_held),
	TEST(options_are_kept),
	TEST(the_runtime_says_what_is_wrong),
	TEST(errors_have_names_and_compare),
	TEST(durations_of_all_sizes_are_deadlines),
	TEST(sleeps_and_ticks_take_their_time),
};

} /* namespace */

TEST_MAIN("cxx/thread", cases)
