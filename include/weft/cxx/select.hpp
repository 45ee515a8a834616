/* SPDX-License-Identifier: MIT */
/*
 * weft/cxx/select.hpp - waits for the first of several operations: weft_alt(3)
 *
 *	weft::select(
 *		weft::on_receive(requests, [&](std::optional<request> r) { ... }),
 *		weft::on_send(replies, reply, [&] { ... }),
 *		weft::on_timeout(100ms, [&] { ... }));
 *
 * One case takes effect, and its function is called. With otherwise() the call does not
 * wait.
 */
#ifndef WEFT_CXX_SELECT_HPP
#define WEFT_CXX_SELECT_HPP

#include <cstddef>
#include <tuple>
#include <utility>

#include <weft/cxx/channel.hpp>
#include <weft/cxx/thread.hpp>

namespace weft {
namespace detail {

/* Each case has: fill(), before the wait; ended(), if it took effect. */

template <class T, class F> struct receive_case {
	weft_chan *chan;
	F f;
	arrival<T> value = {};

	void fill(struct weft_alt &alt) noexcept
	{
		alt.op = WEFT_ALT_RECV;
		alt.chan = chan;
		alt.elem = value.bytes();
	}

	void ended(const struct weft_alt &alt)
	{
		if (alt.error && alt.error != -EPIPE)
			fail(alt.error, "weft::on_receive");
		f(alt.error ? std::optional<T>() : std::optional<T>(value.take()));
	}
};

template <class T, class F> struct send_case {
	weft_chan *chan;
	F f;
	parcel<T> value;

	template <class U>
	send_case(weft_chan *c, F function, U &&sent)
		: chan(c), f(std::move(function)), value(std::forward<U>(sent))
	{
	}

	void fill(struct weft_alt &alt) noexcept
	{
		alt.op = WEFT_ALT_SEND;
		alt.chan = chan;
		alt.elem = const_cast<void *>(value.bytes());
	}

	void ended(const struct weft_alt &alt)
	{
		check(alt.error, "weft::on_send");
		value.sent();
		f();
	}
};

template <class F> struct time_case {
	std::int64_t time;
	F f;

	void fill(struct weft_alt &alt) noexcept
	{
		alt.op = WEFT_ALT_TIME;
		alt.u.time = time;
	}

	void ended(const struct weft_alt &)
	{
		f();
	}
};

template <class F> struct ready_case {
	int fd;
	short events;
	F f;

	void fill(struct weft_alt &alt) noexcept
	{
		alt.op = WEFT_ALT_READY;
		alt.u.ready.fd = fd;
		alt.u.ready.events = events;
	}

	void ended(const struct weft_alt &alt)
	{
		check(alt.error, "weft::on_ready");
		f(alt.u.ready.revents);
	}
};

template <class F> struct otherwise_case {
	F f;

	void fill(struct weft_alt &alt) noexcept
	{
		alt.op = WEFT_ALT_NONE;
	}

	void ended(const struct weft_alt &)
	{
		f();
	}
};

template <class Case> struct is_otherwise : std::false_type {
};

template <class F> struct is_otherwise<otherwise_case<F>> : std::true_type {
};

template <std::size_t... I, class... Cases>
std::size_t select(std::index_sequence<I...>, Cases &...cases)
{
	constexpr std::size_t count = sizeof...(Cases);
	std::size_t other = count;
	struct weft_alt alt[count] = {};

	((cases.fill(alt[I])), ...);
	((other = is_otherwise<Cases>::value ? I : other), ...);

	int n = ::weft_alt(alt, count, other < count ? WEFT_NO_WAIT : WEFT_FOREVER);
	std::size_t chosen;

	if (n == -EAGAIN && other < count)
		chosen = other;
	else
		check(n, "weft::select"), chosen = static_cast<std::size_t>(n);
	((I == chosen ? cases.ended(alt[I]) : void()), ...);
	return chosen;
}

} /* namespace detail */

/* f gets a std::optional<T>: empty if the channel is closed. */
template <class T, class F> auto on_receive(channel<T> &from, F f)
{
	return detail::receive_case<T, F>{ from.native_handle(), std::move(f) };
}

/* Throws closed if it took effect because the channel is closed. */
template <class T, class F>
auto on_send(channel<T> &to, const typename channel<T>::value_type &value, F f)
{
	return detail::send_case<T, F>(to.native_handle(), std::move(f), value);
}

/* If another case takes effect, value has its value again. */
template <class T, class F>
auto on_send(channel<T> &to, typename channel<T>::value_type &&value, F f)
{
	return detail::send_case<T, F>(to.native_handle(), std::move(f),
				       std::move(value));
}

template <class Rep, class Period, class F>
auto on_timeout(const std::chrono::duration<Rep, Period> &d, F f)
{
	return detail::time_case<F>{ detail::deadline_in(d), std::move(f) };
}

template <class Clock, class Duration, class F>
auto on_time(const std::chrono::time_point<Clock, Duration> &t, F f)
{
	return detail::time_case<F>{ detail::deadline_at(t), std::move(f) };
}

/* events and f's argument: POLLIN and so on, of poll(2). */
template <class F> auto on_ready(int fd, short events, F f)
{
	return detail::ready_case<F>{ fd, events, std::move(f) };
}

/* Taken if no other case is possible at once. */
template <class F> auto otherwise(F f)
{
	return detail::otherwise_case<F>{ std::move(f) };
}

/*
 * Returns the number of the case that took effect, from 0. Throws canceled, or what the
 * case's function throws.
 */
template <class... Cases> std::size_t select(Cases &&...cases)
{
	static_assert(sizeof...(Cases) > 0 && sizeof...(Cases) <= WEFT_ALTS_MAX);
	return detail::select(std::index_sequence_for<Cases...>(), cases...);
}

} /* namespace weft */

#endif
