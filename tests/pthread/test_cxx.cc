/* SPDX-License-Identifier: MIT */
/* test_cxx.cc - C++: exceptions in many threads at once; what is done once */
#include "cxx.h"

#include <exception>
#include <mutex>
#include <signal.h>
#include <stdexcept>
#include <string>

namespace {

/* --- exceptions ---------------------------------------------------- */

/* Others run, and throw, while an exception passes. */
struct passed {
	int &count;

	explicit passed(int &c) : count(c) {}
	~passed()
	{
		move();
		count += std::uncaught_exceptions();
	}
};

void throw_from(int depth, int value, int &count)
{
	passed here(count);

	if (depth == 0)
		throw value;
	throw_from(depth - 1, value, count);
}

/* All are in a handler at the barriers, and in two at the second. */
long throw_and_catch(int me)
{
	long good = 0;

	for (long i = 0; i < scaled(20); i++) {
		const int value = me * 1000 + (int)i + 1;
		int outer = 0, inner = 0;

		try {
			throw_from(5, value, outer);
		} catch (int caught) {
			pthread_barrier_wait(&all_here);
			try {
				throw_from(3, -value, inner);
			} catch (int second) {
				pthread_barrier_wait(&all_here);
				good += second == -value;
			}
			try {
				throw;
			} catch (int again) {
				good += again == value && caught == value;
			}
		}
		good += outer == 6 && inner == 4 &&
			std::uncaught_exceptions() == 0 &&
			!std::current_exception();
	}
	return good;
}

void many_throw_at_once()
{
	printf("%ld of %ld\n", in_threads(throw_and_catch),
	       3 * THREADS * scaled(20));
}

void tell_nested(const std::exception &e)
{
	printf("%s\n", e.what());
	try {
		std::rethrow_if_nested(e);
	} catch (const std::exception &inner) {
		tell_nested(inner);
	}
}

/* Each throws what it was given inside one of its own. */
void exceptions_go_from_thread_to_thread()
{
	auto e = std::make_exception_ptr(std::out_of_range("the first"));

	for (int i = 0; i < THREADS; i++)
		std::thread([&e, i] {
			try {
				try {
					std::rethrow_exception(e);
				} catch (...) {
					std::throw_with_nested(
						std::runtime_error(
						"by " + std::to_string(i)));
				}
			} catch (...) {
				e = std::current_exception();
			}
		}).join();
	try {
		std::rethrow_exception(e);
	} catch (const std::exception &last) {
		tell_nested(last);
	}
}

void one_exception_is_thrown_by_many()
{
	auto e = std::make_exception_ptr(counted(7));
	long sum = in_threads([&](int) {
		try {
			std::rethrow_exception(e);
		} catch (const counted &c) {
			pthread_barrier_wait(&all_here);
			return c.value;
		}
	});

	printf("%ld, there %d\n", sum, counted::there.load());
	e = nullptr;
	printf("there %d\n", counted::there.load());
}

[[noreturn]] void tell_and_abort()
{
	try {
		std::rethrow_exception(std::current_exception());
	} catch (const std::exception &e) {
		printf("nobody catches: %s\n", e.what());
	}
	fflush(stdout);
	abort();
}

void what_nobody_catches_ends_the_process()
{
	end_without_a_core();
	std::set_terminate(tell_and_abort);
	std::thread([] { throw std::logic_error("this"); }).join();
	printf("not this\n");
}

void an_unjoined_thread_ends_the_process()
{
	printf("before\n");
	end_without_a_core();
	{
		std::thread t([] {});
	}
	printf("not this\n");
}

/* --- once ---------------------------------------------------------- */

std::atomic<int> tries { 0 };

int fail_twice()
{
	const int n = ++tries;

	move();
	if (n < 3)
		throw n;
	return n;
}

/* Threads wait while one fails: the next of them tries. */
template <class F> void try_until_done(F once)
{
	std::atomic<int> thrown { 0 };
	long sum = in_threads([&](int) {
		pthread_barrier_wait(&all_here);
		for (;;) {
			try {
				return once();
			} catch (int) {
				thrown++;
			}
		}
	});

	printf("%ld: %d tries, %d thrown\n", sum, tries.load(), thrown.load());
}

void once_is_tried_again_after_an_exception()
{
	static std::once_flag flag;
	static int result;

	try_until_done([] {
		std::call_once(flag, [] { result = fail_twice(); });
		return result;
	});
}

void a_static_object_is_made_once()
{
	try_until_done([] {
		static const int result = fail_twice();

		return result;
	});
}

const struct compare_case cases[] = {
	COMPARE(many_throw_at_once),
	COMPARE(exceptions_go_from_thread_to_thread),
	COMPARE(one_exception_is_thrown_by_many),
	ENDS_BY(SIGABRT, what_nobody_catches_ends_the_process),
	ENDS_BY(SIGABRT, an_unjoined_thread_ends_the_process),
	COMPARE(once_is_tried_again_after_an_exception),
	COMPARE(a_static_object_is_made_once),
};

} /* namespace */

COMPARE_MAIN(cases)
