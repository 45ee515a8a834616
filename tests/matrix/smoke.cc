// SPDX-License-Identifier: MIT
// smoke.cc - threads, futures and exceptions of C++20, and thread_local destructors
#include <atomic>
#include <condition_variable>
#include <future>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<int> made, gone;

struct Local {
	Local() { made++; }
	~Local() { gone++; }
	int value = 0;
};

thread_local Local local;

int fail_or_not(int i)
{
	local.value = i;
	if (i % 2)
		throw std::runtime_error("odd");
	std::this_thread::yield();
	return local.value;
}

} // namespace

int main()
{
	std::vector<std::future<int>> results;
	int sum = 0, thrown = 0;

	for (int i = 0; i < 100; i++)
		results.push_back(std::async(std::launch::async, fail_or_not, i));
	for (auto &r : results) {
		try {
			sum += r.get();
		} catch (const std::runtime_error &) {
			thrown++;
		}
	}
	results.clear();
	std::cout << "sum " << sum << " thrown " << thrown << '\n';
	std::cout << "made " << made << " gone " << gone << '\n';

	std::mutex m;
	std::condition_variable c;
	std::vector<std::thread> threads;
	int turn = 0;
	for (int i = 0; i < 50; i++)
		threads.emplace_back([&, i] {
			std::unique_lock<std::mutex> l(m);
			c.wait(l, [&] { return turn == i; });
			turn++;
			c.notify_all();
		});
	for (auto &t : threads)
		t.join();
	std::cout << "turns " << turn << '\n';
	return 0;
}
