/* SPDX-License-Identifier: MIT */
/*
 * bench-cxx - what weft.hpp costs over the calls of C
 *
 * Each case has two forms, of the same steps: in C, and by weft.hpp. They run by turns,
 * 21 times each.
 */
#include <cstdint>
#include <mutex>

#include <weft.hpp>

extern "C" {
#include "bench.h"
}

namespace {

long counted;

void must(bool is_right)
{
	if (!is_right)
		bench_fail("a call failed");
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

template <void (*run)(long n)>
double time_of(bench_ctx *ctx, std::uint64_t n)
{
	std::int64_t before = bench_now(ctx);

	run(static_cast<long>(n));
	return static_cast<double>(bench_now(ctx) - before);
}

template <void (*run)(long n)> void measure(bench_ctx *ctx)
{
	bench_emit(ctx, "", "ns", bench_measure(ctx, 100, time_of<run>));
}

/* The first thread of the runtime calls all. */
void enter(bench_ctx *ctx, void (*run)(bench_ctx *ctx))
{
	weft::runtime runtime(ctx->vcpus);

	run(ctx);
}

bench_case question(const char *name)
{
	bench_case c = {};

	c.name = name;
	return c;
}

const bench_case cases[] = {
	question("spawn-join"), question("lock"), question("ping-pong"), {},
};

const bench_body c_bodies[] = {
	{ "spawn-join", measure<spawn_c> }, { "lock", measure<lock_c> },
	{ "ping-pong", measure<play_c> }, { nullptr, nullptr },
};

const bench_body cxx_bodies[] = {
	{ "spawn-join", measure<spawn_cxx> }, { "lock", measure<lock_cxx> },
	{ "ping-pong", measure<play_cxx> }, { nullptr, nullptr },
};

const bench_variant c_variant = { "C", 0, enter, c_bodies };
const bench_variant cxx_variant = { "C++", 0, enter, cxx_bodies };
const bench_variant *const variants[] = { &c_variant, &cxx_variant, nullptr };
const unsigned vcpus[] = { 1, 0 };

} /* namespace */

int main(int argc, char **argv)
{
	bench_suite suite = {};

	suite.name = "cxx";
	suite.about = "what weft.hpp costs over the calls of C";
	suite.cases = cases;
	suite.variants = variants;
	suite.vcpus = vcpus;
	suite.target_ms = 100;
	suite.reps = 21;
	suite.base = "C";
	return bench_main(argc, argv, &suite);
}
