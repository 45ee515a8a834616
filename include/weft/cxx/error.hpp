/* SPDX-License-Identifier: MIT */
/* weft/cxx/error.hpp - the errors of weft as std::error_code and std::system_error */
#ifndef WEFT_CXX_ERROR_HPP
#define WEFT_CXX_ERROR_HPP

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

/* A struct and a function of one name are no constructor that is hidden. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include <weft.h>
#pragma GCC diagnostic pop

namespace weft {

/* What only weft says. All other codes compare equal to those of std::errc. */
enum class errc {
	closed = EPIPE,		/* the channel is closed */
};

namespace detail {

class weft_category final : public std::error_category {
public:
	const char *name() const noexcept override
	{
		return "weft";
	}

	std::string message(int value) const override
	{
		return weft_strerror(-value);
	}

	std::error_condition default_error_condition(int value) const noexcept override
	{
		if (value == EPIPE)
			return std::error_condition(value, *this);
		return std::error_condition(value, std::generic_category());
	}
};

} /* namespace detail */

inline const std::error_category &category() noexcept
{
	static const detail::weft_category the_one;

	return the_one;
}

inline std::error_code make_error_code(errc e) noexcept
{
	return std::error_code(static_cast<int>(e), category());
}

inline std::error_condition make_error_condition(errc e) noexcept
{
	return std::error_condition(static_cast<int>(e), category());
}

/* The calling thread was asked to end: thread::request_stop(), weft_cancel(). */
class canceled : public std::system_error {
public:
	explicit canceled(const char *what)
		: std::system_error(ECANCELED, category(), what)
	{
	}
};

/* A send on a channel that is closed. */
class closed : public std::system_error {
public:
	explicit closed(const char *what)
		: std::system_error(EPIPE, category(), what)
	{
	}
};

namespace detail {

inline std::error_code code_of(int error) noexcept
{
	return std::error_code(error < 0 ? -error : 0, category());
}

/* Throws what a call has returned: a negative errno value. */
[[noreturn]] inline void fail(int error, const char *what)
{
#if defined(__cpp_exceptions)
	if (error == -ECANCELED)
		throw canceled(what);
	if (error == -EPIPE)
		throw closed(what);
	throw std::system_error(code_of(error), what);
#else
	std::fprintf(stderr, "%s: %s\n", what, code_of(error).message().c_str());
	std::abort();
#endif
}

inline void check(int error, const char *what)
{
	if (__builtin_expect(error < 0, 0))
		fail(error, what);
}

} /* namespace detail */
} /* namespace weft */

template <> struct std::is_error_code_enum<weft::errc> : std::true_type {
};

#endif
