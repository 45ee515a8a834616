/* SPDX-License-Identifier: MIT */
/* cxx.h - what the tests in C++ share */
#ifndef WEFT_TESTS_CXX_H
#define WEFT_TESTS_CXX_H

#include "compare.h"

#include <atomic>
#include <chrono>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace {

const int THREADS = 8;

pthread_barrier_t all_here;

/* Each may go on on another kernel thread after this. */
inline void move()
{
	std::this_thread::yield();
	std::this_thread::sleep_for(std::chrono::microseconds(50));
}

/* Runs fn(0) and so on, all at once; returns the sum of what they return. */
template <class F> long in_threads(F fn)
{
	std::vector<std::thread> threads;
	std::atomic<long> sum { 0 };

	pthread_barrier_init(&all_here, nullptr, THREADS);
	for (int i = 0; i < THREADS; i++)
		threads.emplace_back([&, i] { sum += fn(i); });
	for (auto &t : threads)
		t.join();
	return sum;
}

inline void end_without_a_core()
{
	const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	fflush(stdout);
}

/* Counts those that are there. */
struct counted {
	static std::atomic<int> there;
	int value;

	explicit counted(int v) : value(v) { there++; }
	counted(const counted &other) : value(other.value) { there++; }
	~counted() { there--; }
};

std::atomic<int> counted::there { 0 };

} /* namespace */

#endif
