/* SPDX-License-Identifier: MIT */
/*
 * main.cc - what weft.hpp costs over the calls of C
 *
 * Both forms of each case run by turns on one VCPU, 41 times. The table has the medians,
 * and the median of the ratios of the pairs.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

#include <weft.hpp>

namespace {

const int PAIRS = 41;

long counted;

void must(bool is_right)
{
	if (!is_right)
		std::abort();
}

void *count_c(void *)
{
	counted++;
	return nullptr;
}

void spawn_c(long n)
{
	std::uint64_t id;

	for (long i = 0; i < n; i++)
		must(weft_spawn(&id, nullptr, count_c, nullptr) == 0 &&
		     weft_join(id, nullptr) == 0);
}

void spawn_cxx(long n)
{
	for (long i = 0; i < n; i++) {
		weft::thread t([] { counted++; });

		t.join();
	}
}

void lock_c(long n)
{
	weft_mutex mutex = WEFT_MUTEX_INIT;

	for (long i = 0; i < n; i++) {
		must(weft_mutex_lock(&mutex) == 0);
		counted++;
		weft_mutex_unlock(&mutex);
	}
}

void lock_cxx(long n)
{
	weft::mutex mutex;

	for (long i = 0; i < n; i++) {
		std::lock_guard<weft::mutex> lock(mutex);

		counted++;
	}
}

struct rally {
	weft_chan *to, *fro;
	long n;
};

void *return_c(void *arg)
{
	rally *r = static_cast<rally *>(arg);
	long ball;

	for (long i = 0; i < r->n; i++)
		must(weft_chan_recv(r->to, &ball, WEFT_FOREVER) == 0 &&
		     weft_chan_send(r->fro, &ball, WEFT_FOREVER) == 0);
	return nullptr;
}

void play_c(long n)
{
	rally r = { nullptr, nullptr, n };
	std::uint64_t id;
	long ball = 0;

	must(weft_chan_create(&r.to, sizeof(ball), 0, 0) == 0 &&
	     weft_chan_create(&r.fro, sizeof(ball), 0, 0) == 0 &&
	     weft_spawn(&id, nullptr, return_c, &r) == 0);
	for (long i = 0; i < n; i++)
		must(weft_chan_send(r.to, &ball, WEFT_FOREVER) == 0 &&
		     weft_chan_recv(r.fro, &ball, WEFT_FOREVER) == 0);
	must(weft_join(id, nullptr) == 0);
	weft_chan_destroy(r.to);
	weft_chan_destroy(r.fro);
}

void play_cxx(long n)
{
	weft::channel<long> to, fro;
	weft::thread returns([&] {
		for (long i = 0; i < n; i++)
			fro.send(*to.receive());
	});

	for (long i = 0; i < n; i++) {
		to.send(0);
		must(*fro.receive() == 0);
	}
	returns.join();
}

/* Nanoseconds for each of n. */
double time_of(void (*run)(long n), long n)
{
	std::int64_t before = weft_clock();

	run(n);
	return static_cast<double>(weft_clock() - before) / static_cast<double>(n);
}

double median(std::vector<double> v)
{
	std::sort(v.begin(), v.end());
	return v[v.size() / 2];
}

} /* namespace */

int main()
{
	const struct {
		const char *name;
		void (*c)(long n), (*cxx)(long n);
		long n;
	} cases[] = {
		{ "spawn + join", spawn_c, spawn_cxx, 20000 },
		{ "lock + unlock", lock_c, lock_cxx, 500000 },
		{ "ping-pong", play_c, play_cxx, 20000 },
	};
	weft::runtime runtime(1);

	std::printf("%-14s %8s %8s %6s\n", "", "C, ns", "C++, ns", "ratio");
	for (auto &c : cases) {
		std::vector<double> in_c, in_cxx, ratio;

		for (int i = 0; i < PAIRS; i++) {
			in_c.push_back(time_of(c.c, c.n));
			in_cxx.push_back(time_of(c.cxx, c.n));
			ratio.push_back(in_cxx.back() / in_c.back());
		}
		std::printf("%-14s %8.1f %8.1f %6.3f\n", c.name, median(in_c),
			    median(in_cxx), median(ratio));
	}
}
