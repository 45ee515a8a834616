/* SPDX-License-Identifier: MIT */
/* test_channel.cc - weft.hpp: channels of any type, and select */
#include "cxx.h"

#include <poll.h>
#include <unistd.h>

namespace {

/* Counts what lives; may be moved, not copied. */
struct only_moved {
	static std::atomic<int> alive;
	std::unique_ptr<int> value;

	explicit only_moved(int v) : value(new int(v))
	{
		alive++;
	}

	only_moved(only_moved &&other) noexcept : value(std::move(other.value))
	{
		alive++;
	}

	only_moved &operator=(only_moved &&other) noexcept = default;

	~only_moved()
	{
		alive--;
	}
};

std::atomic<int> only_moved::alive { 0 };

template <class T, class Make, class Read>
void carry(std::size_t capacity, Make make, Read read)
{
	const int count = static_cast<int>(test_scaled(500));
	weft::channel<T> channel(capacity);
	std::atomic<long> sum { 0 };
	std::vector<weft::thread> senders, receivers;

	for (int s = 0; s < 3; s++)
		senders.emplace_back([&] {
			for (int i = 1; i <= count; i++)
				channel.send(make(i));
		});
	for (int r = 0; r < 3; r++)
		receivers.emplace_back([&] {
			for (T &value : channel)
				sum += read(value);
		});
	for (auto &t : senders)
		t.join();
	CU_ASSERT_TRUE(channel.close());
	CU_ASSERT_FALSE(channel.close());
	for (auto &t : receivers)
		t.join();
	CU_ASSERT_EQUAL(sum.load(), 3L * count * (count + 1) / 2);
}

void values_of_all_kinds_arrive_once()
{
	struct wide {
		long pad[6], value;
	};
	weft::runtime runtime;

	for (std::size_t capacity : { 0, 1, 7 }) {
		carry<int>(capacity, [](int i) { return i; },
			   [](int &i) { return i; });
		carry<wide>(capacity, [](int i) { return wide { { 0 }, i }; },
			    [](wide &w) { return w.value; });
		carry<std::string>(capacity, [](int i) {
			return std::string(100, 'x') + std::to_string(i);
		}, [](std::string &s) { return std::stoi(s.substr(100)); });
		carry<only_moved>(capacity, [](int i) { return only_moved(i); },
				  [](only_moved &m) { return *m.value; });
	}
	CU_ASSERT_EQUAL(only_moved::alive.load(), 0);
}

void what_is_left_is_destroyed_with_the_channel()
{
	weft::runtime runtime;

	{
		weft::channel<only_moved> channel(4);

		channel.send(only_moved(1));
		channel.send(only_moved(2));
		CU_ASSERT_EQUAL(channel.size(), 2);
		CU_ASSERT_EQUAL(channel.capacity(), 4);

		weft::channel<only_moved> other(std::move(channel));

		channel = weft::channel<only_moved>(1);
		channel.send(only_moved(3));
		swap(channel, other);
		CU_ASSERT_EQUAL(channel.size(), 2);
		CU_ASSERT_EQUAL(only_moved::alive.load(), 3);
	}
	CU_ASSERT_EQUAL(only_moved::alive.load(), 0);
}

void a_send_that_fails_leaves_the_value()
{
	weft::runtime runtime;
	weft::channel<only_moved> channel(1);
	only_moved value(7);
	std::error_code error;

	channel.send(only_moved(1));
	CU_ASSERT_FALSE(channel.try_send(std::move(value)));
	CU_ASSERT_FALSE(channel.send_for(std::move(value), 1us));
	CU_ASSERT_FALSE(channel.send_until(std::move(value), weft::clock::now()));
	CU_ASSERT_EQUAL(*value.value, 7);
	CU_ASSERT_FALSE(channel.try_send(std::move(value), error));
	CU_ASSERT_TRUE(error == std::errc::resource_unavailable_try_again);
	channel.close();
	try {
		channel.send(std::move(value));
		CU_FAIL("a send on a closed channel");
	} catch (const weft::closed &caught) {
		CU_ASSERT_TRUE(caught.code() == weft::errc::closed);
	}
	channel.send(std::move(value), error);
	CU_ASSERT_TRUE(error == weft::errc::closed);
	CU_ASSERT_EQUAL(*value.value, 7);
}

void a_receive_tells_why_nothing_came()
{
	weft::runtime runtime;
	weft::channel<std::string> channel(1);
	std::error_code error;

	CU_ASSERT_FALSE(channel.try_receive());
	CU_ASSERT_FALSE(channel.try_receive(error));
	CU_ASSERT_TRUE(error == std::errc::resource_unavailable_try_again);
	CU_ASSERT_FALSE(channel.receive_for(1us));
	CU_ASSERT_FALSE(channel.receive_for(1us, error));
	CU_ASSERT_TRUE(error == std::errc::timed_out);
	CU_ASSERT_FALSE(channel.receive_until(weft::clock::now()));
	CU_ASSERT_FALSE(channel.receive_until(std::chrono::system_clock::now(), error));
	CU_ASSERT_TRUE(error == std::errc::timed_out);
	CU_ASSERT_FALSE(channel.is_closed());

	std::string text = "text";

	channel.send(text);
	CU_ASSERT_EQUAL(text, "text");
	channel.close();
	CU_ASSERT_TRUE(channel.is_closed());
	CU_ASSERT_EQUAL(channel.receive(error).value(), "text");
	CU_ASSERT_FALSE(error);
	CU_ASSERT_FALSE(channel.receive());
	CU_ASSERT_FALSE(channel.receive(error));
	CU_ASSERT_TRUE(error == weft::errc::closed);
}

void cancelled_sends_and_receives_throw()
{
	weft::runtime runtime;
	weft::channel<only_moved> channel;
	int caught = 0;
	weft::thread receives([&] {
		try {
			channel.receive();
		} catch (const weft::canceled &) {
			caught++;
			throw;
		}
	});

	receives.request_stop();
	receives.join();

	weft::thread sends([&] {
		only_moved value(3);

		try {
			channel.send(std::move(value));
		} catch (const weft::canceled &) {
			caught += *value.value;
		}

		std::error_code error;

		channel.send(std::move(value), error);
		must(error == std::errc::operation_canceled);
	});

	sends.request_stop();
	sends.join();
	CU_ASSERT_EQUAL(caught, 4);
	CU_ASSERT_EQUAL(only_moved::alive.load(), 0);
}

void one_to_one_channels_know_their_ends()
{
	weft::runtime runtime;
	weft::channel<long> channel(8, weft::one_to_one);
	weft::thread sends([&] {
		for (long i = 0; i < 100; i++)
			channel.send(i);
		channel.close();
	});
	long next = 0;

	for (long value : channel)
		CU_ASSERT_EQUAL(value, next++);
	CU_ASSERT_EQUAL(next, 100);
	sends.join();
	CU_ASSERT_TRUE(thrown_by([&] { channel.send(1); }) != std::error_code());
}

void select_does_what_is_possible_first()
{
	weft::runtime runtime;
	weft::channel<int> numbers(1);
	weft::channel<only_moved> things;
	only_moved thing(5);
	int got = 0;
	auto choose = [&] {
		return weft::select(
			weft::on_receive(numbers, [&](std::optional<int> n) {
				got += n ? *n : 1000;
			}),
			weft::on_send(things, std::move(thing), [&] { got += 10; }),
			weft::otherwise([&] { got += 100; }));
	};

	CU_ASSERT_EQUAL(choose(), 2);
	CU_ASSERT_EQUAL(got, 100);
	CU_ASSERT_EQUAL(*thing.value, 5);
	numbers.send(1);
	CU_ASSERT_EQUAL(choose(), 0);
	CU_ASSERT_EQUAL(got, 101);
	CU_ASSERT_EQUAL(*thing.value, 5);

	weft::thread receives([&] { must(*things.receive()->value == 5); });

	await([&] { return choose() == 1; });
	receives.join();
	thing = only_moved(6);
	numbers.close();
	got = 0;
	CU_ASSERT_EQUAL(choose(), 0);
	CU_ASSERT_EQUAL(got, 1000);
	CU_ASSERT_TRUE(thrown_by([&] {
		weft::select(weft::on_send(numbers, 1, [] {}));
	}) == weft::errc::closed);
}

void select_waits_for_time_descriptors_and_cancel()
{
	weft::runtime runtime;
	weft::channel<std::string> never;
	int fd[2], which = -1;
	short events = 0;

	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	weft::select(weft::on_receive(never, [&](auto) { which = 0; }),
		     weft::on_timeout(1ms, [&] { which = 1; }));
	CU_ASSERT_EQUAL(which, 1);
	weft::select(weft::on_receive(never, [&](auto) { which = 0; }),
		     weft::on_time(weft::clock::now(), [&] { which = 2; }));
	CU_ASSERT_EQUAL(which, 2);

	weft::thread writes([&] { must(::write(fd[1], "x", 1) == 1); });

	weft::select(weft::on_receive(never, [&](auto) { which = 0; }),
		     weft::on_ready(fd[0], POLLIN, [&](short e) { events = e; }));
	CU_ASSERT_EQUAL(events, POLLIN);
	writes.join();
	close(fd[0]);
	close(fd[1]);

	bool caught = false;
	weft::thread waits([&] {
		try {
			weft::select(weft::on_receive(never, [](auto) {}));
		} catch (const weft::canceled &) {
			caught = true;
		}
	});

	waits.request_stop();
	waits.join();
	CU_ASSERT_TRUE(caught);
}

const struct test_case cases[] = {
	TEST(values_of_all_kinds_arrive_once),
	TEST(what_is_left_is_destroyed_with_the_channel),
	TEST(a_send_that_fails_leaves_the_value),
	TEST(a_receive_tells_why_nothing_came),
	TEST(cancelled_sends_and_receives_throw),
	TEST(one_to_one_channels_know_their_ends),
	TEST(select_does_what_is_possible_first),
	TEST(select_waits_for_time_descriptors_and_cancel),
};

} /* namespace */

TEST_MAIN("cxx/channel", cases)
