/* SPDX-License-Identifier: MIT */
/*
 * weft/cxx/channel.hpp - channels of any type that can be moved
 *
 * A value of a trivially copyable type travels as its bytes. Any other value is moved
 * to the heap for its journey. If a send fails, the sender still has its value.
 */
#ifndef WEFT_CXX_CHANNEL_HPP
#define WEFT_CXX_CHANNEL_HPP

#include <cstddef>
#include <exception>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/cxx/error.hpp>
#include <weft/cxx/message.hpp>
#include <weft/cxx/time.hpp>

namespace weft {

/* One sender and one receiver: WEFT_CHAN_ONE_TO_ONE of weft_chan_create(3). */
struct one_to_one_t {
	explicit one_to_one_t() = default;
};

inline constexpr one_to_one_t one_to_one{};

/*
 * A channel with a capacity has a buffer; with capacity 0 sender and receiver meet. The
 * destructor drops what is in the buffer; no thread may wait in the channel then.
 *
 * Each call has two forms. Without an error_code, it throws canceled, or closed if it
 * sends. With one, it throws nothing of weft's: the code is 0, errc::closed, or equal to
 * std::errc::operation_canceled, timed_out or resource_unavailable_try_again.
 */
template <class T> class channel {
	static_assert(std::is_object_v<T> && std::is_same_v<T, std::decay_t<T>>,
		      "a message is an object, neither const nor a reference");
	static_assert(std::is_move_constructible_v<T>, "a message is moved");

public:
	using value_type = T;

	explicit channel(std::size_t capacity = 0) : channel(capacity, 0u)
	{
	}

	channel(std::size_t capacity, one_to_one_t)
		: channel(capacity, WEFT_CHAN_ONE_TO_ONE)
	{
		static_assert(std::is_trivially_copyable_v<T>,
			      "only its receiver could destroy what is left in it");
	}

	channel(channel &&other) noexcept : chan_(std::exchange(other.chan_, nullptr))
	{
	}

	channel &operator=(channel &&other) noexcept
	{
		std::swap(chan_, other.chan_);
		return *this;
	}

	friend void swap(channel &a, channel &b) noexcept
	{
		std::swap(a.chan_, b.chan_);
	}

	~channel()
	{
		detail::arrival<T> left;

		if (!chan_)
			return;
		if constexpr (!std::is_trivially_copyable_v<T>) {
			weft_cancel_hold();
			while (weft_chan_recv(chan_, left.bytes(), WEFT_NO_WAIT) == 0)
				static_cast<void>(left.take());
			weft_cancel_release();
		}
		if (weft_chan_destroy(chan_) != 0)
			std::terminate();	/* threads wait in it */
	}

	/* Waits for room or for a receiver. */
	void send(const T &value)
	{
		send_or_fail(value, WEFT_FOREVER);
	}

	void send(T &&value)
	{
		send_or_fail(std::move(value), WEFT_FOREVER);
	}

	void send(const T &value, std::error_code &error)
	{
		error = detail::code_of(send_by(value, WEFT_FOREVER));
	}

	void send(T &&value, std::error_code &error)
	{
		error = detail::code_of(send_by(std::move(value), WEFT_FOREVER));
	}

	/* False: it was not sent, as there was no room and no receiver in time. */
	bool try_send(const T &value)
	{
		return send_or_fail(value, WEFT_NO_WAIT);
	}

	bool try_send(T &&value)
	{
		return send_or_fail(std::move(value), WEFT_NO_WAIT);
	}

	bool try_send(const T &value, std::error_code &error)
	{
		error = detail::code_of(send_by(value, WEFT_NO_WAIT));
		return !error;
	}

	bool try_send(T &&value, std::error_code &error)
	{
		error = detail::code_of(send_by(std::move(value), WEFT_NO_WAIT));
		return !error;
	}

	template <class U, class Rep, class Period>
	bool send_for(U &&value, const std::chrono::duration<Rep, Period> &d)
	{
		return send_or_fail(std::forward<U>(value), detail::deadline_in(d));
	}

	template <class U, class Clock, class Duration>
	bool send_until(U &&value, const std::chrono::time_point<Clock, Duration> &t)
	{
		return send_or_fail(std::forward<U>(value), detail::deadline_at(t));
	}

	/* Empty: the channel is closed, and all that was sent has been received. */
	std::optional<T> receive()
	{
		return receive_or_fail(WEFT_FOREVER);
	}

	std::optional<T> receive(std::error_code &error)
	{
		return receive_by(WEFT_FOREVER, error);
	}

	/* Empty: nothing came in time, or the channel is closed. */
	std::optional<T> try_receive()
	{
		return receive_or_fail(WEFT_NO_WAIT);
	}

	std::optional<T> try_receive(std::error_code &error)
	{
		return receive_by(WEFT_NO_WAIT, error);
	}

	template <class Rep, class Period>
	std::optional<T> receive_for(const std::chrono::duration<Rep, Period> &d)
	{
		return receive_or_fail(detail::deadline_in(d));
	}

	template <class Rep, class Period>
	std::optional<T> receive_for(const std::chrono::duration<Rep, Period> &d,
				     std::error_code &error)
	{
		return receive_by(detail::deadline_in(d), error);
	}

	template <class Clock, class Duration>
	std::optional<T> receive_until(const std::chrono::time_point<Clock, Duration> &t)
	{
		return receive_or_fail(detail::deadline_at(t));
	}

	template <class Clock, class Duration>
	std::optional<T> receive_until(const std::chrono::time_point<Clock, Duration> &t,
				       std::error_code &error)
	{
		return receive_by(detail::deadline_at(t), error);
	}

	/* False: it was closed before. */
	bool close() noexcept
	{
		return weft_chan_close(chan_) == 0;
	}

	bool is_closed() const noexcept
	{
		return weft_chan_is_closed(chan_) != 0;
	}

	std::size_t size() const noexcept
	{
		return weft_chan_length(chan_);
	}

	std::size_t capacity() const noexcept
	{
		return weft_chan_capacity(chan_);
	}

	weft_chan *native_handle() const noexcept
	{
		return chan_;
	}

	/* for (T &value : channel): until the channel is closed and empty. */
	class iterator {
	public:
		using iterator_category = std::input_iterator_tag;
		using value_type = T;
		using difference_type = std::ptrdiff_t;
		using pointer = T *;
		using reference = T &;

		iterator() noexcept = default;

		explicit iterator(channel &from) : from_(&from), value_(from.receive())
		{
		}

		T &operator*() noexcept
		{
			return *value_;
		}

		T *operator->() noexcept
		{
			return &*value_;
		}

		iterator &operator++()
		{
			std::optional<T> next = from_->receive();

			value_.reset();
			if (next)
				value_.emplace(std::move(*next));
			return *this;
		}

		friend bool operator==(const iterator &a, const iterator &b) noexcept
		{
			return !a.value_ && !b.value_;
		}

		friend bool operator!=(const iterator &a, const iterator &b) noexcept
		{
			return !(a == b);
		}

	private:
		channel *from_ = nullptr;
		std::optional<T> value_;
	};

	iterator begin()
	{
		return iterator(*this);
	}

	iterator end() noexcept
	{
		return iterator();
	}

private:
	channel(std::size_t capacity, unsigned flags)
	{
		detail::check(weft_chan_create(&chan_, detail::parcel<T>::size, capacity,
					       flags),
			      "weft::channel");
	}

	template <class U> int send_by(U &&value, std::int64_t deadline)
	{
		detail::parcel<T> parcel(std::forward<U>(value));
		int error = weft_chan_send(chan_, parcel.bytes(), deadline);

		if (error == 0)
			parcel.sent();
		return error;
	}

	template <class U> bool send_or_fail(U &&value, std::int64_t deadline)
	{
		int error = send_by(std::forward<U>(value), deadline);

		if (error == -EAGAIN || error == -ETIMEDOUT)
			return false;
		detail::check(error, "weft::channel::send");
		return true;
	}

	std::optional<T> receive_by(std::int64_t deadline, std::error_code &error)
	{
		detail::arrival<T> arrival;
		int result = weft_chan_recv(chan_, arrival.bytes(), deadline);

		error = detail::code_of(result);
		if (result != 0)
			return std::nullopt;
		return arrival.take();
	}

	std::optional<T> receive_or_fail(std::int64_t deadline)
	{
		detail::arrival<T> arrival;
		int error = weft_chan_recv(chan_, arrival.bytes(), deadline);

		if (error == 0)
			return arrival.take();
		if (error != -EPIPE && error != -EAGAIN && error != -ETIMEDOUT)
			detail::fail(error, "weft::channel::receive");
		return std::nullopt;
	}

	weft_chan *chan_ = nullptr;
};

} /* namespace weft */

#endif
