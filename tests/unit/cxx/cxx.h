/* SPDX-License-Identifier: MIT */
/* cxx.h - what the tests of weft.hpp share */
#ifndef WEFT_TESTS_UNIT_CXX_H
#define WEFT_TESTS_UNIT_CXX_H

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft.hpp>

extern "C" {
#include "support.h"
}

using namespace std::chrono_literals;

#define must(condition)							\
	((condition) ? (void)0 :					\
	 must_failed(#condition, __FILE__, __LINE__))

inline void must_failed(const char *what, const char *file, int line)
{
	std::fprintf(stderr, "%s:%d: failed in a thread: %s\n", file, line, what);
	std::abort();
}

/* The code of the std::system_error that f throws; none: 0. */
template <class F> std::error_code thrown_by(F f)
{
	try {
		f();
	} catch (const std::system_error &error) {
		return error.code();
	}
	return std::error_code();
}

/* Until f is true; another thread makes it so. */
template <class F> void await(F f)
{
	while (!f())
		weft::this_thread::yield();
}

#endif
