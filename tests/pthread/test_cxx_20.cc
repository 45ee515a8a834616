/* SPDX-License-Identifier: MIT */
/*
 * test_cxx_20.cc - what C++20 has more: threads that are asked to stop, atomics
 * that are waited for, semaphores, latches, barriers
 *
 * libstdc++ builds most of it on syscall(SYS_futex), in its headers, without
 * the flag of private futexes.
 */
#include "cxx.h"

#include <condition_variable>
#include <mutex>

#if __cplusplus >= 202002L
#include <barrier>
#include <latch>
#include <semaphore>
#include <stop_token>
#endif

using namespace std::chrono_literals;

namespace {

#if __cpp_lib_jthread
void a_thread_that_is_asked_to_stop_stops()
{
	std::mutex mutex;
	std::condition_variable_any never;
	std::atomic<int> called { 0 };
	bool stopped = false, computed = false;

	{
		std::jthread waits([&](std::stop_token stop) {
			std::unique_lock<std::mutex> lock(mutex);
			std::stop_callback callback(stop, [&] { called++; });

			stopped = !never.wait(lock, stop, [] { return false; });
			while (!called)
				move();
		});
		std::jthread computes([&](std::stop_token stop) {
			while (!stop.stop_requested())
				;
			computed = true;
		});
	}
	printf("%d %d %d\n", stopped, computed, called.load());
}
#else
void a_thread_that_is_asked_to_stop_stops()
{
	printf("not in this C++\n");
}
#endif

#if __cpp_lib_atomic_wait
template <class T> void ping_and_pong(const char *what)
{
	std::atomic<T> ball { 0 };
	const T rounds = (T)scaled(300);

	std::thread t([&] {
		for (T i = 0; i < rounds; i++) {
			ball.wait(2 * i);
			if (i % 16 == 8)
				move();
			ball++;
			ball.notify_one();
		}
	});
	for (T i = 0; i < rounds; i++) {
		if (i % 16 == 0)
			move();		/* the other waits, not by turns */
		ball++;
		ball.notify_one();
		ball.wait(2 * i + 1);
	}
	t.join();
	printf("%s: %d\n", what, ball == 2 * rounds);
}

void atomics_are_waited_for()
{
	std::atomic<bool> go { false };
	std::atomic_flag flag = ATOMIC_FLAG_INIT;
	std::atomic<int> waiting { 0 };

	ping_and_pong<int>("int");	/* a futex of its own */
	ping_and_pong<long>("long");	/* one of the library's */
	printf("%ld\n", in_threads([&](int i) {
		if (++waiting == THREADS) {
			move();
			go = true;
			go.notify_all();
			flag.test_and_set();
			flag.notify_all();
		}
		go.wait(false);
		flag.wait(false);
		return i;
	}));
}
#else
void atomics_are_waited_for()
{
	printf("not in this C++\n");
}
#endif

#if __cpp_lib_semaphore && __cpp_lib_latch && __cpp_lib_barrier
void semaphores_count()
{
	std::counting_semaphore<4> room(4);
	std::counting_semaphore<> items(0);
	std::binary_semaphore one(1);
	std::atomic<long> inside { 0 }, most { 0 };
	const int rounds = (int)scaled(200);

	printf("%d\n", items.try_acquire());
	printf("%d\n", items.try_acquire_for(2ms));
	printf("%d\n", items.try_acquire_until(
		std::chrono::system_clock::now() + 2ms));
	in_threads([&](int i) {
		for (int n = 0; n < rounds; n++) {
			if (i % 2) {
				while (!items.try_acquire_for(1h))
					;
				one.acquire();
				inside--;
				one.release();
				room.release();
			} else {
				room.acquire();
				one.acquire();
				if (++inside > most)
					most = inside.load();
				one.release();
				items.release();
			}
		}
		return 0;
	});
	printf("%ld %d\n", inside.load(), most <= 4 && most > 0);
}

void latches_and_barriers_open()
{
	std::latch ready(THREADS), go(1);
	std::atomic<int> here { 0 };
	int phases = 0;
	long good = 0;
	auto next = [&]() noexcept {
		good += here == (phases + 1) * THREADS;
		phases++;
	};
	std::barrier<decltype(next)> turns(THREADS, next);

	std::thread starter([&] {
		ready.wait();
		printf("%d\n", here.load());
		here = 0;
		go.count_down();
	});
	printf("%ld\n", in_threads([&](int i) {
		here++;
		ready.arrive_and_wait();
		go.wait();
		for (int n = 0; n < 50; n++) {
			if ((n + i) % 8 == 0)
				move();
			here++;
			turns.arrive_and_wait();
		}
		return i;
	}));
	starter.join();
	printf("%d %ld\n", phases, good);
}
#else
void semaphores_count()
{
	printf("not in this C++\n");
}

void latches_and_barriers_open()
{
	printf("not in this C++\n");
}
#endif

const struct compare_case cases[] = {
	COMPARE(a_thread_that_is_asked_to_stop_stops),
	COMPARE(atomics_are_waited_for),
	COMPARE(semaphores_count),
	COMPARE(latches_and_barriers_open),
};

} /* namespace */

COMPARE_MAIN(cases)
