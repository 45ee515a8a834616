/* SPDX-License-Identifier: MIT */
/*
 * modes.cc - what of weft.hpp works without exceptions, in each dialect
 *
 * tests/tools/test_cxx_modes.sh compiles and runs it. Prints "all right".
 */
#include <weft.hpp>

#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

using namespace std::chrono_literals;

namespace {

#define must(condition)							\
	((condition) ? (void)0 :					\
	 must_failed(#condition, __LINE__))

void must_failed(const char *what, int line)
{
	std::fprintf(stderr, "modes.cc:%d: failed: %s\n", line, what);
	std::abort();
}

void pass_messages()
{
	weft::channel<std::unique_ptr<std::string>> channel(1);
	std::error_code error;
	weft::thread sends([&] {
		std::error_code e;

		channel.send(std::make_unique<std::string>("one"), e);
		must(!e);
		channel.close();
		channel.send(std::make_unique<std::string>("two"), e);
		must(e == weft::errc::closed);
	});

	sends.join();
	must(**channel.receive(error) == "one" && !error);
	must(!channel.receive(error) && error == weft::errc::closed);
	must(weft::select(weft::on_receive(channel, [](auto s) { must(!s); }),
			  weft::on_timeout(1h, [] { must(false); })) == 0);
}

void lock_and_meet()
{
	weft::mutex mutex;
	weft::shared_mutex shared;
	weft::condition_variable cond;
	weft::condition_variable_any any;
	weft::counting_semaphore<> sem(0);
	weft::once_flag flag;
	weft::latch latch(2);
	weft::barrier<> barrier(2);
	int step = 0;
	weft::thread other(weft::thread_options{}, [&](int to) {
		{
			std::lock_guard<weft::mutex> lock(mutex);

			step = to;
			cond.notify_all();
		}
		latch.arrive_and_wait();
		barrier.arrive_and_wait();
		weft::call_once(flag, [&] { step++; });
		sem.release();
	}, 1);
	std::unique_lock<weft::mutex> lock(mutex);

	cond.wait(lock, [&] { return step == 1; });
	must(!any.wait_for(lock, 1us, [] { return false; }));
	lock.unlock();
	latch.arrive_and_wait();
	barrier.arrive_and_wait();
	sem.acquire();
	weft::call_once(flag, [&] { step = 100; });
	must(step == 2);

	std::shared_lock<weft::shared_mutex> reader(shared);

	must(!shared.try_lock());
}

void wait_together()
{
	weft::group group;
	std::atomic<int> ran { 0 };

	for (int i = 0; i < 4; i++)
		must(group.spawn([&] { ran++; }));
	group.wait();
	must(ran == 4);
}

} /* namespace */

int main()
{
	weft::runtime runtime(2);
	weft::ticker ticker(1ms);

	pass_messages();
	lock_and_meet();
	wait_together();
	must(ticker.wait() >= 1);
	weft::this_thread::sleep_for(1us);
	std::puts("all right");
}
