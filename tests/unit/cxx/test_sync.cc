/* SPDX-License-Identifier: MIT */
/* test_sync.cc - weft.hpp: locks, condition variables, semaphores, latch, barrier, once */
#include "cxx.h"

#include <mutex>
#include <shared_mutex>

namespace {

const int THREADS = 8;

template <class F> void in_threads(F fn)
{
	std::vector<weft::thread> threads;

	for (int i = 0; i < THREADS; i++)
		threads.emplace_back([&fn, i] { fn(i); });
	for (auto &t : threads)
		t.join();
}

template <class Mutex> void count_under(Mutex &mutex)
{
	const long rounds = static_cast<long>(test_scaled(2000));
	long count = 0;

	in_threads([&](int) {
		for (long i = 0; i < rounds; i++) {
			std::lock_guard<Mutex> lock(mutex);

			count++;
			if (i % 64 == 0)
				weft::this_thread::yield();
		}
	});
	CU_ASSERT_EQUAL(count, THREADS * rounds);
}

void mutexes_exclude_under_the_guards_of_the_standard()
{
	weft::runtime runtime;
	weft::mutex adaptive, strict(weft::mutex_policy::strict);
	weft::shared_mutex shared;

	count_under(adaptive);
	count_under(strict);
	count_under(shared);
	{
		std::scoped_lock both(adaptive, strict);

		weft::thread([&] {
			must(!adaptive.try_lock());
			must(!strict.try_lock());
			must(!strict.try_lock_for(1us));
			must(!strict.try_lock_until(weft::clock::now() + 1us));
			must(!strict.try_lock_until(std::chrono::system_clock::now()));
		}).join();
		CU_ASSERT_TRUE(thrown_by([&] { strict.lock(); }) ==
			       std::errc::resource_deadlock_would_occur);
	}

	std::unique_lock<weft::mutex> timed(adaptive, 1h);

	CU_ASSERT_TRUE(timed.owns_lock());
	CU_ASSERT_PTR_NOT_NULL(adaptive.native_handle());
}

void readers_share_and_writers_do_not()
{
	weft::runtime runtime;
	weft::shared_mutex mutex;
	weft::latch inside(2);
	std::atomic<int> readers { 0 };
	auto read = [&] {
		std::shared_lock<weft::shared_mutex> lock(mutex);

		readers++;
		inside.arrive_and_wait();
	};
	weft::thread a(read), b(read);

	a.join();
	b.join();
	CU_ASSERT_EQUAL(readers.load(), 2);

	std::unique_lock<weft::shared_mutex> writer(mutex);

	weft::thread([&] {
		must(!mutex.try_lock());
		must(!mutex.try_lock_for(1us));
		must(!mutex.try_lock_shared());
		must(!mutex.try_lock_shared_for(1us));
		must(!mutex.try_lock_shared_until(std::chrono::system_clock::now()));
		must(!mutex.try_lock_until(weft::clock::now()));
	}).join();
}

template <class Cond, class Lock, class Mutex> void hand_to_and_fro()
{
	const int rounds = static_cast<int>(test_scaled(500));
	Mutex mutex;
	Cond cond;
	int turn = 0;
	auto play = [&](int me) {
		for (int i = 0; i < rounds; i++) {
			Lock lock(mutex);

			cond.wait(lock, [&] { return turn % 2 == me; });
			turn++;
			cond.notify_all();
		}
	};
	weft::thread a(play, 0), b(play, 1);

	a.join();
	b.join();
	CU_ASSERT_EQUAL(turn, 2 * rounds);
}

/* A lock of one's own: no more than lock() and unlock(). */
struct plain_lock {
	explicit plain_lock(weft::mutex &m) : mutex(m)
	{
		lock();
	}

	~plain_lock()
	{
		unlock();
	}

	void lock()
	{
		mutex.lock();
	}

	void unlock()
	{
		mutex.unlock();
	}

	weft::mutex &mutex;
};

void conditions_wake_with_any_lock()
{
	weft::runtime runtime;

	hand_to_and_fro<weft::condition_variable, std::unique_lock<weft::mutex>,
			weft::mutex>();
	hand_to_and_fro<weft::condition_variable_any, std::unique_lock<weft::mutex>,
			weft::mutex>();
	hand_to_and_fro<weft::condition_variable_any,
			std::unique_lock<weft::shared_mutex>, weft::shared_mutex>();
	hand_to_and_fro<weft::condition_variable_any, plain_lock, weft::mutex>();
	hand_to_and_fro<std::condition_variable_any, std::unique_lock<weft::mutex>,
			weft::mutex>();
}

template <class Cond> void end_waits()
{
	weft::mutex mutex;
	Cond cond;
	std::unique_lock<weft::mutex> lock(mutex);
	auto never = [] { return false; };

	CU_ASSERT_TRUE(cond.wait_for(lock, 1ms) == weft::cv_status::timeout);
	CU_ASSERT_TRUE(cond.wait_until(lock, weft::clock::now() + 1ms) ==
		       weft::cv_status::timeout);
	CU_ASSERT_TRUE(cond.wait_until(lock, std::chrono::system_clock::now()) ==
		       weft::cv_status::timeout);
	CU_ASSERT_FALSE(cond.wait_for(lock, 1ms, never));
	CU_ASSERT_FALSE(cond.wait_until(lock, weft::clock::now(), never));
	CU_ASSERT_TRUE(cond.wait_for(lock, 1ms, [] { return true; }));
	CU_ASSERT_TRUE(lock.owns_lock());
	lock.unlock();

	bool caught = false;
	weft::thread t([&] {
		std::unique_lock<weft::mutex> l(mutex);

		try {
			cond.wait(l, never);
		} catch (const weft::canceled &) {
			caught = l.owns_lock();
		}
	});

	t.request_stop();
	t.join();
	CU_ASSERT_TRUE(caught);
	CU_ASSERT_TRUE(mutex.try_lock());
	mutex.unlock();
}

void waits_end_by_time_and_by_cancel()
{
	weft::runtime runtime;

	end_waits<weft::condition_variable>();
	end_waits<weft::condition_variable_any>();
}

void a_woken_thread_may_destroy_the_condition()
{
	weft::runtime runtime;

	for (size_t i = 0; i < test_scaled(300); i++) {
		auto mutex = std::make_unique<weft::mutex>();
		auto cond = std::make_unique<weft::condition_variable_any>();
		bool is_set = false;
		weft::thread t([&] {
			std::unique_lock<weft::mutex> lock(*mutex);

			is_set = true;
			cond->notify_all();
		});
		std::unique_lock<weft::mutex> lock(*mutex);

		cond->wait(lock, [&] { return is_set; });
		cond.reset();
		lock.unlock();
		t.join();
	}
}

void semaphores_count()
{
	weft::runtime runtime;
	weft::counting_semaphore<> three(3);

	three.acquire();
	CU_ASSERT_TRUE(three.try_acquire());
	CU_ASSERT_TRUE(three.try_acquire_for(1ms));
	CU_ASSERT_FALSE(three.try_acquire());
	CU_ASSERT_FALSE(three.try_acquire_for(1us));
	CU_ASSERT_FALSE(three.try_acquire_until(weft::clock::now() + 1us));
	three.release(2);
	CU_ASSERT_TRUE(three.try_acquire_until(std::chrono::system_clock::now() + 1h));
	CU_ASSERT_TRUE(three.try_acquire());
	CU_ASSERT_TRUE(thrown_by([] { weft::binary_semaphore s(-1); }) ==
		       std::errc::invalid_argument);
}

void a_latch_opens_once()
{
	weft::runtime runtime;
	weft::latch latch(THREADS);
	std::atomic<int> before { 0 };

	in_threads([&](int i) {
		before++;
		if (i % 2) {
			latch.arrive_and_wait();
		} else {
			latch.count_down();
			latch.wait();
		}
		must(before == THREADS);
		must(latch.try_wait());
	});

	for (size_t i = 0; i < test_scaled(300); i++) {
		auto one = std::make_unique<weft::latch>(1);
		weft::thread t([&] { one->count_down(); });

		one->wait();
		one.reset();
	}
}

void a_barrier_makes_rounds_and_completes_each()
{
	const int rounds = 50;
	weft::runtime runtime;
	std::atomic<int> arrived { 0 };
	int completed = 0;
	auto complete = [&] {
		must(arrived == THREADS * (completed + 1));
		completed++;
	};
	weft::barrier<decltype(complete)> barrier(THREADS, complete);

	in_threads([&](int i) {
		for (int r = 0; r < rounds; r++) {
			arrived++;
			if (i == 0)
				barrier.wait(barrier.arrive());
			else
				barrier.arrive_and_wait();
			must(completed > r);
		}
	});
	CU_ASSERT_EQUAL(completed, rounds);

	weft::barrier<> pair(2);
	weft::thread goes([&] { pair.arrive_and_drop(); });

	pair.arrive_and_wait();
	pair.arrive_and_wait();		/* alone from now on */
}

void once_runs_until_it_does_not_throw()
{
	weft::runtime runtime;
	weft::once_flag flag;
	std::atomic<int> tries { 0 }, thrown { 0 };

	in_threads([&](int) {
		try {
			weft::call_once(flag, [&](int least) {
				if (++tries < least)
					throw std::runtime_error("not yet");
			}, 3);
		} catch (const std::runtime_error &) {
			thrown++;
		}
	});
	CU_ASSERT_EQUAL(tries.load(), 3);
	CU_ASSERT_EQUAL(thrown.load(), 2);
	weft::call_once(flag, [&] { tries = -1; });
	CU_ASSERT_EQUAL(tries.load(), 3);
	CU_ASSERT_TRUE(thrown_by([] {
		weft::once_flag inner;

		weft::call_once(inner, [&] { weft::call_once(inner, [] {}); });
	}) == std::errc::resource_deadlock_would_occur);
}

const struct test_case cases[] = {
	TEST(mutexes_exclude_under_the_guards_of_the_standard),
	TEST(readers_share_and_writers_do_not),
	TEST(conditions_wake_with_any_lock),
	TEST(waits_end_by_time_and_by_cancel),
	TEST(a_woken_thread_may_destroy_the_condition),
	TEST(semaphores_count),
	TEST(a_latch_opens_once),
	TEST(a_barrier_makes_rounds_and_completes_each),
	TEST(once_runs_until_it_does_not_throw),
};

} /* namespace */

TEST_MAIN("cxx/sync", cases)
