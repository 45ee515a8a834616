/* SPDX-License-Identifier: MIT */
/* test_cxx_sync.cc - C++: threads, locks, conditions, futures */
#include "cxx.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <system_error>

using namespace std::chrono_literals;

namespace {

/* What a call throws; the numbers are errno's. */
template <class F> void show_thrown(const char *what, F fn)
{
	try {
		fn();
		printf("%s: nothing\n", what);
	} catch (const std::system_error &e) {
		show(what, e.code().value());
	}
}

/* --- threads ------------------------------------------------------- */

void threads_have_ids_and_are_joined_once()
{
	std::set<std::thread::id> ids;
	std::mutex mutex;
	std::thread t, other;

	in_threads([&](int) {
		mutex.lock();
		ids.insert(std::this_thread::get_id());
		mutex.unlock();
		return pthread_barrier_wait(&all_here);
	});
	printf("%zu\n", ids.size());
	printf("%d\n", std::thread::hardware_concurrency() > 0);
	show_thrown("join nobody", [&] { t.join(); });
	mutex.lock();
	t = std::thread([&] {
		mutex.lock();	/* t is set */
		mutex.unlock();
		show_thrown("join itself", [&] { t.join(); });
	});
	other = std::move(t);
	t = std::move(other);
	printf("%d %d\n", t.joinable(), other.joinable());
	mutex.unlock();
	t.join();
	show_thrown("join again", [&] { t.join(); });
}

void sleeps_last_as_long_as_was_asked()
{
	printf("%ld\n", in_threads([](int i) {
		const auto begin = std::chrono::steady_clock::now();

		if (i % 2)
			std::this_thread::sleep_for(3ms);
		else
			std::this_thread::sleep_until(begin + 3ms);
		return std::chrono::steady_clock::now() - begin >= 3ms;
	}));
}

/* --- locks --------------------------------------------------------- */

template <class M> void count_in(const char *what, M &mutex)
{
	long count = 0;
	const long rounds = scaled(200);

	in_threads([&](int i) {
		for (long n = 0; n < rounds; n++) {
			std::lock_guard<M> lock(mutex);
			const long now = count;

			if ((n + i) % 50 == 0)
				move();
			count = now + 1;
		}
		return 0;
	});
	printf("%s: %ld of %ld\n", what, count, rounds * THREADS);
}

void mutexes_exclude()
{
	std::mutex plain, left, right;
	std::timed_mutex timed;
	std::recursive_mutex recursive;
	std::shared_mutex shared;
	long count = 0;

	count_in("mutex", plain);
	count_in("timed", timed);
	count_in("recursive", recursive);
	count_in("shared", shared);
	in_threads([&](int i) {
		for (long n = 0; n < scaled(100); n++) {
			std::scoped_lock both(i % 2 ? left : right,
					      i % 2 ? right : left);

			count++;
		}
		return 0;
	});
	printf("two: %ld of %ld\n", count, THREADS * scaled(100));
}

/* The locks of another thread, which this one holds: as long as it says. */
template <class M> void wait_for_lock(const char *what, M &mutex)
{
	std::promise<void> failed;

	mutex.lock();
	std::thread t([&] {
		const bool at_once = mutex.try_lock();
		const bool soon = mutex.try_lock_for(1ms);
		const bool past = mutex.try_lock_until(
			std::chrono::system_clock::now() - 1s);

		failed.set_value();
		printf("%s: %d %d %d %d\n", what, at_once, soon, past,
		       mutex.try_lock_for(1h));
		mutex.unlock();
	});
	failed.get_future().wait();
	mutex.unlock();
	t.join();
}

void mutexes_time_out()
{
	std::timed_mutex timed;
	std::recursive_timed_mutex recursive;
	std::shared_timed_mutex shared;
	std::unique_lock<std::timed_mutex> lock(timed, std::defer_lock);

	wait_for_lock("timed", timed);
	wait_for_lock("recursive", recursive);
	wait_for_lock("shared", shared);
	show_thrown("not locked", [&] { lock.unlock(); });
	lock.lock();
	show_thrown("locked", [&] { lock.lock(); });
}

void recursive_mutexes_count()
{
	std::recursive_mutex mutex;
	bool others;

	for (int i = 0; i < 5; i++)
		mutex.lock();
	for (int i = 0; i < 5; i++) {
		std::thread([&] {
			others = mutex.try_lock();
			if (others)
				mutex.unlock();
		}).join();
		printf("%d ", others);
		mutex.unlock();
	}
	std::thread([&] { others = mutex.try_lock(); }).join();
	printf("%d\n", others);
}

/* All readers are in at the barrier. */
void readers_share()
{
	std::shared_timed_mutex mutex;
	long value = 0, good;

	good = in_threads([&](int i) {
		long fine = 0;

		for (int n = 0; n < 10; n++) {
			std::shared_lock<std::shared_timed_mutex> in(mutex);

			pthread_barrier_wait(&all_here);
			fine += !mutex.try_lock_for(i ? 0ms : 1ms);
			fine += value == n * THREADS;
			pthread_barrier_wait(&all_here);
			in.unlock();
			mutex.lock();
			value++;
			mutex.unlock();
			pthread_barrier_wait(&all_here);
		}
		return fine;
	});
	printf("%ld %ld\n", good, value);
	mutex.lock();
	std::thread([&] {
		printf("%d\n", mutex.try_lock_shared_for(1ms));
	}).join();
}

/* --- conditions ---------------------------------------------------- */

void conditions_carry_from_many_to_many()
{
	std::mutex mutex;
	std::condition_variable more;
	std::condition_variable_any less;
	std::deque<int> queue;
	const int rounds = (int)scaled(200);
	long sum = in_threads([&](int i) {
		long mine = 0;

		for (int n = 1; n <= rounds; n++) {
			std::unique_lock<std::mutex> lock(mutex);

			if (i % 2) {
				more.wait(lock, [&] { return !queue.empty(); });
				mine += queue.front();
				queue.pop_front();
				less.notify_one();
			} else {
				less.wait(lock,
					  [&] { return queue.size() < 4; });
				queue.push_back(n);
				more.notify_one();
			}
		}
		return mine;
	});

	printf("%d\n", sum == THREADS / 2 * (long)rounds * (rounds + 1) / 2);
}

thread_local struct ended {
	bool *is;

	~ended()
	{
		if (is)
			*is = true;
	}
} at_end;

void conditions_time_out_and_tell()
{
	std::mutex mutex;
	std::condition_variable told;
	std::unique_lock<std::mutex> lock(mutex);
	bool is = false;

	printf("%d\n", told.wait_for(lock, 2ms, [&] { return is; }));
	printf("%d\n", told.wait_until(lock,
				       std::chrono::system_clock::now() + 2ms,
				       [&] { return is; }));
	while (told.wait_for(lock, 1ms) != std::cv_status::timeout)
		;
	std::thread t([&] {
		std::unique_lock<std::mutex> others(mutex);

		at_end.is = &is;
		std::notify_all_at_thread_exit(told, std::move(others));
	});
	printf("%d\n", told.wait_for(lock, 1h, [&] { return is; }));
	t.join();
}

/* --- futures ------------------------------------------------------- */

long sum_of(long low, long high)
{
	if (high - low < 4) {
		long sum = 0;

		for (; low < high; low++)
			sum += low;
		return sum;
	}
	const long middle = low + (high - low) / 2;
	auto left = std::async(std::launch::async, sum_of, low, middle);

	return sum_of(middle, high) + left.get();
}

void futures_bring_results()
{
	std::thread::id where;
	auto late = std::async(std::launch::deferred, [&] {
		where = std::this_thread::get_id();
		return 7;
	});
	std::packaged_task<int(int)> twice([](int n) { return 2 * n; });
	auto doubled = twice.get_future();
	std::promise<int> promise;
	auto shared = promise.get_future().share();

	printf("%ld\n", sum_of(0, 1000));
	printf("%d ", late.wait_for(0s) == std::future_status::deferred);
	printf("%d %d\n", late.get(), where == std::this_thread::get_id());
	std::thread(std::move(twice), 21).join();
	printf("%d\n", doubled.get());
	printf("%d\n", shared.wait_for(2ms) == std::future_status::timeout);
	std::thread setter([&] { promise.set_value(3); });
	printf("%ld\n", in_threads([&](int) { return shared.get(); }));
	setter.join();
	printf("%d\n", shared.wait_for(0s) == std::future_status::ready);
}

void futures_bring_exceptions()
{
	std::promise<int> broken, at_the_end;
	auto result = broken.get_future(), last = at_the_end.get_future();
	bool is = false;

	printf("%ld\n", in_threads([](int i) {
		auto f = std::async(std::launch::async, [i]() -> int {
			move();
			throw i;
		});

		try {
			return f.get();
		} catch (int thrown) {
			return thrown == i ? 100 : 0;
		}
	}));
	std::thread([&] { auto gone = std::move(broken); }).join();
	try {
		result.get();
	} catch (const std::future_error &e) {
		printf("%d\n", e.code() == std::future_errc::broken_promise);
	}
	std::thread t([&] {
		at_end.is = &is;
		at_the_end.set_value_at_thread_exit(5);
	});
	printf("%d ", last.get());
	printf("%d\n", is);
	t.join();
}

const struct compare_case cases[] = {
	COMPARE(threads_have_ids_and_are_joined_once),
	COMPARE(sleeps_last_as_long_as_was_asked),
	COMPARE(mutexes_exclude),
	COMPARE(mutexes_time_out),
	COMPARE(recursive_mutexes_count),
	COMPARE(readers_share),
	COMPARE(conditions_carry_from_many_to_many),
	COMPARE(conditions_time_out_and_tell),
	COMPARE(futures_bring_results),
	COMPARE(futures_bring_exceptions),
};

} /* namespace */

COMPARE_MAIN(cases)
