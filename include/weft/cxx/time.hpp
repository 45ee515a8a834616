/* SPDX-License-Identifier: MIT */
/* weft/cxx/time.hpp - std::chrono's durations and times as deadlines; tickers */
#ifndef WEFT_CXX_TIME_HPP
#define WEFT_CXX_TIME_HPP

#include <chrono>
#include <cstdint>

#include <weft/cxx/error.hpp>

namespace weft {

/* The clock of weft's deadlines. It meets the requirements of a TrivialClock. */
struct clock {
	using duration = std::chrono::nanoseconds;
	using rep = duration::rep;
	using period = duration::period;
	using time_point = std::chrono::time_point<clock>;
	static constexpr bool is_steady = true;

	static time_point now() noexcept
	{
		return time_point(duration(weft_clock()));
	}
};

namespace detail {

constexpr std::int64_t latest = WEFT_FOREVER - 1;

/* Nanoseconds, rounded up; a duration that does not fit is the longest. */
template <class Rep, class Period>
std::int64_t nanoseconds_of(const std::chrono::duration<Rep, Period> &d) noexcept
{
	using std::chrono::duration;
	using std::chrono::duration_cast;
	using std::chrono::nanoseconds;

	if (d <= d.zero())
		return 0;
	if (duration<double, std::nano>(d).count() >= 9.2e18)
		return latest;

	nanoseconds ns = duration_cast<nanoseconds>(d);

	return ns < d ? ns.count() + 1 : ns.count();
}

/* A deadline, never WEFT_NO_WAIT and never WEFT_FOREVER. */
template <class Rep, class Period>
std::int64_t deadline_in(const std::chrono::duration<Rep, Period> &d) noexcept
{
	std::int64_t now = weft_clock(), ns = nanoseconds_of(d);

	return ns < latest - now ? now + ns : latest;
}

template <class Rep, class Period>
clock::time_point time_in(const std::chrono::duration<Rep, Period> &d) noexcept
{
	return clock::time_point(clock::duration(deadline_in(d)));
}

template <class Clock, class Duration>
std::int64_t deadline_at(const std::chrono::time_point<Clock, Duration> &t) noexcept
{
	return deadline_in(t - Clock::now());
}

template <class Duration>
std::int64_t deadline_at(const std::chrono::time_point<clock, Duration> &t) noexcept
{
	std::int64_t ns = nanoseconds_of(t.time_since_epoch());

	return ns ? ns : 1;
}

/*
 * Calls wait(deadline) until it returns another error than -ETIMEDOUT, or until t. A
 * clock that is not steady may have been set back meanwhile.
 */
template <class Clock, class Duration, class Wait>
int wait_until(const std::chrono::time_point<Clock, Duration> &t, Wait wait)
{
	for (;;) {
		int error = wait(deadline_at(t));

		if (error != -ETIMEDOUT || Clock::is_steady || Clock::now() >= t)
			return error;
	}
}

} /* namespace detail */

/* Ticks without drift. Belongs to one thread at a time. */
class ticker {
public:
	/* The first tick comes after one period. */
	template <class Rep, class Period>
	explicit ticker(const std::chrono::duration<Rep, Period> &period)
	{
		detail::check(weft_ticker_init(&ticker_, detail::deadline_in(period),
					       detail::nanoseconds_of(period)),
			      "weft::ticker");
	}

	/* Waits for the next tick. Returns how many have come: more than 1 if late. */
	std::int64_t wait()
	{
		std::int64_t ticks = weft_ticker_wait(&ticker_);

		if (ticks < 0)
			detail::fail(static_cast<int>(ticks), "weft::ticker::wait");
		return ticks;
	}

	clock::time_point next() const noexcept
	{
		return clock::time_point(clock::duration(ticker_.next));
	}

private:
	weft_ticker ticker_;
};

} /* namespace weft */

#endif
